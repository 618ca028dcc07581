// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/pool/event_log.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <new>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "base/process/uncancelled.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/shared/state.hpp"

namespace scute::core::pool {
namespace {

constexpr unsigned batch = 16;  // merged events under way at a time; fewer than the ring has lines
static_assert(batch <= format::event_count);

// An address that identifies this thread and no other.
const void* this_notifier() noexcept {
  return static_cast<const void*>(&this_thread_block);
}

uint64_t now_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t distance(uint64_t a, uint64_t b) noexcept {
  return a < b ? b - a : a - b;
}

bool alike(const scute_event& a, const scute_event& b, uint64_t row_size) noexcept {
  return a.kind == b.kind && a.outcome == b.outcome && a.finder == b.finder &&
         distance(a.time_ns, b.time_ns) < 1'000'000'000 && distance(a.offset, b.offset) <= row_size;
}

void merge(scute_event& into, const scute_event& e) noexcept {
  const uint64_t end = std::max(into.offset + into.length, e.offset + e.length);
  if (e.offset < into.offset) {
    into.offset = e.offset;
    if (e.object != 0) into.object = e.object;
  }
  if (into.object == 0) into.object = e.object;
  into.length = end - into.offset;
  into.count += e.count;
}

uint64_t line_offset(const state& s, unsigned copy, uint64_t sequence) noexcept {
  return s.geo.superblock_offset(copy) + format::events_offset +
         sequence % format::event_count * sizeof(format::event_record);
}

// The newest sound copy of a line, or zeros. A crash may leave the copies different, or torn
// (EVENT-3).
format::event_record read_line(const state& s, uint64_t line) noexcept {
  format::event_record best{};
  for (unsigned copy = 0; copy < 3; ++copy) {
    format::event_record r;
    std::memcpy(&r, s.at(line_offset(s, copy, line)), sizeof r);
    if (r.sequence > best.sequence && r.sequence % format::event_count == line &&
        r.checksum == event_checksum(s.salt, r))
      best = r;
  }
  return best;
}

}  // namespace

uint32_t event_checksum(uint64_t salt, const format::event_record& r) noexcept {
  return codec::crc32c(codec::crc32c(0, &salt, sizeof salt), &r,
                       offsetof(format::event_record, checksum));
}

std::vector<format::event_record> read_event_ring(const state& s) {
  std::vector<format::event_record> all;
  for (uint64_t line = 0; line < format::event_count; ++line) {
    const format::event_record r = read_line(s, line);
    if (r.sequence != 0) all.push_back(r);
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  return all;
}

event_log::event_log() : cells_(static_cast<cell*>(std::calloc(queue_size, sizeof(cell)))) {
  if (cells_ == nullptr) throw std::bad_alloc();
}

void event_log::post(const event& e) noexcept {
  const uint64_t now = now_ns();
  uint64_t ticket = tail_.load(std::memory_order_relaxed);
  for (;;) {
    cell& c = cells_[ticket % queue_size];
    const uint64_t lap = ticket / queue_size;
    const uint64_t sequence = c.sequence.load(std::memory_order_acquire);
    if (sequence < lap * 2) {  // still has an event of the previous lap
      dropped_.fetch_add(1);
      break;
    }
    if (sequence > lap * 2) {
      ticket = tail_.load(std::memory_order_relaxed);
      continue;
    }
    if (!tail_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) continue;
    c.time_ns = now;
    c.offset = e.offset;
    c.length = e.length;
    c.object = e.object;
    c.kind = static_cast<uint8_t>(e.kind);
    c.outcome = static_cast<uint8_t>(e.outcome);
    c.finder = static_cast<uint8_t>(e.finder != 0 ? e.finder : finding_as());
    c.sequence.store(lap * 2 + 1, std::memory_order_release);
    break;
  }
  pending_.store(true);
}

// A cell whose poster has not finished holds back those after it; its poster raises pending_
// again.
bool event_log::take(scute_event& e) noexcept {
  cell& c = cells_[head_ % queue_size];
  const uint64_t lap = head_ / queue_size;
  if (c.sequence.load(std::memory_order_acquire) != lap * 2 + 1) return false;
  e = {};
  e.time_ns = c.time_ns;
  e.kind = static_cast<scute_event_kind>(c.kind);
  e.outcome = static_cast<scute_outcome>(c.outcome);
  e.finder = static_cast<scute_finder>(c.finder);
  e.count = 1;
  e.offset = c.offset;
  e.length = c.length;
  e.object = c.object;
  c.sequence.store((lap + 1) * 2, std::memory_order_release);
  ++head_;
  return true;
}

void event_log::notify_all(state& s) {
  // A reporting thread checks for events again after it has released the role, so none is left
  // over.
  while (pending_.load()) {
    const uncancelled now;  // the program's callback may make any system call
    const void* nobody = nullptr;
    if (!notifier_.compare_exchange_strong(nobody, this_notifier())) return;
    notify(s);
    notifier_.store(nullptr);
  }
}

std::vector<scute_event> event_log::read(state& s) {
  unsigned spins = 0;
  for (const void* notifier = nullptr; !notifier_.compare_exchange_weak(notifier, this_notifier());
       notifier = nullptr) {
    if (notifier == this_notifier())
      throw failure(SCUTE_E_INVALID, "the callback for events must not call into the pool");
    spin_pause(spins);
  }
  std::vector<scute_event> all;
  try {
    if (pending_.load()) notify(s);
    for (const format::event_record& r : read_event_ring(s)) {
      scute_event e{};
      e.sequence = r.sequence;
      e.time_ns = r.time_ns;
      e.kind = static_cast<scute_event_kind>(r.kind);
      e.outcome = static_cast<scute_outcome>(r.outcome);
      e.finder = static_cast<scute_finder>(r.finder);
      e.count = r.count;
      e.offset = r.offset;
      e.length = r.length;
      e.object = r.object;
      e.epoch = r.epoch;
      e.dropped = r.dropped;
      all.push_back(e);
    }
  } catch (...) {
    notifier_.store(nullptr);
    throw;
  }
  notifier_.store(nullptr);
  notify_all(s);
  return all;
}

void event_log::notify(state& s) {
  pending_.store(false);
  scute_event waiting[batch];
  unsigned n = 0;
  for (scute_event e; take(e);) {
    unsigned i = 0;
    while (i < n && !alike(waiting[i], e, s.geo.row_size)) ++i;
    if (i < n) {
      merge(waiting[i], e);
      continue;
    }
    if (n == batch) {
      emit(s, waiting, n);
      n = 0;
    }
    waiting[n++] = e;
  }
  if (n == 0) return;
  waiting[n - 1].dropped = dropped_.exchange(0);
  emit(s, waiting, n);
}

void event_log::emit(state& s, scute_event* events, unsigned n) {
  if (sequence_ == 0)
    for (uint64_t line = 0; line < format::event_count; ++line)
      sequence_ = std::max(sequence_, read_line(s, line).sequence);
  for (unsigned i = 0; i < n; ++i) {
    events[i].sequence = ++sequence_;
    events[i].epoch = s.sb.epoch;
  }
  write(s, events, n);
  for (unsigned i = 0; fn_ != nullptr && i < n; ++i) fn_(arg_, &events[i]);
}

void event_log::write(state& s, const scute_event* events, unsigned n) {
  if (s.read_only || s.medium->failed()) return;
  const locked hold(s.service_mutex);
  for (unsigned i = 0; i < n; ++i) {
    const scute_event& e = events[i];
    format::event_record r{};
    r.sequence = e.sequence;
    r.time_ns = e.time_ns;
    r.offset = e.offset;
    r.length = e.length;
    r.object = e.object;
    r.epoch = e.epoch;
    r.count = e.count;
    r.kind = static_cast<uint8_t>(e.kind);
    r.outcome = static_cast<uint8_t>(e.outcome);
    r.finder = static_cast<uint8_t>(e.finder);
    r.dropped = static_cast<uint32_t>(std::min<uint64_t>(e.dropped, UINT32_MAX));
    r.checksum = event_checksum(s.salt, r);
    for (unsigned copy = 0; copy < 3; ++copy)
      s.service->stream(s.at(line_offset(s, copy, r.sequence)), &r, sizeof r,
                        medium::purpose::metadata);
  }
  s.service->fence(fence_site::event);
}

}  // namespace scute::core::pool
