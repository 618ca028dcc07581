// SPDX-License-Identifier: BSD-3-Clause
#include "model/persistence_model.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/failure.hpp"
#include "base/rounding.hpp"

namespace scute::model {
using namespace core;
namespace {

constexpr uint64_t line_size = 64, word_size = 8;

// Calls fn(offset, n) for the parts of a range that lie in one unit each.
template <typename Fn>
void for_each_unit(uint64_t offset, uint64_t length, uint64_t unit, Fn&& fn) {
  while (length != 0) {
    const uint64_t n = std::min(length, unit - offset % unit);
    fn(offset, n);
    offset += n;
    length -= n;
  }
}

const persistence_model::source nobody{UINT16_MAX, UINT16_MAX};

constexpr bool within_word(uint64_t offset, uint64_t n) noexcept {
  return n <= word_size && offset / word_size == (offset + n - 1) / word_size;
}

}  // namespace

void persistence_model::reset(std::span<const std::byte> from) {
  durable_.assign(from.begin(), from.end());
  pending_.clear();
  data_.clear();
  flushers_.clear();
  atoms_fresh_ = false;
}

// There are many writers over time, but few are between a flush and their fence.
uint64_t persistence_model::flusher_bit(source by) {
  auto at = std::find(flushers_.begin(), flushers_.end(), by);
  if (at == flushers_.end()) at = std::find(flushers_.begin(), flushers_.end(), nobody);
  if (at == flushers_.end()) {
    SCUTE_ASSERT(flushers_.size() < 64);
    at = flushers_.insert(at, by);
  }
  *at = by;
  return uint64_t{1} << (at - flushers_.begin());
}

void persistence_model::add(kind what, uint64_t offset, const std::byte* bytes, size_t n,
                            source by) {
  SCUTE_ASSERT(offset <= durable_.size() && n <= durable_.size() - offset);
  if (n == 0) return;
  pending_.push_back(
      {offset, static_cast<uint32_t>(n), static_cast<uint32_t>(data_.size()), what, by, 0});
  data_.insert(data_.end(), bytes, bytes + n);
  atoms_fresh_ = false;
}

void persistence_model::stream(uint64_t offset, const std::byte* bytes, size_t n, source by) {
  merge_visible();
  add(kind::streamed, offset, bytes, n, by);
}

void persistence_model::store(uint64_t offset, const std::byte* bytes, size_t n) {
  merge_visible();
  for_each_unit(offset, n, line_size, [&](uint64_t at, uint64_t part) {
    // Several words do not become visible all at once, so until the next event they count as found.
    const bool at_once = eadr_ && within_word(at, part);
    add(eadr_ && !at_once ? kind::found : kind::cached, at, bytes + (at - offset), part, 0);
    if (!at_once) return;
    make_durable(pending_.size() - 1);
    pending_.pop_back();
  });
}

// eADR: every store, or found change, was wholly visible before the program continued (MODEL-5).
void persistence_model::merge_visible() {
  if (!eadr_) return;
  for (size_t i = 0; i < pending_.size(); ++i)
    if (pending_[i].what == kind::found) make_durable(i);
  std::erase_if(pending_, [](const pending& p) { return p.what == kind::found; });
  atoms_fresh_ = false;
}

void persistence_model::found(uint64_t offset, const std::byte* bytes, size_t n) {
  for_each_unit(offset, n, line_size, [&](uint64_t at, uint64_t part) {
    add(kind::found, at, bytes + (at - offset), part, 0);
  });
}

void persistence_model::flush(uint64_t offset, size_t n, source by) {
  merge_visible();
  if (n == 0) return;
  const uint64_t begin = round_down(offset, line_size);
  const uint64_t end = round_up(offset + n, line_size);
  const uint64_t bit = flusher_bit(by);
  for (pending& p : pending_)
    if (p.what != kind::streamed && p.offset < end && p.offset + p.length > begin) p.flushed |= bit;
}

// Applies one pending store to the durable image. Earlier pending stores to the same bytes can now
// only bring the same bytes (MODEL-4).
void persistence_model::make_durable(size_t i) {
  const pending& p = pending_[i];
  const std::byte* bytes = data_.data() + p.bytes;
  std::memcpy(durable_.data() + p.offset, bytes, p.length);
  for (size_t k = 0; k < i; ++k) {
    const pending& older = pending_[k];
    const uint64_t begin = std::max(older.offset, p.offset);
    const uint64_t end = std::min(older.offset + older.length, p.offset + p.length);
    if (begin < end)
      std::memcpy(data_.data() + older.bytes + (begin - older.offset), bytes + (begin - p.offset),
                  end - begin);
  }
}

// MODEL-3: nothing completes any more what other threads have done through the same writer.
void persistence_model::forget_others(source by) {
  uint64_t bits = 0;
  for (size_t i = 0; i < flushers_.size(); ++i)
    if (flushers_[i].writer == by.writer && flushers_[i].thread != by.thread) {
      bits |= uint64_t{1} << i;
      flushers_[i] = nobody;
    }
  for (pending& p : pending_) {
    const bool streamed =
        p.what == kind::streamed && p.by.writer == by.writer && p.by.thread != by.thread;
    left_behind_ = left_behind_ || streamed || (p.flushed & bits) != 0;
    p.flushed &= ~bits;
    if (streamed) p.by = nobody;
  }
}

void persistence_model::fence(source by) {
  merge_visible();
  const auto flusher = std::find(flushers_.begin(), flushers_.end(), by);
  const uint64_t bit =
      flusher == flushers_.end() ? 0 : uint64_t{1} << (flusher - flushers_.begin());
  if (bit != 0) *flusher = nobody;
  const auto completed = [&](const pending& p) {
    return p.what == kind::streamed ? p.by == by : (p.flushed & bit) != 0;
  };
  for (size_t i = 0; i < pending_.size(); ++i)
    if (completed(pending_[i])) make_durable(i);
  std::erase_if(pending_, completed);
  forget_others(by);
  if (pending_.empty()) data_.clear();
  atoms_fresh_ = false;
}

void persistence_model::lose_processes() {
  for (pending& p : pending_) {
    if (p.what == kind::streamed) p.what = kind::found;
    p.flushed = 0;
  }
  flushers_.clear();
  atoms_fresh_ = false;
}

const std::vector<persistence_model::atom>& persistence_model::atoms() {
  if (atoms_fresh_) return atoms_;
  atoms_.clear();
  for (uint32_t store = 0; store < pending_.size(); ++store) {
    const pending& p = pending_[store];
    const std::byte* bytes = data_.data() + p.bytes;
    const auto changes = [&](uint64_t at, uint64_t n) {
      // An older pending store to the same bytes makes even an unchanged value matter.
      if (std::memcmp(durable_.data() + at, bytes + (at - p.offset), n) != 0) return true;
      return std::any_of(pending_.begin(), pending_.begin() + store, [&](const pending& older) {
        return older.offset < at + n && at < older.offset + older.length;
      });
    };
    const uint32_t line =
        p.what == kind::cached ? static_cast<uint32_t>(p.offset / line_size) + 1 : 0;
    for_each_unit(p.offset, p.length, word_size, [&](uint64_t at, uint64_t n) {
      if (changes(at, n))
        atoms_.push_back({at, static_cast<uint32_t>(n), store, line, bytes + (at - p.offset)});
    });
  }
  atoms_fresh_ = true;
  return atoms_;
}

void persistence_model::close_down(choice& c) const {
  for (size_t i = 0; i < atoms_.size(); ++i) {
    if (atoms_[i].line == 0 || c[i]) continue;
    for (size_t k = i + 1; k < atoms_.size(); ++k)
      if (atoms_[k].line == atoms_[i].line && atoms_[k].store != atoms_[i].store) c[k] = false;
  }
}

void persistence_model::close_up(choice& c) const {
  for (size_t i = 0; i < atoms_.size(); ++i) {
    if (atoms_[i].line == 0 || !c[i]) continue;
    for (size_t k = 0; k < i; ++k)
      if (atoms_[k].line == atoms_[i].line && atoms_[k].store != atoms_[i].store) c[k] = true;
  }
}

void persistence_model::apply(const choice& c, std::span<std::byte> to) const {
  for (size_t i = 0; i < atoms_.size(); ++i)
    if (c[i]) std::memcpy(to.data() + atoms_[i].offset, atoms_[i].bytes, atoms_[i].length);
}

}  // namespace scute::model
