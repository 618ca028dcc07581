// SPDX-License-Identifier: BSD-3-Clause
// Calls that receive descriptors of other processes (DESC-4).
#include <sys/socket.h>
#include <sys/syscall.h>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/fd_passing.hpp"

using namespace scute::core::interpose;

ssize_t program_recvmsg(int fd, struct msghdr* what, int flags) {
  const ssize_t result = next::recvmsg(fd, what, flags);
  if (result >= 0) receive_all(*what);
  return result;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, recvmsg, scute_program_recvmsg,
                       (int fd, struct msghdr* what, int flags));

int program_recvmmsg(int fd, struct mmsghdr* what, unsigned n, int flags, struct timespec* until) {
  const int result = next::recvmmsg(fd, what, n, flags, until);
  for (int i = 0; i < result; ++i) receive_all(what[i].msg_hdr);
  return result;
}
SCUTE_INTERPOSED_ALIAS(int, recvmmsg, scute_program_recvmmsg,
                       (int fd, struct mmsghdr* what, unsigned n, int flags,
                        struct timespec* until));

#ifdef SYS_pidfd_getfd
SCUTE_INTERPOSED(int, pidfd_getfd, (int process, int fd, unsigned flags)) {
  const long got = next::syscall(SYS_pidfd_getfd, process, fd, flags);
  if (got >= 0) receive(static_cast<int>(got));
  return static_cast<int>(got);
}
#endif
