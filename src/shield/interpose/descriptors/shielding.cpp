// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/shielding.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/process/uncancelled.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guard_mode.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/memory/resident_pages.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/supervisor/pool_backing.hpp"

namespace scute::core::interpose {

bool path_of(int fd, char (&path)[4096 + 16]) noexcept {
  char link[40];
  const char* const whose = "thread-self";  // LAST-3
  std::snprintf(link, sizeof link, "/proc/%s/fd/%d", whose, fd);
  const ssize_t n = ::readlink(link, path, 4096);
  if (n <= 0 || n >= 4096 || path[0] != '/') return false;
  path[n] = 0;
  return true;
}

namespace {

// A link that leads nowhere shows that there should be one.
bool has_sidecar(int at, const char* path) noexcept {
  constexpr char suffix[] = ".scute";
  char sidecar[4096 + 16];
  const size_t n = ::strnlen(path, 4096);
  if (n == 4096) return false;
  std::memcpy(sidecar, path, n);
  std::memcpy(sidecar + n, suffix, sizeof suffix);
  const int keep = errno;
  struct stat s{};
  const bool has = next::fstatat(at, sidecar, &s, AT_SYMLINK_NOFOLLOW) == 0;
  errno = keep;
  return has;
}

// Whether it is the protection of an existing file.
bool is_sidecar(int at, const char* path) noexcept {
  for (const char* const suffix : {".scute", ".scute.log"}) {
    const size_t n = ::strnlen(path, 4096), more = std::strlen(suffix);
    char file[4096];
    if (n <= more || n == 4096 || std::strcmp(path + n - more, suffix) != 0) continue;
    std::memcpy(file, path, n - more);
    file[n - more] = 0;
    const int keep = errno;
    struct stat s{};
    const bool is = next::fstatat(at, file, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode) &&
                    has_sidecar(at, file);
    errno = keep;
    if (is) return true;
  }
  return false;
}

void become_view(int fd, int flags, guarded_file& file) {
  const int real = keep_own(fd);
  if (real < 0) throw_errno("open " + file.path() + " again", errno);
  constexpr int kept = O_ACCMODE | O_APPEND | O_NONBLOCK | O_NOATIME | O_SYNC | O_DSYNC;
  const int bytes = file.open_bytes((flags & kept) | O_CLOEXEC);
  if (bytes < 0) {
    const int why = errno;
    close_own(real);
    throw_errno("open the view of " + file.path(), why);
  }
  const int on_exec = file.outlives_images() ? flags & O_CLOEXEC : O_CLOEXEC;
  const bool done = next::dup3(bytes, fd, on_exec) >= 0 && enter_descriptor(fd, file, real, flags);
  const int why = errno;
  next::close(bytes);
  if (done) return;
  close_own(real);
  throw_errno("open the view of " + file.path(), why);
}

bool shield(int fd, int flags, const char* path, const file_identity& id) noexcept {
  const critical now;
  const int result = guarded(path, [&] {
    const bool reads = (flags & O_ACCMODE) == O_RDONLY;
    guarded_file* file = guarded_file::find(id);
    if (file != nullptr && !reads) file->require_writable();
    if (file != nullptr)
      file->enter();
    else
      file = &guarded_file::open(path, id, reads);
    try {
      become_view(fd, flags, *file);
    } catch (...) {
      file->leave();
      throw;
    }
  });
  return result == 0;
}

}  // namespace

// Like a file that was opened by the name of a descriptor, /proc/self/fd/N.
bool enter_view(int fd, int flags, guarded_file& file) noexcept {
  const int result = guarded(file.path(), [&] {
    if ((flags & O_ACCMODE) != O_RDONLY) file.require_writable();
    struct stat s{};
    const int how = (flags & O_ACCMODE) | O_CLOEXEC;
    int again = next::open(file.path().c_str(), how);
    if (again < 0 && errno == EACCES) again = open_guarded_here(AT_FDCWD, file.path().c_str(), how);
    const int real = again >= 0 ? keep_own(again) : -1;
    const int why = errno;
    if (again >= 0) next::close(again);
    if (real < 0) throw_errno("open " + file.path() + " again", why);
    if (next::fstat(real, &s) != 0 || !file.is(identity_of(s)) ||
        (!file.outlives_images() && next::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)) {
      close_own(real);
      throw failure(SCUTE_E_NOENT, "it was moved or removed since it was opened");
    }
    file.enter();  // before the number's previous file may leave
    if (enter_descriptor(fd, file, real, flags)) return;
    const int none = errno;
    close_own(real);
    file.leave();
    throw_errno("enter its descriptor", none);
  });
  return result == 0;
}

bool shield_descriptor(int fd, int flags) noexcept {
  if ((flags & (O_PATH | O_DIRECTORY)) != 0) return true;
  const int keep = errno;
  struct stat s{};
  char path[4096 + 16];
  const bool regular = next::fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
  // The tables are its parent's; the program that it executes takes over the files that it has
  // opened (INHERIT-4).
  if (regular && guarded_file::first() != nullptr && is_borrowed()) {
    errno = keep;
    return true;
  }
  if (regular && guarded_file::find_bytes(s) != nullptr) {
    const critical now;
    guarded_file* const file = guarded_file::find_bytes(s);
    if (file != nullptr) return enter_view(fd, flags, *file);
  }
  // A file that this process has open is recognised by any name, and without one.
  path[0] = 0;
  const bool known = regular && guarded_file::find(identity_of(s)) != nullptr;
  const bool named = regular && path_of(fd, path);
  if (!known && (!named || !has_sidecar(AT_FDCWD, path))) {
    errno = keep;
    return true;
  }
  errno = keep;
  if (is_borrowed()) return true;  // as above, for a parent without open files
  // The C library itself reads the standard streams.
  return shield(fd, flags, path, identity_of(s)) && (fd > STDERR_FILENO || make_resident(fd));
}

bool is_unshielded(int fd, std::string& path) {
  struct stat s{};
  char at[4096 + 16];
  if (next::fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || !path_of(fd, at) ||
      !has_sidecar(AT_FDCWD, at))
    return false;
  path = at;
  return true;
}

int open_as_program(int at, const char* path, int flags, unsigned mode) {
  int fd = next::openat(at, path, flags, mode);
  if (fd < 0) fd = open_guarded(at, path, flags);
  if (fd < 0 || shield_descriptor(fd, flags)) return fd;
  const int why = errno;
  // The protection of a removed file still exists.
  constexpr int made = O_CREAT | O_EXCL;
  struct stat s{}, now{};
  if ((flags & made) == made && next::fstat(fd, &s) == 0 &&
      next::fstatat(at, path, &now, AT_SYMLINK_NOFOLLOW) == 0 && identity_of(s) == identity_of(now))
    next::unlinkat(at, path, 0);
  next::close(fd);
  errno = why;
  return -1;
}

int close_as_program(int fd) noexcept {
  const critical now;
  // Its entry first: another thread may get the number as soon as it is free.
  drop_descriptor(fd);
  return next::close(fd);
}

bool is_shielded_at(int at, const char* path) noexcept {
  const uncancelled now;
  const int keep = errno;
  const int fd = next::openat(at, path, O_PATH | O_CLOEXEC);
  bool shielded = false;
  if (fd >= 0) {
    struct stat s{};
    char real[4096 + 16];
    shielded = next::fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && path_of(fd, real) &&
               has_sidecar(AT_FDCWD, real);
    next::close(fd);
  }
  errno = keep;
  return shielded;
}

bool is_shielded_name(int at, const char* path) noexcept {
  const int keep = errno;
  struct stat s{};
  // fstatat() also says whether there is such a path.
  const bool regular = next::fstatat(at, path, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode);
  errno = keep;
  return regular && (has_sidecar(at, path) || is_sidecar(at, path));
}

bool cuts_shielded(int at, const char* path, int flags) noexcept {
  if ((flags & O_TRUNC) == 0 || (flags & O_ACCMODE) == O_RDONLY || path == nullptr ||
      !is_shielded_at(at, path))
    return false;
  // A caller that may not write to it gets the usual error. (faccessat() may fail for other
  // reasons, and does not know all ways to get permission.)
  if (::faccessat(at, path, W_OK, AT_EACCESS) != 0 && (errno == EACCES || errno == EROFS)) {
    const int how = (flags & (O_ACCMODE | O_NOFOLLOW)) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = next::openat(at, path, how);
    if (fd < 0) fd = open_guarded(at, path, how);
    if (fd < 0) return true;
    next::close(fd);
  }
  refuse_kept(at, path, "is not cut short (O_TRUNC)");
  return true;
}

void refuse_kept(int at, const char* path, const char* what) noexcept {
  const critical now;
  static_cast<void>(guarded(path, [&] {
    char real[4096 + 16] = "";
    const int fd = next::openat(at, path, O_PATH | O_CLOEXEC);
    std::string file = fd >= 0 && path_of(fd, real) ? real : path;
    if (fd >= 0) next::close(fd);
    const size_t end = file.rfind(".scute");
    if (end != std::string::npos && !has_sidecar(AT_FDCWD, file.c_str())) file.resize(end);
    const std::string why = supervisor::why_unprotected(file);
    complain(path, why.empty()
                       ? std::string("a shielded file ") + what + "; see `scute shield remove`"
                       : std::string("under the shield a file with a FILE.scute next to it ") +
                             what + "; " + why);
  }));
  errno = EBUSY;
}

}  // namespace scute::core::interpose
