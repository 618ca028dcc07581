// SPDX-License-Identifier: BSD-3-Clause
#include "base/holder_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/planted.hpp"

namespace scute::core {
namespace {

struct flock the_byte() noexcept {
  struct flock request{};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  request.l_start = locked_bytes;
  request.l_len = 1;
  return request;
}

}  // namespace

holder_lock::~holder_lock() {
  if (fd_ >= 0) ::close(fd_);
}

int holder_lock::take(const std::string& sidecar) noexcept {
  const int fd = ::open(sidecar.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno;
  holder_lock mine;
  mine.fd_ = fd;
  struct flock request = the_byte();
  if (::fcntl(fd, F_OFD_SETLK, &request) != 0)
    return errno == EAGAIN || errno == EACCES ? EBUSY : errno;
  std::swap(fd_, mine.fd_);
  return 0;
}

bool is_held_by_holder(int fd) noexcept {
  struct flock request = the_byte();
  return ::fcntl(fd, F_OFD_GETLK, &request) == 0 && request.l_type != F_UNLCK &&
         !SCUTE_PLANTED(holder_unseen);
}

}  // namespace scute::core
