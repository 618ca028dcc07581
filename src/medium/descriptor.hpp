// SPDX-License-Identifier: BSD-3-Clause
// File descriptors of the library.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace scute::medium {

// Owns one; -1: none.
class descriptor {
 public:
  explicit descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~descriptor() { reset(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }
  // Keeps errno.
  void reset(int fd = -1) noexcept {
    const int keep = errno;
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    errno = keep;
  }

 private:
  int fd_;
};

// open(), but never one of the descriptors 0 to 2: in a program that was started without one of these, or
// has closed it, whatever it reads from or prints to the standard streams would go to a pool.
// -1 with errno.
inline int open_above_standard(const char* path, int flags, unsigned mode) noexcept {
  const int fd = ::open(path, flags, mode);
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const descriptor low(fd);
  return ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

// Locks the open file against other openers, without waiting: 0 or an errno, EAGAIN or EACCES if somebody
// has it locked. An open-file-description lock also keeps out a second open in this very process, and goes
// away with the process however it ends.
inline int try_lock(int fd, bool shared) noexcept {
  struct flock request{};
  request.l_type = static_cast<short>(shared ? F_RDLCK : F_WRLCK);
  request.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_SETLK, &request) == 0 ? 0 : errno;
}

}  // namespace scute::medium
