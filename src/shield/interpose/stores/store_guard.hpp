// SPDX-License-Identifier: BSD-3-Clause
// Makes stores wait while lines are copied, for processors that cannot load a whole line at once
// (shield/view/line_copy.hpp).
//
// STORE-1 While a page is held, stores to it through any mapping of the process wait, also the
//    kernel's in its calls (userfault.hpp). Nothing else can store: children of fork() may only
//    read (GUARD-4), and bytes that a descriptor writes have no order within a line.
// STORE-2 So every mapping of the view that can be written to is watched, and none appears or moves
//         while a page is held.
// STORE-3 A thread that holds a page waits for no thread that may store to it: its own handlers
//    wait until the page is released. While no page may be held, nothing is closed, since closing
//    would hold pages.
// STORE-4 If the program has one thread (THREADS-1), only that thread's handlers can store while it
//    copies: nothing is protected then. If one has run meanwhile (QUIET-1), the copies are made
//    again; if that cannot be known, or recurs, handlers wait.
// STORE-5 The thread that a store waits for wakes it. The thread that receives the fault checks
//    again: a store that faults while its page is released may begin to wait after all were woken,
//    and no thread would wake it before the next release of that page.
//
// About STORE-5: on Linux 6.18 it happened in one of some 10,000 releases next to a thread that
// stores without a pause.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shield/interpose/memory/userfault.hpp"
#include "shield/view/backing.hpp"

namespace scute::core::interpose {

class guarded_file;

// Whether this processor needs it.
bool stores_are_guarded() noexcept;

class store_guard final : public view::page_guard {
 public:
  explicit store_guard(const guarded_file& file) : file_(file) {}
  // False: a mapping cannot be protected.
  bool hold(uint64_t offset, size_t n) noexcept override;
  void release(uint64_t offset, size_t n) noexcept override;
  // STORE-4
  bool hold_all() noexcept override;
  bool release_all() noexcept override;
  // False: another page is held now.
  bool try_hold(uint64_t offset, size_t n) noexcept;

 private:
  const guarded_file& file_;
  // Only for the thread that has the commit lock.
  unsigned not_alone_for_ = 0;  // commit sets
  unsigned disturbed_ = 0;
  bool signals_wait_ = false;  // while all is held
};

// A system call that was to store to these bytes has failed with EFAULT. Returns true if the reason
// may be that their page was held, where userfaultfd is incomplete: then the call is to be made
// again, a few times. Keeps errno.
bool may_have_been_held(const void* at, size_t n) noexcept;

// STORE-5: a thread waits to store there. Runs on the thread that receives the fault.
void let_store_go_on(const userfault& faults, uintptr_t at) noexcept;

// STORE-2: while an object lives no page is held. In a critical section.
class no_page_held {
 public:
  no_page_held() noexcept;
  ~no_page_held();
  no_page_held(const no_page_held&) = delete;
  no_page_held& operator=(const no_page_held&) = delete;
};
void forget_held_pages() noexcept;  // in a child

}  // namespace scute::core::interpose
