// SPDX-License-Identifier: BSD-3-Clause
#include "base/process/which_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>

namespace scute::core {

// fstat() asks the server of a network file system, which first writes back dirty pages. A filter
// of system calls may not know statx().
which_file file_of(int fd) noexcept {
  const int keep = errno;
  which_file f;
  struct statx known{};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &known) == 0) {
    f = {::makedev(known.stx_dev_major, known.stx_dev_minor), known.stx_ino};
  } else if (errno != EBADF) {
    struct stat st{};
    if (::fstat(fd, &st) == 0) f = {st.st_dev, st.st_ino};
  }
  errno = keep;
  return f;
}

}  // namespace scute::core
