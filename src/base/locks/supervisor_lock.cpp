// SPDX-License-Identifier: BSD-3-Clause
#include "base/locks/supervisor_lock.hpp"

#include <cerrno>
#include <exception>

#include "base/process/process.hpp"

namespace scute::core {
namespace {

constexpr lock_request the_byte{locked_bytes, 1, true, true};

}  // namespace

int supervisor_lock::take(const std::string& sidecar) noexcept {
  int fd = -1;
  try {
    fd = open_registered(sidecar.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } catch (const std::exception&) {
    errno = EMFILE;
  }
  if (fd < 0) return errno;
  const which_file file = file_of(fd);
  const int e = lock_.take(fd, the_byte);
  close_registered(fd, file);
  return e;
}

bool is_held_by_supervisor(int fd) noexcept {
  struct flock request;
  return locking_call(fd, F_OFD_GETLK, F_WRLCK, the_byte, request) == 0 &&
         request.l_type != F_UNLCK;
}

}  // namespace scute::core
