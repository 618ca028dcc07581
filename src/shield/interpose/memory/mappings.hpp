// SPDX-License-Identifier: BSD-3-Clause
// Where in the program's address space views are mapped.
//
// MAPS-1 Looking up takes no lock and may be done in signal handlers, whatever they interrupt;
//    changes are made in a critical section (critical.hpp), so no handler runs in the middle of one
//    in its own thread.
// MAPS-2 The table's answer for an address was true at one moment during the look-up: entries are
//    copied, and copied again if the table has changed meanwhile.
// MAPS-3 A range is in the table before the program is given its address, and leaves it before the
//        address can be another's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace scute::core::interpose {

class guarded_file;

struct mapped_range {
  uintptr_t begin = 0, end = 0;
  guarded_file* file = nullptr;
  uint64_t offset = 0;  // of the file, at begin
  bool stores = false;  // may be stored to: its descriptor can write, whatever the access is now

  bool holds(uintptr_t at) const noexcept { return at >= begin && at < end; }
  uint64_t offset_of(uintptr_t at) const noexcept { return offset + (at - begin); }
};

class mapping_table {
 public:
  static constexpr size_t ranges_max = 4096;

  // The range that holds `at`, or one of no file. A thread that asks again for the same range pays
  // only for a comparison of two words.
  mapped_range find(uintptr_t at) const noexcept;
  // The first one that holds a byte of [begin, end), or one of no file.
  mapped_range first_in(uintptr_t begin, uintptr_t end) const noexcept;
  bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  // Rises with every change.
  uint64_t generation() const noexcept { return sequence_.load(std::memory_order_acquire); }

  // The functions below: in a critical section. Returns false if there is no room.
  bool has_room() const noexcept {
    return count_.load(std::memory_order_relaxed) + 2 <= ranges_max;
  }
  void add(const mapped_range& range) noexcept;
  // Removes the parts of the ranges in [begin, end) from the table. Then calls f(file, change) with
  // the change of the number of the file's ranges.
  template <class F>
  void cut_out(uintptr_t begin, uintptr_t end, F&& f) {
    for (;;) {
      const mapped_range found = first_in(begin, end);
      if (found.file == nullptr) return;
      mapped_range piece = found;
      piece.begin = found.begin > begin ? found.begin : begin;
      piece.end = found.end < end ? found.end : end;
      f(*found.file, take(found, piece));
    }
  }
  // Whether one of its mappings can be stored to.
  bool stores_to(const guarded_file& file) const noexcept {
    bool any = false;
    for_each([&](const mapped_range& r) { any = any || (r.file == &file && r.stores); });
    return any;
  }
  template <class F>
  void for_each(F&& f) const {
    for (size_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) f(load(i));
  }
  // The lowest and highest address; both 0 if there is none.
  uintptr_t lowest() const noexcept;
  uintptr_t highest() const noexcept;

 private:
  struct entry {
    std::atomic<uintptr_t> begin{0}, end{0};
    std::atomic<guarded_file*> file{nullptr};
    std::atomic<uint64_t> offset{0};
    std::atomic<bool> stores{false};
  };
  mapped_range load(size_t i) const noexcept;
  void store(size_t i, const mapped_range& range) noexcept;
  int take(const mapped_range& whole, const mapped_range& piece) noexcept;
  void begin_change() noexcept;
  void end_change() noexcept;

  // Sorted by begin; they do not overlap.
  std::array<entry, ranges_max> entries_{};
  std::atomic<size_t> count_{0};
  std::atomic<uint64_t> sequence_{0};  // odd: in the middle of a change
};

extern mapping_table mappings;

}  // namespace scute::core::interpose
