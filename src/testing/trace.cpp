// SPDX-License-Identifier: BSD-3-Clause
#include "testing/trace.hpp"

#include <algorithm>
#include <cstring>

#include "base/rounding.hpp"

namespace scute::testing {
using namespace core;
namespace {

constexpr unsigned damage_writer = UINT16_MAX - 1;  // no thread has this number

}  // namespace

void trace::replay(const event& e, model::persistence_model& m) const {
  const std::byte* bytes = data.data() + e.bytes;
  const model::persistence_model::source by{e.writer, e.actor};
  switch (e.what) {
    case event_kind::streamed: m.stream(e.offset, bytes, e.length, by); break;
    case event_kind::stored: m.store(e.offset, bytes, e.length); break;
    case event_kind::found: m.found(e.offset, bytes, e.length); break;
    case event_kind::flushed: m.flush(e.offset, e.length, by); break;
    case event_kind::fenced: m.fence(by); break;
    case event_kind::damaged:
      m.stream(e.offset, bytes, e.length, damage_writer);
      m.fence(damage_writer);
      break;
    case event_kind::begun:
    case event_kind::ended: break;
  }
}

recorder::recorder(model::simulated_memory& m) : memory_(m) {
  const auto now = m.bytes();
  result.base.assign(now.begin(), now.end());
  seen_ = result.base;
}

void recorder::before(uint64_t offset, size_t n) {
  // A fence is the operation that concerns no bytes.
  if (turn.call != nullptr) turn.call(turn.arg, n == 0);
  // Where caches are durable, a store counts from the moment it was made. Elsewhere it is enough to
  // see it before it is overwritten: it may have been evicted, as when an abort restores old bytes.
  if (memory_.eadr())
    compare();
  else if (n != 0)
    compare_lines(offset, n);
}

void recorder::add(event_kind what, uint64_t offset, size_t n, unsigned writer) {
  event e{};
  e.what = what;
  e.actor = static_cast<uint8_t>(actor);
  e.writer = static_cast<uint16_t>(writer);
  e.offset = offset;
  e.length = static_cast<uint32_t>(n);
  e.bytes = static_cast<uint32_t>(result.data.size());
  if (what <= event_kind::found || what == event_kind::damaged) {
    const std::byte* at = memory_.bytes().data() + offset;
    result.data.insert(result.data.end(), at, at + n);
    std::memcpy(seen_.data() + offset, at, n);
  }
  result.events.push_back(e);
}

// Changed words of the lines that the range touches, as found stores.
void recorder::compare_lines(uint64_t offset, size_t n) {
  if (memory_.is_protected(offset)) return;  // no thread can have stored there
  const uint64_t begin = round_down(offset, 64), end = round_up(offset + n, 64);
  const std::byte* now = memory_.bytes().data();
  for (uint64_t at = begin; at < end; at += 8) {
    if (std::memcmp(now + at, seen_.data() + at, 8) == 0) continue;
    uint64_t stop = at + 8;
    while (stop < end && std::memcmp(now + stop, seen_.data() + stop, 8) != 0) stop += 8;
    add(event_kind::found, at, stop - at, 0);
    at = stop - 8;
  }
}

void recorder::compare() {
  const std::byte* now = memory_.bytes().data();
  for (uint64_t at = 0; at < seen_.size(); at += model::simulated_memory::page)
    if (!memory_.is_protected(at) &&
        std::memcmp(now + at, seen_.data() + at, model::simulated_memory::page) != 0)
      compare_lines(at, model::simulated_memory::page);
}

void recorder::streamed(uint64_t offset, size_t n, unsigned writer) {
  add(event_kind::streamed, offset, n, writer);
}
void recorder::stored(uint64_t offset, size_t n) {
  add(event_kind::stored, offset, n, 0);
}
void recorder::flushed(uint64_t offset, size_t n, unsigned writer) {
  add(event_kind::flushed, offset, n, writer);
}
void recorder::fenced(unsigned writer) {
  compare();
  add(event_kind::fenced, 0, 0, writer);
}
void recorder::mark(event_kind what, uint64_t step) {
  compare();
  add(what, step, 0, 0);
}
void recorder::damaged(uint64_t offset, size_t n) {
  add(event_kind::damaged, offset, n, 0);
}
void recorder::damage(uint64_t offset, const std::byte* bytes, size_t n) {
  compare();
  std::memcpy(memory_.bytes().data() + offset, bytes, n);
  add(event_kind::damaged, offset, n, 0);
}

}  // namespace scute::testing
