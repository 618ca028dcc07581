// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/guard_mode.hpp"

#include <fcntl.h>
#include <scute/scute.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/failure.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"

namespace scute::core::interpose {
namespace {

// The mode that FILE.scute has recorded for this very file; 0: none. Throws failure.
unsigned recorded_for(const char* path, const struct stat& file) {
  scute_shield_condition condition{};
  scute_shield_state state{};
  state.struct_size = sizeof state;
  if (const int e = scute_shield_look(path, &condition, &state); e < 0)
    throw failure(static_cast<scute_error>(e), scute_errormsg());
  return state.inode == file.st_ino ? state.guard : 0;
}

}  // namespace

guard_mode::guard_mode(int at, const char* path, int flags) noexcept {
  constexpr int others = O_PATH | O_DIRECTORY | O_TRUNC, made = O_CREAT | O_EXCL;
  char real[4096 + 16];
  struct stat s{};
  errno = EACCES;
  if ((flags & others) != 0 || (flags & made) == made || path == nullptr || is_borrowed()) return;
  // A high number, since the program must get the lowest free one.
  file_ = ::openat(at, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
  const bool owned = file_ >= 0 && next::fstat(file_, &s) == 0 && S_ISREG(s.st_mode) &&
                     s.st_uid == ::geteuid() && path_of(file_, real);
  errno = EACCES;
  if (owned) give(real, flags);
}

void guard_mode::give(const char* path, int flags) noexcept {
  char sidecar[4096 + 32];
  std::snprintf(sidecar, sizeof sidecar, "%s.scute", path);
  struct stat file{}, protection{};
  const int e = alone_.take(sidecar);
  if (e == 0 && next::fstat(file_, &file) == 0 && next::fstat(alone_.fd(), &protection) == 0) {
    const bool taken_away = (file.st_mode & 07777) == 0;
    const bool trusted = protection.st_uid == file.st_uid || protection.st_uid == 0;
    unsigned recorded = 0;
    if (taken_away && trusted && guarded(path, [&] { recorded = recorded_for(path, file); }) != 0)
      return;
    given_.emplace(alone_, file_, recorded, flags);
  } else if (e == ENOENT) {
    given_.emplace(alone_, file_, 0, flags);  // another process may have removed it just now
  }
  errno = e == EBUSY ? EBUSY : EACCES;
}

guard_mode::~guard_mode() {
  const int keep = errno;
  given_.reset();
  if (file_ >= 0) ::close(file_);
  errno = keep;
}

int open_guarded_here(int at, const char* path, int flags) noexcept {
  const guard_mode now(at, path, flags);
  return now ? next::open(now.name(), flags & ~(O_CREAT | O_NOFOLLOW)) : -1;
}

int open_guarded(int at, const char* path, int flags) noexcept {
  if (errno != EACCES) return -1;
  const critical now;
  return open_guarded_here(at, path, flags);
}

}  // namespace scute::core::interpose
