// SPDX-License-Identifier: BSD-3-Clause
// SIGBUS, and SIGSEGV for emulated losses: an access to a lost page of an open pool rebuilds the
// page and goes on (Pangolin 3.3, 3.6).
//
// FAULT-1 The handlers are installed with the first pool of a process that wants them, and stay.
//    What was installed before gets every fault that is none of a pool's, as if the kernel had
//    called it, all of its flags included (repair/passed_on.hpp); a default action is put back and
//    happens when the access is tried again.
// FAULT-2 Only faults that the access itself raised are taken. A signal that somebody sent, or a
//    notice about a page that nobody touches now (BUS_MCEERR_AO), is not a moment to take locks in;
//    the page of such a notice is put out of reach, and repairs on the next access.
// FAULT-3 A fault on a page that can be read by now (another thread was faster) is tried again, a
//    bounded number of times in a row; then the page counts as lost.
// FAULT-4 The program itself gets no byte of a rebuilt page that fails its checksum: if the object
//    at the address of its access is not sound, the fault goes to the handler before (PAGE-6 for
//    the library's own).
// FAULT-5 A child of fork() has no pool of its parent's: a fault where one lay is none of a pool's
//    there, and the place is free for pools that the child opens itself.
// FAULT-6 A repair can meet further lost pages, whatever the thread has blocked, or a handler that
//    stands before this one: both signals are unblocked first.
#pragma once

#include <csignal>

#include "pool/state.hpp"
#include "repair/page_repair.hpp"

namespace scute::core::repair {

class fault_domain {
 public:
  // Makes the pool's mapping known; with install, also puts up the handlers. While it lives the
  // pool must not move. Throws failure(SCUTE_E_UNSUPPORTED) if 1024 pools are open already.
  fault_domain(pool::state& s, page_repairer& repairer, bool install);
  ~fault_domain();
  fault_domain(const fault_domain&) = delete;
  fault_domain& operator=(const fault_domain&) = delete;

 private:
  int place_;
};

// True if the fault was a pool's and the access can be tried again. Async-signal-safe.
bool handle_fault(int signal, const siginfo_t& info) noexcept;

}  // namespace scute::core::repair
