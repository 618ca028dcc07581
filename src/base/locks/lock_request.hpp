// SPDX-License-Identifier: BSD-3-Clause
// The range of a file that is to be locked, and the system calls for that. They are made by number:
// code that follows the program's descriptors (tools that check them, the shield's runtime) must
// not see those of the thread that locks (base/locks/lock_thread.hpp).
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

namespace scute::core {

// See lock_thread.hpp (LOCK-6).
enum class lock_kind : uint8_t { bytes, whole_file };

struct lock_request {
  int64_t begin = 0, length = 0;  // bytes
  bool alone = true;              // exclusive; else shared
  bool bytes_only = false;        // the whole file will not do

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

inline int flock_call(int fd, int operation) noexcept {
  return static_cast<int>(::syscall(SYS_flock, fd, operation | LOCK_NB));
}

// Locks without waiting. Returns 0; EBUSY: another opening has the lock; or another errno.
inline int try_to_lock(int fd, const lock_request& w, lock_kind kind) noexcept {
  struct flock request;
  const short type = w.alone ? F_WRLCK : F_RDLCK;
  const int result = kind == lock_kind::bytes ? locking_call(fd, F_OFD_SETLK, type, w, request)
                                              : flock_call(fd, w.alone ? LOCK_EX : LOCK_SH);
  if (result == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? EBUSY : errno;
}

// Of either kind.
inline void unlock(int fd, const lock_request& w) noexcept {
  struct flock request;
  locking_call(fd, F_OFD_SETLK, F_UNLCK, w, request);
  if (!w.bytes_only) flock_call(fd, LOCK_UN);
}

// Whether a lock that another open file has excludes `other`. Returns 0; ENOLCK: it does not; or an
// errno.
inline int look_if_kept(int other, const lock_request& w, lock_kind kind) noexcept {
  struct flock request;
  if (!w.alone && kind == lock_kind::bytes) {
    // A process that may only read the file may not request an exclusive lock.
    if (locking_call(other, F_OFD_GETLK, F_WRLCK, w, request) != 0) return errno;
    return request.l_type == F_UNLCK ? ENOLCK : 0;
  }
  lock_request alone = w;
  alone.alone = true;
  const int e = try_to_lock(other, alone, kind);
  if (e == 0) unlock(other, alone);
  return e == EBUSY ? 0 : e == 0 ? ENOLCK : e;
}
inline int look_if_kept(int other, const lock_request& w) noexcept {
  const int e = look_if_kept(other, w, lock_kind::bytes);
  return e == ENOLCK ? look_if_kept(other, w, lock_kind::whole_file) : e;
}

// Locks the file of the calling thread's `fd` without waiting, by the first kind of lock that its
// file system keeps (LOCK-2, LOCK-6). must_look: a lock that cannot be tested is refused. Returns
// 0; EBUSY: another opening has the lock; ENOLCK: the file system keeps none; or another errno.
inline int take_kept(int fd, const lock_request& w, bool must_look) noexcept {
  for (const lock_kind kind : {lock_kind::bytes, lock_kind::whole_file}) {
    if (kind == lock_kind::whole_file && w.bytes_only) break;
    int e = try_to_lock(fd, w, kind);
    if (e == EINVAL || e == EOPNOTSUPP || e == ENOSYS) continue;  // there is no such kind
    if (e != 0) return e;
    const int other = open_again(::gettid(), fd, w);
    if (other >= 0)
      e = look_if_kept(other, w, kind);
    else if (must_look)
      e = errno;
    if (other >= 0) ::syscall(SYS_close, other);
    if (e == 0) return 0;
    unlock(fd, w);
    if (e != ENOLCK) return e;
  }
  return ENOLCK;
}

}  // namespace scute::core
