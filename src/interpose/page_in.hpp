// SPDX-License-Identifier: BSD-3-Clause
// Pages of views that are read, verified and repaired when they are touched (VIEW-11), where that
// was asked for and the kernel lets this user.
//
// PAGEIN-1 A thread that touches a page that is not there, in the program or in the kernel, waits
//    until a thread of ours has loaded it. So every mapping of a view is watched before the program
//    knows its address. Mappings that cannot be watched (of read-only descriptors, private ones,
//    those that move or replace another view) are loaded whole before they are made.
// PAGEIN-2 That thread waits for no thread that may wait for a page. It takes no lock that a thread
//    holds while it touches a program's memory or while signals of the program can come, so neither
//    `critical` nor the commit set's. It takes the view's lock of loading, which other threads hold
//    with signals held up only. The mapping that it places pages in makes no thread wait, so the
//    runtime's own reads of views do not wait.
// PAGEIN-3 A descriptor's reads and writes wait for nothing: to the kernel a page that is not there
//    is zeros. So the pages that they will touch are loaded before (pages_at_hand.hpp). Where they
//    are not intercepted (stdio, aio) all of the file is loaded, when they are prepared.
// PAGEIN-4 A child does not wait either, however it is made, so all is loaded before. It does not
//          get pages that are lost.
// PAGEIN-5 A page that cannot be read, since it is lost, is reported. A thread that touches it gets
//    SIGBUS, as from memory that is broken; reads of a descriptor get EIO.
// PAGEIN-6 A page that was never loaded and is there was written by a call that was not
//          intercepted, on top of nothing: the program ends before the file has it.
// PAGEIN-7 A mapping that is locked in memory (mlock()) and is made longer where it lies has its
//    new pages touched by the kernel before the table has them. All is loaded by then, so what is
//    not there is a hole, and zeros. (Found by an attack from outside: mremap() never returned.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "interpose/userfault.hpp"
#include "supervisor/view_memory.hpp"
#include "view/backing.hpp"

namespace scute::core::interpose {

// Pages are to come when they are touched, and can. Says once why they cannot. In a critical
// section.
bool pages_come() noexcept;
// On the thread that hears of it.
void load_touched(const userfault& faults, uintptr_t at) noexcept;
// All of every view, permanently: a child is about to be made, or a call to read and write
// descriptors unintercepted. Any thread.
void load_all_views() noexcept;

// The range by which a mapping of loaded bytes is about to get longer (PAGEIN-7). In a critical
// section, one at a time.
class growing_mapping {
 public:
  growing_mapping(uintptr_t begin, uintptr_t end) noexcept;
  ~growing_mapping();
  growing_mapping(const growing_mapping&) = delete;
  growing_mapping& operator=(const growing_mapping&) = delete;
};

// Those of one view: they come by way of a mapping that only we know. Throws failure.
class touched_pages final : public view::page_placer {
 public:
  explicit touched_pages(const supervisor::view_memory& memory);
  bool place(uint64_t offset, std::span<const std::byte> bytes, size_t& placed) noexcept override;
  bool take(uint64_t offset) noexcept override;
  // One page of zeros where there is a hole; `done` too if there is none.
  userfault::outcome zero(uint64_t offset) noexcept;

 private:
  uintptr_t at_;
  int file_;
};

}  // namespace scute::core::interpose
