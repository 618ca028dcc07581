// SPDX-License-Identifier: BSD-3-Clause
// How long the program may make a file (RLIMIT_FSIZE). The kernel would report it when the view
// gets longer; by then FILE would already be longer.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace scute::core::interpose {

// Whether a file of `size` bytes must not become as long as `requested`: sets EFBIG, and sends
// SIGXFSZ to the calling thread, like the kernel. Outside of critical sections.
inline bool is_over_length_limit(uint64_t size, off_t requested) noexcept {
  struct rlimit limit{};
  if (requested < 0 || static_cast<uint64_t>(requested) <= size ||
      ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      static_cast<uint64_t>(requested) <= limit.rlim_cur)
    return false;
  siginfo_t as_kernel{};
  as_kernel.si_signo = SIGXFSZ;
  as_kernel.si_code = SI_USER;
  as_kernel.si_pid = ::getpid();
  as_kernel.si_uid = ::getuid();
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), SIGXFSZ, &as_kernel);
  errno = EFBIG;
  return true;
}

}  // namespace scute::core::interpose
