// SPDX-License-Identifier: BSD-3-Clause
// Facts about a file other than its bytes, by descriptor: they are the real file's (DESC-1).
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/fd_passing.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/stores/durability.hpp"

using namespace scute::core::interpose;

namespace {

void put_real_facts(const opened_file& o, struct stat& s) noexcept {
  struct stat real{};
  if (next::fstat(o.real.get(), &real) != 0) return;
  const off_t size = s.st_size;  // bytes that write(2) has appended count at once
  s = real;
  s.st_size = size;
}

// The number of the real file, if there is one.
int real(int fd) noexcept {
  opened_file* const o = facts_of(fd);
  return o != nullptr ? o->real.get() : fd;
}

// Before times are set, earlier writes must reach the file, since they change its times.
bool is_written(int fd) noexcept {
  opened_file* const o = entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
  return o == nullptr || sync_file(*o->file) == 0;
}

}  // namespace

SCUTE_INTERPOSED(int, fstat, (int fd, struct stat* to)) {
  const int result = next::fstat(fd, to);
  if (result != 0) return result;
  if (!is_noted(fd) && guarded_file::find_bytes(*to) != nullptr) static_cast<void>(met_at(fd));
  if (opened_file* const o = facts_of(fd); o != nullptr) put_real_facts(*o, *to);
  return 0;
}
SCUTE_INTERPOSED_ALIAS(int, fstat64, fstat, (int fd, struct stat* to));

SCUTE_INTERPOSED(int, fstatat, (int at, const char* path, struct stat* to, int flags)) {
  const int result = next::fstatat(at, path, to, flags);
  if (result != 0 || (flags & AT_EMPTY_PATH) == 0 || (path != nullptr && path[0] != 0))
    return result;
  if (opened_file* const o = facts_of(at); o != nullptr) put_real_facts(*o, *to);
  return 0;
}
SCUTE_INTERPOSED_ALIAS(int, fstatat64, fstatat,
                       (int at, const char* path, struct stat* to, int flags));

SCUTE_INTERPOSED(int, statx,
                 (int at, const char* path, int flags, unsigned mask, struct statx* to)) {
  const int result = next::statx(at, path, flags, mask, to);
  if (result != 0 || (flags & AT_EMPTY_PATH) == 0 || (path != nullptr && path[0] != 0))
    return result;
  opened_file* const o = facts_of(at);
  if (o == nullptr) return 0;
  const auto size = to->stx_size;
  if (next::statx(o->real.get(), "", flags, mask, to) != 0) return -1;
  to->stx_size = size;
  return 0;
}

// Reports the file system that FILE is on.
SCUTE_INTERPOSED(int, fstatfs, (int fd, struct statfs* to)) {
  return next::fstatfs(real(fd), to);
}
SCUTE_INTERPOSED_ALIAS(int, fstatfs64, fstatfs, (int fd, struct statfs* to));
SCUTE_INTERPOSED(int, fstatvfs, (int fd, struct statvfs* to)) {
  return next::fstatvfs(real(fd), to);
}
SCUTE_INTERPOSED_ALIAS(int, fstatvfs64, fstatvfs, (int fd, struct statvfs* to));

SCUTE_INTERPOSED(int, fchmod, (int fd, mode_t mode)) {
  return next::fchmod(real(fd), mode);
}
SCUTE_INTERPOSED(int, fchown, (int fd, uid_t user, gid_t group)) {
  return next::fchown(real(fd), user, group);
}

SCUTE_INTERPOSED(int, futimens, (int fd, const struct timespec* times)) {
  return is_written(fd) ? next::futimens(real(fd), times) : -1;
}
SCUTE_INTERPOSED(int, futimes, (int fd, const struct timeval* times)) {
  return is_written(fd) ? next::futimes(real(fd), times) : -1;
}
SCUTE_INTERPOSED(int, utimensat,
                 (int at, const char* path, const struct timespec* times, int flags)) {
  if (path != nullptr && ((flags & AT_EMPTY_PATH) == 0 || path[0] != 0))
    return next::utimensat(at, path, times, flags);
  return is_written(at) ? next::utimensat(real(at), path, times, flags) : -1;
}

SCUTE_INTERPOSED(int, fsetxattr,
                 (int fd, const char* name, const void* value, size_t n, int flags)) {
  return next::fsetxattr(real(fd), name, value, n, flags);
}
SCUTE_INTERPOSED(ssize_t, fgetxattr, (int fd, const char* name, void* value, size_t n)) {
  return next::fgetxattr(real(fd), name, value, n);
}
SCUTE_INTERPOSED(ssize_t, flistxattr, (int fd, char* names, size_t n)) {
  return next::flistxattr(real(fd), names, n);
}
SCUTE_INTERPOSED(int, fremovexattr, (int fd, const char* name)) {
  return next::fremovexattr(real(fd), name);
}
