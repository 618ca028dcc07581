// SPDX-License-Identifier: BSD-3-Clause
#include "base/process/open_guarded.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "base/failure.hpp"
#include "base/process/process.hpp"

namespace scute::core {
namespace {

constexpr unsigned every_permission = 07777;
constexpr unsigned looks = 2000;
constexpr timespec pause{0, 1'000'000};

// Registered, so no child of fork() keeps the lock. -1 with errno.
int open_own(const char* path, int flags) noexcept {
  try {
    return open_registered(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } catch (const failure&) {
    errno = EMFILE;
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  }
  return -1;
}

}  // namespace

// Unlocked first: a child that was made without fork() may have the descriptor as well.
guard_lock::~guard_lock() {
  if (fd_ < 0) return;
  const int keep = errno;
  ::flock(fd_, LOCK_UN);
  close_registered(fd_, file_of(fd_));
  errno = keep;
}

int guard_lock::try_take(const char* sidecar) noexcept {
  int fd = open_own(sidecar, O_RDONLY);
  if (fd < 0 && errno == EACCES) fd = open_own(sidecar, O_WRONLY);
  if (fd < 0) return errno;
  struct stat mine{}, named{};
  int e = ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  // The previous holder may have removed FILE.scute, or replaced it.
  if (e == 0 && (::fstat(fd, &mine) != 0 || ::stat(sidecar, &named) != 0)) e = errno;
  if (e == 0 && (mine.st_dev != named.st_dev || mine.st_ino != named.st_ino)) e = EWOULDBLOCK;
  if (e == 0)
    fd_ = fd;
  else
    close_registered(fd, file_of(fd));
  return e;
}

int guard_lock::take(const char* sidecar) noexcept {
  const uncancelled now;
  for (unsigned i = 0; i < looks; ++i) {
    const int e = try_take(sidecar);
    if (e != EWOULDBLOCK && e != EINTR) return e;
    ::nanosleep(&pause, nullptr);
  }
  return EBUSY;
}

unsigned needed_to_open(int flags) noexcept {
  const int access = flags & O_ACCMODE;
  const bool writes = access != O_RDONLY || (flags & O_TRUNC) != 0;
  return (access != O_WRONLY ? 4U : 0U) | (writes ? 2U : 0U);
}

given_permissions::given_permissions(const guard_lock& alone, int file, unsigned recorded,
                                     int flags) noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  std::snprintf(name_, sizeof name_, "/proc/thread-self/fd/%d", file);
  struct stat s{};
  if (::fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) return;
  errno = EACCES;
  may_try_ = (s.st_mode & every_permission) != 0 || s.st_uid != ::geteuid();
  const unsigned needed = needed_to_open(flags);
  if (may_try_ || !alone.is_taken() || ((recorded >> 6) & needed) != needed) return;
  given_ = may_try_ = ::chmod(name_, needed << 6) == 0;
  errno = EACCES;
}

given_permissions::~given_permissions() {
  const int keep = errno;
  if (given_) ::chmod(name_, 0);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = keep;
}

}  // namespace scute::core
