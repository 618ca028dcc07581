// SPDX-License-Identifier: BSD-3-Clause
// Ranges whose parity encodes other bytes than the medium holds: chunks lent to a log (parity has
// zeros for them) and in-place ranges of open transactions (parity has the old bytes, which are in
// DRAM). A thread that decodes a column reads these cells through the overlay.
//
// Opens and commits ask whether another thread has an object open in place. If none has, counters
// answer without a lock. (One lock for all threads would be a large part of a short commit.)
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "base/locks/spin_lock.hpp"

namespace scute::core::pool {

class overlays {
 private:
  struct range {
    uint64_t offset, length;
    const std::byte* bytes;
    const std::byte* now;
    bool stores_lost;
    uint32_t lane;
  };
  using list = std::vector<range>;

  // The common part of a range and [offset, offset + length).
  struct part {
    uint64_t at, inside, length;  // `at` counts from offset, `inside` from the range's begin
  };
  static part common(const range& r, uint64_t offset, uint64_t length) noexcept {
    const uint64_t begin = std::max(offset, r.offset);
    const uint64_t end = std::min(offset + length, r.offset + r.length);
    return {begin - offset, begin - r.offset, end - begin};
  }

  // The first range that begins after `offset`.
  template <typename List>
  static auto after(List& ranges, uint64_t offset) noexcept {
    return std::upper_bound(ranges.begin(), ranges.end(), offset,
                            [](uint64_t x, const range& r) { return x < r.offset; });
  }
  template <typename List>
  static auto find_first(List& ranges, uint64_t offset, uint64_t length) noexcept {
    auto it = after(ranges, offset);
    if (it != ranges.begin()) {
      const auto before = std::prev(it);
      if (before->offset + before->length > offset) return before;
    }
    return it != ranges.end() && it->offset < offset + length ? it : ranges.end();
  }

 public:
  static constexpr uint32_t no_lane = UINT32_MAX;

