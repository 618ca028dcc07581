// SPDX-License-Identifier: BSD-3-Clause
// Handles SIGBUS, and SIGSEGV for emulated losses: an access to a lost page of an open pool
// rebuilds the page and continues (Pangolin 3.3, 3.6).
//
// FAULT-1 The handlers are installed with the first pool of a process that wants them, and stay.
//    The handlers before them get every fault that is not a pool's, as if the kernel had called
//    them, with all of their flags (core/repair/passed_on.hpp). A default action is restored, and
//    happens when the access is tried again.
// FAULT-2 Only faults that the access itself raised are handled. Locks may not be taken for a
//    signal that a process sent, or for a notice about a page that no thread touches now
//    (BUS_MCEERR_AO). The page of such a notice is revoked, and repaired on the next access.
// FAULT-3 If the page of a fault is readable by now (another thread was faster), the access is
//    tried again, a bounded number of times in a row. Then the page counts as lost.
// FAULT-4 The program itself gets no byte of a rebuilt page that fails its checksum: if the object
//    at the address of its access is not sound, the fault goes to the handler before (PAGE-6 for
//    the library's own).
// FAULT-5 A child of fork() has no pool of its parent. A fault at an address where one lay is
//    passed on there, and the place is free for pools that the child opens itself.
// FAULT-6 A repair can meet further lost pages, whatever signals the thread, or a handler that ran
//    before this one, has blocked. So both signals are unblocked first.
#pragma once

#include <csignal>

#include "core/repair/page_repair.hpp"
#include "core/shared/state.hpp"

namespace scute::core::repair {

class fault_domain {
 public:
  // Registers the pool's mapping; with install, also installs the handlers. The pool must not move
  // while this lives. Throws failure(SCUTE_E_UNSUPPORTED) if 1024 pools are open already.
  fault_domain(pool::state& s, page_repairer& repairer, bool install);
  ~fault_domain();
  fault_domain(const fault_domain&) = delete;
  fault_domain& operator=(const fault_domain&) = delete;

 private:
  int place_;
};

// Returns true if the fault was a pool's and the access can be tried again. Async-signal-safe.
bool handle_fault(int signal, const siginfo_t& info) noexcept;

}  // namespace scute::core::repair
