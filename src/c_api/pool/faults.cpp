// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>

#include "c_api/pool/guard.hpp"
#include "core/repair/fault_handler.hpp"

extern "C" int scute_handle_fault(int signal, void* info, void* /*context*/) {
  if (info == nullptr) return 0;
  const int keep = errno;
  const bool handled =
      scute::core::repair::handle_fault(signal, *static_cast<const siginfo_t*>(info));
  errno = keep;
  return handled ? 1 : 0;
}
