// SPDX-License-Identifier: BSD-3-Clause
// Calls that bring descriptors of other processes (DESC-4).
#include <sys/socket.h>

#include <cstring>

#include "interpose/next_calls.hpp"
#include "interpose/program_calls.hpp"
#include "interpose/received.hpp"

using namespace scute::core::interpose;

namespace {

// What the kernel has written there.
void look_at(msghdr& what) noexcept {
  for (cmsghdr* m = CMSG_FIRSTHDR(&what); m != nullptr; m = CMSG_NXTHDR(&what, m)) {
    if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= m->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const std::byte*>(m) + at, sizeof fd);
      receive(fd);
    }
  }
}

}  // namespace

ssize_t program_recvmsg(int fd, struct msghdr* what, int flags) {
  const ssize_t result = next::recvmsg(fd, what, flags);
  if (result >= 0 && what->msg_controllen != 0) look_at(*what);
  return result;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, recvmsg, scute_program_recvmsg,
                       (int fd, struct msghdr* what, int flags));

int program_recvmmsg(int fd, struct mmsghdr* what, unsigned n, int flags, struct timespec* until) {
  const int result = next::recvmmsg(fd, what, n, flags, until);
  for (int i = 0; i < result; ++i)
    if (what[i].msg_hdr.msg_controllen != 0) look_at(what[i].msg_hdr);
  return result;
}
SCUTE_INTERPOSED_ALIAS(int, recvmmsg, scute_program_recvmmsg,
                       (int fd, struct mmsghdr* what, unsigned n, int flags,
                        struct timespec* until));
