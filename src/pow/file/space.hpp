// SPDX-License-Identifier: BSD-3-Clause
// Which segments exist, and their use. Taking and returning one is rare (once per segment that is
// filled), so one lock is enough. Free segments are durably void.
//
// Some are reserved, so that a full file can shrink (POW-4): a section that only erases must leave
// two, the cleaner one, and recovery none. Copying the live bytes of one segment never needs more
// than one other, and frees the first. A section that does not only erase leaves one more for each
// lane, since each lane erases in a segment of its own; up to a sixteenth of all.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "base/locks/waiting.hpp"
#include "core/log/segment.hpp"
#include "pow/file/format.hpp"

namespace scute::core::pow {

enum class use : uint8_t { free, open, full, victim, seal };
enum class need : uint32_t {
  ordinary = 3,
  erasing = 2,
  cleaning = 1,
  recovery = 0
};  // how many segments must stay free, at least

struct segment_note {
  std::atomic<int64_t> live{0};  // bytes of records that count, heads included
  std::atomic<int64_t> packing{
      0};  // of the cleaner's segments: other bytes that the next copy would need again
  std::atomic<use> what{use::free};
  std::atomic<bool> pinned{false};    // has parts of an unfinished batch
  std::atomic<bool> damaged{false};   // a record that counts was not found in it: it stays as it is
  std::atomic<bool> repaired{false};  // some of it was wrong, or could not be read, at the opening
  std::atomic<uint32_t> seal{0xffffffffU};  // that of its group
  std::atomic<bool> loose{
      false};  // its group has ended, and the cleaner may take it next; with the clean_lock
  std::atomic<uint64_t> unsealed_since{0};  // turn in which it became full, or left a group
  uint32_t lane = 0;
  uint64_t session = 0, generation = 0;
  // A segment that must be void before this one: a batch continues from there into this one.
  std::atomic<uint32_t> after{0xffffffffU};
};

class space {
 public:
  // size, protect: of the file; count: segments there are; most: up to which it may grow.
  space(const log::segment_layout& layout, uint64_t segment_size, uint64_t count, uint64_t most);

  const log::segment_layout& layout() const noexcept { return layout_; }
  uint64_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  uint64_t most() const noexcept { return most_; }
  uint64_t free_count() const noexcept { return free_now_.load(std::memory_order_relaxed); }
  segment_note& note(uint32_t s) noexcept { return notes_.get()[s]; }
  log::segment place(uint32_t s) const noexcept { return {{first_segment + s * size_, 0}}; }
  uint64_t segment_size() const noexcept { return size_; }

  // A free segment, now open; false if fewer than stays(kept) would stay.
  bool take(need kept, uint32_t& s) SCUTE_EXCLUDES(lock_);
  uint64_t stays(need kept) const noexcept;
  // Another lane takes segments, besides the cleaner's.
  void add_lane() noexcept { lanes_.fetch_add(1, std::memory_order_relaxed); }
  // Returns a segment that is durably void.
  void give(uint32_t s) SCUTE_EXCLUDES(lock_);
  // Sets the number of segments, which has grown.
  void grown_to(uint64_t count) SCUTE_EXCLUDES(lock_);

  // Counts segments that are full and in no group, perhaps too many but never too few (POW-24).
  // Adds this one.
  void add_unsealed(uint32_t s) noexcept {
    note(s).unsealed_since.store(turn_.fetch_add(1, std::memory_order_relaxed) + 1,
                                 std::memory_order_relaxed);
    unsealed_.fetch_add(1, std::memory_order_relaxed);
  }
  void clear_unsealed() noexcept { unsealed_.store(0, std::memory_order_relaxed); }
  void count_unsealed(uint32_t n) noexcept { unsealed_.fetch_add(n, std::memory_order_relaxed); }
  uint32_t unsealed() const noexcept { return unsealed_.load(std::memory_order_relaxed); }

  // Makes take() prefer the lowest free segment, until another one is returned. Returns it, or
  // count() if none is free.
  uint64_t prefer_low() SCUTE_EXCLUDES(lock_);
  // Removes the segments from there on, if all of them are free and no thread takes one meanwhile.
  bool cut_to(uint64_t count) SCUTE_EXCLUDES(lock_);

  // Bytes of records that count, and bytes of segments that are open or full.
  uint64_t live_bytes() const noexcept;
  uint64_t used_bytes() const noexcept;

 private:
  log::segment_layout layout_;
  uint64_t size_, most_;
  struct given_back {
    void operator()(void* p) const noexcept { std::free(p); }
  };
  void make_notes(uint64_t from, uint64_t to) noexcept;
  // Room for the most segments there may be; the system maps it when it is used.
  std::unique_ptr<segment_note, given_back> notes_;
  std::atomic<uint64_t> count_, free_now_{0};
  std::atomic<uint32_t> unsealed_{0}, lanes_{0};
  std::atomic<uint64_t> turn_{0};
  waiting_mutex lock_;
  std::vector<uint32_t> free_ SCUTE_GUARDED_BY(lock_);
};

}  // namespace scute::core::pow
