// SPDX-License-Identifier: BSD-3-Clause
// Pages of views that are read, verified and repaired on first access (VIEW-11), if the user has
// asked for that and the kernel permits it.
//
// PAGEIN-1 A thread that touches an absent page, in the program or in the kernel, waits until a
//    thread of ours has loaded it. So every mapping of a view is watched before the program knows
//    its address. Mappings that cannot be watched (of read-only descriptors, private ones, those
//    that move or replace another view) are loaded completely before they are made.
// PAGEIN-2 That thread waits for no thread that may wait for a page. It takes no lock that a thread
//    holds while it touches a program's memory or while the program's signals can arrive: neither
//    `critical` nor the commit set's. It takes the view's loading lock, which others hold only with
//    signals blocked.
// PAGEIN-3 Reads and writes by descriptor do not wait: to the kernel an absent page is zeros. So
//    the pages that they will touch are loaded before (resident_pages.hpp). For calls that are not
//    intercepted (stdio, aio) the whole file is loaded when they are prepared.
// PAGEIN-4 A child does not wait either, however it is made, so everything is loaded before. It
//    does not get pages that are lost.
// PAGEIN-5 A lost page is reported. A thread that touches it gets SIGBUS, as from broken memory;
//    reads by descriptor get EIO.
// PAGEIN-6 If a page was never loaded but is present, a call that was not intercepted wrote to it:
//    the program ends before the file gets it.
// PAGEIN-7 If a mapping locked in memory (mlock()) grows in place, the kernel touches its new pages
//    before the table has them. Everything is loaded by then, so absent pages are holes, and zeros.
//    (Found by an attack from outside: mremap() never returned.)
//
// The mapping in which that thread places pages makes no thread wait, so the runtime's own reads of
// views do not wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shield/interpose/memory/userfault.hpp"
#include "shield/supervisor/view_memory.hpp"
#include "shield/view/backing.hpp"

namespace scute::core::interpose {

// Whether pages are to be loaded on first access, and can be. Reports once why they cannot. In a
// critical section.
bool pages_come() noexcept;
// Runs on the thread that receives the fault.
void load_touched(const userfault& faults, uintptr_t at) noexcept;
// Loads all pages of every view, permanently: a child is about to be made, or a call that uses
// descriptors without interception. Any thread.
void load_all_views() noexcept;

// The range by which a mapping of loaded bytes is about to grow (PAGEIN-7). In a critical section,
// one at a time.
class growing_mapping {
 public:
  growing_mapping(uintptr_t begin, uintptr_t end) noexcept;
  ~growing_mapping();
  growing_mapping(const growing_mapping&) = delete;
  growing_mapping& operator=(const growing_mapping&) = delete;
};

// The page placer of one view: it places pages through a mapping that only we know. Throws failure.
class touched_pages final : public view::page_placer {
 public:
  explicit touched_pages(const supervisor::view_memory& memory);
  bool place(uint64_t offset, std::span<const std::byte> bytes, size_t& placed) noexcept override;
  bool take(uint64_t offset) noexcept override;
  // Places a page of zeros where there is a hole; returns `done` too if there is none.
  userfault::outcome zero(uint64_t offset) noexcept;

 private:
  uintptr_t at_;
  kept_number file_;
};

}  // namespace scute::core::interpose
