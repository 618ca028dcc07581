// SPDX-License-Identifier: BSD-3-Clause
// What libpmemobj keeps in a pool for the run of a program alone: it stores to these lines, never
// flushes them, and makes them again at every opening. (As libpmemobj 1.x has them.)
//
//   second page        addresses and locks of the open pool, from 0x1a00 on
//   chunk headers      the last chunk of a free run of chunks says how long that is ("footer")
//   free chunks        the first bytes of a free run of chunks say where it is, with an address
//                      inside of libpmemobj
//   free blocks        of chunks that are divided: bytes that belong to no object, such as the log
//                      of a transaction that is over
//   logs               of the lanes, and those that large transactions have added to them: their
//                      heads count how often they were used
//
// RUNTIME-1 A line counts as such by what it holds now, in the view of a file that begins as a pool
//    of libpmemobj does: so pools that the program makes itself are known as well.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "view/file_view.hpp"

namespace scute::core::interpose {

class pmemobj_run_time {
 public:
  // Of this view, whose bytes are mapped there; null: of none. In a critical section.
  void look_at(const view::file_view* view, const std::byte* bytes) noexcept {
    view_ = view;
    bytes_ = bytes;
  }
  // Where libpmemobj is now; it may have been loaded since the file was opened. In a critical
  // section, before lines are reported.
  void find_library() noexcept;
  // Whether the line that begins at `offset` is one. All of it is in the file, and loaded. With the
  // view's commit lock held, so that no page goes.
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
