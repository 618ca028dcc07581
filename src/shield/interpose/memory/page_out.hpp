// SPDX-License-Identifier: BSD-3-Clause
// Evicts pages of views when the program's views have more memory than was allowed (VIEW-12):
// --page-in with --max-memory.
//
// PAGEOUT-1 Only the thread that loads touched pages evicts pages. So none is evicted between its
//    loading of one and the end of the wait for it.
// PAGEOUT-2 Pages that a system call needs stay during the call: those that it reads by a
//    descriptor, and those it stores to, which it may have found before it waits for a device. Some
//    pages stay permanently: those shown by descriptors to calls that are not intercepted, to
//    mappings that cannot be watched, and to children.
// PAGEOUT-3 Eviction waits for no thread: it takes only locks that are free (PAGEIN-2).
//
// If a handler leaves such a call by siglongjmp(), the call never ends, and nothing is evicted any
// more. A page that is not yet in the medium stays, so stores without a flush occupy memory.
#pragma once

#include <cstddef>

namespace scute::core::interpose {

// Called where a file with such pages is opened.
void allow_pages_to_go() noexcept;
// Whether there is such a limit. Async-signal-safe.
bool pages_go() noexcept;
// Runs on the thread that loads pages: evicts some, if there are too many. Returns true if there
// still are, and more can be evicted.
bool let_pages_go() noexcept;

// While an object lives no page is evicted.
class pages_stay {
 public:
  pages_stay() noexcept;
  // Only if one of these bytes is in a view.
  pages_stay(const void* at, size_t n) noexcept;
  ~pages_stay();
  pages_stay(const pages_stay&) = delete;
  pages_stay& operator=(const pages_stay&) = delete;

 private:
  bool counts_;
};
void forget_staying_pages() noexcept;  // in a child

}  // namespace scute::core::interpose