  // bytes null: zeros. The bytes stay valid until remove(). Ranges never overlap. lane: the owner
  // of the in-place range.
  void add(uint64_t offset, uint64_t length, const std::byte* bytes, uint32_t lane = no_lane) {
    const locked turn(lock_);
    SCUTE_ASSERT(find_first(ranges_, offset, length) == ranges_.end());
    ranges_.insert(after(ranges_, offset), range{offset, length, bytes, nullptr, false, lane});
    any_.store(true, std::memory_order_release);
    if (lane == no_lane) return count_lent(offset, length, 1);
    count_open(offset, length, 1);
    revise(offset, length);
  }
  // Changes whenever a part of these pages was opened or closed in place. A thread that reads bytes
  // between two equal numbers, and then applies substitute(), has no byte of an undecided
  // transaction (core/tx/conflict.hpp, CONFLICT-2). In large pools some pages share a counter, so
  // it may change without reason.
  uint64_t revision(uint64_t offset, uint64_t length) const noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // earlier reads stay before
    uint64_t sum = 0;
    for (uint64_t at = offset / page; at <= (offset + length - 1) / page; ++at)
      sum += pages_[at % counters].revision.load(std::memory_order_acquire);
    return sum;
  }
  void remove(uint64_t offset) noexcept {
    const locked turn(lock_);
    const auto it = at(offset);
    if (it == ranges_.end()) return;
    if (it->lane != no_lane) {
      revise(offset, it->length);
      count_open(offset, it->length, -1);
    } else {
      count_lent(offset, it->length, -1);
    }
    ranges_.erase(it);
    any_.store(!ranges_.empty(), std::memory_order_release);
  }
  bool touches(uint64_t offset, uint64_t length) const noexcept {
    if (!may_be_open(offset, length) && !may_be_lent(offset, length)) return false;
    const locked turn(lock_);
    return first_in(offset, length) != ranges_.end();
  }
  // Whether all of it is lent to a log, and counts as zeros. Async-signal-safe.
  bool lent(uint64_t offset, uint64_t length) const noexcept {
    if (!any_.load(std::memory_order_acquire)) return false;
    const locked turn(lock_);
    const auto it = first_in(offset, length);
    return it != ranges_.end() && it->bytes == nullptr && it->lane == no_lane &&
           it->offset <= offset && offset + length <= it->offset + it->length;
  }
  // Whether a part of it is lent to a log.
  bool touches_lent(uint64_t offset, uint64_t length) const noexcept {
    if (!may_be_lent(offset, length)) return false;
    const locked turn(lock_);
    for (auto it = first_in(offset, length); it != ranges_.end() && it->offset < offset + length;
         ++it)
      if (it->lane == no_lane) return true;
    return false;
  }
  // Whether another lane has a part of it open in place.
  bool open_elsewhere(uint64_t offset, uint64_t length, uint32_t lane) const noexcept {
    if (!may_be_open(offset, length)) return false;
    const locked turn(lock_);
    for (auto it = first_in(offset, length); it != ranges_.end() && it->offset < offset + length;
         ++it)
      if (it->lane != lane && it->lane != no_lane) return true;
    return false;
  }
  // Whether the lane has this byte open in place.
  bool open_by(uint64_t offset, uint32_t lane) const noexcept {
    if (!may_be_open(offset, 1)) return false;
    const locked turn(lock_);
    const auto it = first_in(offset, 1);
    return it != ranges_.end() && it->lane == lane;
  }
  // Calls fn(offset, length) for the parts of these bytes that are open in place. fn must not touch
  // the medium.
  template <typename Fn>
  void for_each_in_place(uint64_t offset, uint64_t length, Fn&& fn) const {
    if (!may_be_open(offset, length)) return;
    const locked turn(lock_);
    for (auto it = first_in(offset, length); it != ranges_.end() && it->offset < offset + length;
         ++it) {
      if (it->lane == no_lane) continue;
      const part p = common(*it, offset, length);
      fn(offset + p.at, p.length);
    }
  }
  // Replaces the overlaid bytes in buffer, which has the medium's bytes of [offset, offset+length).
  void substitute(uint64_t offset, std::byte* buffer, uint64_t length) const noexcept {
    const locked turn(lock_);
    for (auto it = first_in(offset, length); it != ranges_.end() && it->offset < offset + length;
         ++it) {
      const part p = common(*it, offset, length);
      if (it->bytes == nullptr)
        std::memset(buffer + p.at, 0, p.length);
      else
        std::memcpy(buffer + p.at, it->bytes + p.inside, p.length);
    }
  }
  // Calls fn(offset, length) for the parts that are not overlaid. It holds no lock then, since an
  // access to the medium can fault (see core/shared/parity/in_flight_write.hpp).
  template <typename Fn>
  void for_each_gap(uint64_t offset, uint64_t length, Fn&& fn) const noexcept {
    const uint64_t end = offset + length;
    for (uint64_t from = offset; from < end;) {
      uint64_t begin = end, next = end;
      if (any_.load(std::memory_order_acquire)) {
        const locked turn(lock_);
        const auto it = first_in(from, end - from);
        if (it != ranges_.end()) {
          begin = std::max(from, it->offset);
          next = std::min(end, it->offset + it->length);
        }
      }
      if (begin > from) fn(from, begin - from);
      from = next;
    }
  }

  // ---- in-place ranges and lost pages ----

  // Keeps `now`, a copy in DRAM of the present bytes of the range that begins at offset, valid
  // until remove(). Returns false if its stores are lost: see renew().
  bool keep(uint64_t offset, const std::byte* now) noexcept {
    const locked turn(lock_);
    const auto it = at(offset);
    if (it == ranges_.end() || it->stores_lost) return false;
    it->now = now;
    return true;
  }
  // buffer is a rebuilt page: inserts the bytes that keep() has for it. Where nothing was kept, the
  // stores of a running transaction are lost, and its commit finds out.
  void renew(uint64_t offset, std::byte* buffer, uint64_t length) noexcept {
    if (!any_.load(std::memory_order_acquire)) return;
    const locked turn(lock_);
    for (auto it = first_in(offset, length); it != ranges_.end() && it->offset < offset + length;
         ++it) {
      const part p = common(*it, offset, length);
      if (it->now != nullptr)
        std::memcpy(buffer + p.at, it->now + p.inside, p.length);
      else if (it->bytes != nullptr)
        it->stores_lost = true;
    }
  }

