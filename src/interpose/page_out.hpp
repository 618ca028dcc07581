// SPDX-License-Identifier: BSD-3-Clause
// Pages of views that go again when the program's views have more memory than was allowed
// (VIEW-12): --page-in with --max-memory.
//
// PAGEOUT-1 The thread that loads touched pages lets pages go, and nobody else: so between its
//           loading of one and the end of whose wait, none goes.
// PAGEOUT-2 What a call of the kernel's needs stays while it lasts: the pages that it reads by a
//    descriptor, and those it stores to, which it may have found before it waits for a device. What
//    it wants for longer stays for good: what a descriptor shows to calls that nobody hears, to
//    mappings that cannot be watched, and to children.
// PAGEOUT-3 Nobody is waited for: who lets a page go takes the locks that are free (PAGEIN-2).
//
// Who leaves such a call by siglongjmp() never ends it, and then nothing goes any more. A page that
// is not in the medium yet stays, so what a program stores and does not flush is memory that it
// takes.
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
