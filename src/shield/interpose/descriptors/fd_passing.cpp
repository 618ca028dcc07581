// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/fd_passing.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/inherited_fds.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/process/critical.hpp"

namespace scute::core::interpose {
namespace {

// Keeps errno.
bool is_view(int fd, struct stat& s) noexcept {
  if (fd < 0 || guarded_file::first() == nullptr || is_borrowed() || is_own(fd)) return false;
  const int keep = errno;
  const bool is = next::fstat(fd, &s) == 0 && guarded_file::find_bytes(s) != nullptr;
  errno = keep;
  return is;
}

// In a critical section.
void enter(int fd, guarded_file& file) noexcept {
  struct stat s{};
  if (next::fstat(fd, &s) != 0 || !file.is_bytes(s)) return;
  if (opened_file* const same = same_open_file(fd, file); same != nullptr) {
    copy_descriptor(*same, fd);
    return;
  }
  const int flags = static_cast<int>(next::fcntl(fd, F_GETFL)) |
                    ((next::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
  static_cast<void>(enter_view(fd, flags, file));  // (the reason is reported)
}

opened_file* meet(int fd, const struct stat& s) noexcept {
  if (fd >= descriptors_max) return nullptr;
  const int keep = errno;
  const critical now;
  guarded_file* const file = guarded_file::find_bytes(s);
  // Another thread may have opened, closed or found it since.
  if (file != nullptr && opened_at(fd) == nullptr) enter(fd, *file);
  errno = keep;
  return opened_at(fd);
}

}  // namespace

opened_file* met_at(int fd) noexcept {
  opened_file* const known = entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
  struct stat s{};
  return known != nullptr || !is_view(fd, s) ? known : meet(fd, s);
}

guarded_file* met_file(int fd) noexcept {
  opened_file* o = entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
  struct stat s{};
  if (o == nullptr && !is_view(fd, s)) return nullptr;
  if (o == nullptr) o = meet(fd, s);
  return o != nullptr ? o->file : guarded_file::find_bytes(s);
}

void receive(int fd) noexcept {
  if (fd < 0 || is_borrowed() || met_at(fd) != nullptr) return;
  take_over_descriptor(fd);
}

void receive_all(msghdr& message) noexcept {
  if (message.msg_controllen == 0) return;
  for (cmsghdr* m = CMSG_FIRSTHDR(&message); m != nullptr; m = CMSG_NXTHDR(&message, m)) {
    if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= m->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const std::byte*>(m) + at, sizeof fd);
      receive(fd);
    }
  }
}

}  // namespace scute::core::interpose
