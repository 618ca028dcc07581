// SPDX-License-Identifier: BSD-3-Clause
// Lines that libpmemobj keeps in a pool only for one run of a program: it stores to them, never
// flushes them, and makes them again at every opening. (As in libpmemobj 1.x.)
//
//   second page        addresses and locks of the open pool, from 0x1a00 on
//   chunk headers      the last chunk of a free run of chunks has the run's length ("footer")
//   free chunks        the first bytes of a free run of chunks say where it is, with an address
//                      inside of libpmemobj
//   free blocks        of chunks that are divided: bytes that belong to no object, such as the log
//                      of a transaction that is over
//   logs               of the lanes, and those that large transactions have added to them: their
//                      heads count how often they were used
//
// RUNTIME-1 A line counts as such by its present contents, in the view of a file that begins like a
//    pool of libpmemobj: so pools that the program makes itself are recognised too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shield/view/file_view.hpp"

namespace scute::core::interpose {

class pmemobj_run_time {
 public:
  // Sets the view, whose bytes are mapped there; null: none. In a critical section.
  void look_at(const view::file_view* view, const std::byte* bytes) noexcept {
    view_ = view;
    bytes_ = bytes;
  }
  // Finds where libpmemobj is; it may have been loaded since the file was opened. In a critical
  // section, before lines are reported.
  void find_library() noexcept;
  // Whether the line that begins at `offset` is such a line. All of it must be in the file, and
  // loaded. The caller holds the view's commit lock, so that no page is evicted.
  bool has(uint64_t offset) const noexcept;

 private:
  uint64_t word(uint64_t offset) const noexcept;
  bool has_footer(uint64_t offset) const noexcept;
  bool has_library_address(uint64_t offset) const noexcept;
  bool is_in_free_blocks(uint64_t zone, uint64_t offset) const noexcept;
  bool is_head_of_log(uint64_t offset) const noexcept;

  const view::file_view* view_ = nullptr;
  const std::byte* bytes_ = nullptr;
  uintptr_t library_begin_ = 0, library_end_ = 0;
};

}  // namespace scute::core::interpose
