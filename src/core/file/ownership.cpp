// SPDX-License-Identifier: BSD-3-Clause
#include "core/file/ownership.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/failure.hpp"

namespace scute::core::medium {
namespace {

[[noreturn]] void refuse(const std::string& path, const ownership& as, int error) {
  errno = error;
  throw failure(SCUTE_E_IO, path + " must belong to user " + std::to_string(as.user) +
                                " and group " + std::to_string(as.group) +
                                ", like the file that it protects or replaces, and this process "
                                "may not make such a file; run this as that user or as root");
}

}  // namespace

void give_ownership(int fd, const ownership& as, const std::string& path) {
  if (!as.kept) return;
  struct stat now{};
  if (::fstat(fd, &now) != 0) throw_errno("examine " + path, errno);
  if (now.st_uid != as.user || now.st_gid != as.group) {
    const bool all = ::fchown(fd, as.user, as.group) == 0;
    const int error = all ? 0 : errno;
    if (!all && as.required) refuse(path, as, error);
    // A process may give a file to a group that it is in, even where it may not give it to a user.
    if (!all && ::fchown(fd, static_cast<uid_t>(-1), as.group) != 0) errno = error;
  }
  // Last, since a change of the owner takes bits away.
  if (::fchmod(fd, as.mode) != 0) throw_errno("protect " + path, errno);
}

}  // namespace scute::core::medium
