// SPDX-License-Identifier: BSD-3-Clause
// File descriptors of the library. All are registered: a child of fork() keeps none (base/process.hpp, PROC-3).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/holder_lock.hpp"
#include "base/process.hpp"

namespace scute::core::medium {

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
    if (fd_ >= 0) close_registered(fd_);
    fd_ = fd;
    errno = keep;
  }

 private:
  int fd_;
};

// Locks the open file against other openers, without waiting: 0 or an errno, EAGAIN or EACCES if somebody
// has it locked. An open-file-description lock also keeps out a second open in this very process, and goes
// away with the process however it ends. (A byte is left for who keeps its view: HOLDER-3.)
enum class access : uint8_t { read, write };  // who reads shares the lock
inline int try_lock(int fd, access wish) noexcept {
  struct flock request{};
  request.l_type = static_cast<short>(wish == access::read ? F_RDLCK : F_WRLCK);
  request.l_whence = SEEK_SET;
  request.l_len = locked_bytes;
  return ::fcntl(fd, F_OFD_SETLK, &request) == 0 ? 0 : errno;
}

}  // namespace scute::core::medium
