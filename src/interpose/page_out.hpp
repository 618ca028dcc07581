// SPDX-License-Identifier: BSD-3-Clause
// Pages of views that go again when the program's views have more memory than was allowed
// (VIEW-12): --page-in with --max-memory.
//
// PAGEOUT-1 Only the thread that loads touched pages evicts pages. So none is evicted between its
//           loading of one and the end of the wait for it.
// PAGEOUT-2 Pages that a system call needs stay while it lasts: those that it reads by a
//           descriptor, and those it stores to, which it may have found before it waits for a
//           device. Pages needed for longer stay permanently: those that a descriptor shows to
//           calls that are not intercepted, to mappings that cannot be watched, and to children.
// PAGEOUT-3 Eviction waits for no thread: it takes the locks that are free (PAGEIN-2).
//
// A handler that leaves such a call by siglongjmp() never ends it, and then nothing is evicted any
// more. A page that is not in the medium yet stays, so what a program stores and does not flush is
// memory that it takes.
#pragma once

#include <cstddef>

namespace scute::core::interpose {

// Where a file with such pages is opened.
void allow_pages_to_go() noexcept;
// There is such a limit. Async-signal-safe.
bool pages_go() noexcept;
// On the thread that loads pages: some go, if there are too many. True: there still are, and more
// would go.
bool let_pages_go() noexcept;

// While one lives none does.
class pages_stay {
 public:
  pages_stay() noexcept;
  // If one of these bytes is in a view.
  pages_stay(const void* at, size_t n) noexcept;
  ~pages_stay();
  pages_stay(const pages_stay&) = delete;
  pages_stay& operator=(const pages_stay&) = delete;

 private:
  bool counts_;
};
void forget_staying_pages() noexcept;  // in a child

}  // namespace scute::core::interpose
