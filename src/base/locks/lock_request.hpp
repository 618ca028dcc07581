// SPDX-License-Identifier: BSD-3-Clause
// The range of a file that is to be locked, and the system calls for that. They are made by number:
// code that follows the program's descriptors (tools that check them, the shield's runtime) must
// not see those of the thread that locks (base/locks/lock_keeper.hpp).
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace scute::core {

struct lock_request {
  int64_t begin = 0, length = 0;  // bytes
  bool alone = true;              // exclusive; else shared

  int flags() const noexcept {
    return (alone ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  }
};

inline int locking_call(int fd, int command, short type, const lock_request& w,
                        struct flock& request) noexcept {
  request = {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = w.begin;
  request.l_len = w.length;
  return static_cast<int>(::syscall(SYS_fcntl, fd, command, &request));
}

// Opens the file of descriptor `fd` of a thread of this process again. -1 with errno.
inline int open_again(pid_t thread, int fd, const lock_request& w) noexcept {
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/task/%d/fd/%d", thread, fd);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, link, w.flags()));
}

// Locks without waiting. Returns 0; EBUSY: another opening has the lock; or another errno.
inline int try_to_lock(int fd, const lock_request& w) noexcept {
  struct flock request;
  const short type = w.alone ? F_WRLCK : F_RDLCK;
  if (locking_call(fd, F_OFD_SETLK, type, w, request) == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? EBUSY : errno;
}

inline void unlock(int fd, const lock_request& w) noexcept {
  struct flock request;
  locking_call(fd, F_OFD_SETLK, F_UNLCK, w, request);
}

// Whether the lock that the calling thread's `fd` has excludes `other`, the same file opened a
// second time. Returns 0; ENOLCK: it does not; or an errno.
inline int look_if_kept(int other, const lock_request& w) noexcept {
  struct flock request;
  if (!w.alone) {
    // A process that may only read the file may not request an exclusive lock.
    if (locking_call(other, F_OFD_GETLK, F_WRLCK, w, request) != 0) return errno;
    return request.l_type == F_UNLCK ? ENOLCK : 0;
  }
  const int e = try_to_lock(other, w);
  if (e == 0) unlock(other, w);
  return e == EBUSY ? 0 : e == 0 ? ENOLCK : e;
}

}  // namespace scute::core