 private:
  // The one that begins there.
  list::iterator at(uint64_t offset) noexcept SCUTE_REQUIRES(lock_) {
    const auto it = after(ranges_, offset);
    if (it == ranges_.begin() || std::prev(it)->offset != offset) return ranges_.end();
    return std::prev(it);
  }

  void revise(uint64_t offset, uint64_t length) noexcept SCUTE_REQUIRES(lock_) {
    for (uint64_t at = offset / page; at <= (offset + length - 1) / page; ++at)
      pages_[at % counters].revision.fetch_add(1, std::memory_order_release);
  }
  // Only the holder of the lock counts.
  static void count_one(std::atomic<uint32_t>& all, int by) noexcept {
    all.store(all.load(std::memory_order_relaxed) + static_cast<uint32_t>(by),
              std::memory_order_release);
  }
  // The number of all ranges, which is asked first, is not 0 while one of the counters is not.
  void count_open(uint64_t offset, uint64_t length, int by) noexcept SCUTE_REQUIRES(lock_) {
    if (by > 0) count_one(all_open_, 1);
    for (uint64_t at = offset / page; at <= (offset + length - 1) / page; ++at)
      pages_[at % counters].open.fetch_add(static_cast<uint32_t>(by), std::memory_order_release);
    if (by < 0) count_one(all_open_, -1);
  }
  void count_lent(uint64_t offset, uint64_t length, int by) noexcept SCUTE_REQUIRES(lock_) {
    if (by > 0) count_one(all_lent_, 1);
    for (uint64_t at = offset / span; at <= (offset + length - 1) / span; ++at)
      lent_[at % lent_counters].fetch_add(static_cast<uint32_t>(by), std::memory_order_release);
    if (by < 0) count_one(all_lent_, -1);
  }
  // Returns false if none of it is open in place or lent. (True may be wrong, as pages share
  // counters.)
  bool may_be_open(uint64_t offset, uint64_t length) const noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // earlier reads stay before
    if (all_open_.load(std::memory_order_acquire) == 0) return false;
    for (uint64_t at = offset / page; at <= (offset + length - 1) / page; ++at)
      if (pages_[at % counters].open.load(std::memory_order_acquire) != 0) return true;
    return false;
  }
  bool may_be_lent(uint64_t offset, uint64_t length) const noexcept {
    if (all_lent_.load(std::memory_order_acquire) == 0) return false;
    for (uint64_t at = offset / span; at <= (offset + length - 1) / span; ++at)
      if (lent_[at % lent_counters].load(std::memory_order_acquire) != 0) return true;
    return false;
  }
  list::const_iterator first_in(uint64_t offset, uint64_t length) const noexcept
      SCUTE_REQUIRES(lock_) {
    return find_first(ranges_, offset, length);
  }
  list::iterator first_in(uint64_t offset, uint64_t length) noexcept SCUTE_REQUIRES(lock_) {
    return find_first(ranges_, offset, length);
  }
  // A signal handler may wait for it: no holder touches the medium.
  mutable spin_lock lock_;
  std::atomic<bool> any_{false};
  static constexpr uint64_t page = 4096, counters = 512;
  struct counts {
    std::atomic<uint64_t> revision{0};
    std::atomic<uint32_t> open{0};  // ranges
  };
  std::array<counts, counters> pages_{};
  static constexpr uint64_t span = 64 * 1024, lent_counters = 4096;
  std::array<std::atomic<uint32_t>, lent_counters> lent_{};
  std::atomic<uint32_t> all_open_{0}, all_lent_{0};  // ranges
  list ranges_ SCUTE_GUARDED_BY(lock_);
};

}  // namespace scute::core::pool
