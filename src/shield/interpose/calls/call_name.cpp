// SPDX-License-Identifier: BSD-3-Clause
// Calls that remove a name of a file, or give one to it.
//
// NAME-1 A shielded file keeps its name while it is shielded, and so does its protection, which
//    lies next to it: calls that would remove it, move it or put another file in its place fail
//    with EBUSY. So programs that replace whole files (editors, tar, mv, install) report that,
//    instead of leaving a file that cannot be opened, or none.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/shielding.hpp"

using namespace scute::core::interpose;

namespace {

bool is_kept(int at, const char* path) noexcept {
  if (path == nullptr || !is_shielded_name(at, path)) return false;
  refuse_kept(at, path, "is not removed, moved or replaced");
  return true;
}

// Whether a rename is refused. Calls that fail anyway or do nothing are left to the kernel.
bool is_refused(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
  if (from == nullptr || to == nullptr) return false;
  const int keep = errno;
  struct stat a{}, b{};
  const bool moves = next::fstatat(from_at, from, &a, AT_SYMLINK_NOFOLLOW) == 0;
  const bool meets = moves && next::fstatat(to_at, to, &b, AT_SYMLINK_NOFOLLOW) == 0;
  errno = keep;
  if (!moves || (meets && a.st_dev == b.st_dev && a.st_ino == b.st_ino)) return false;
  if (is_kept(from_at, from)) return true;
  // With RENAME_NOREPLACE the call itself reports that the other file exists.
  const bool replaces = meets && (flags & RENAME_NOREPLACE) == 0 &&
                        (!S_ISDIR(a.st_mode) || (flags & RENAME_EXCHANGE) != 0);
  return replaces && is_kept(to_at, to);
}

}  // namespace

int program_unlinkat(int at, const char* path, int flags) {
  return flags == 0 && is_kept(at, path) ? -1 : next::unlinkat(at, path, flags);
}
SCUTE_INTERPOSED_ALIAS(int, unlinkat, scute_program_unlinkat,
                       (int at, const char* path, int flags));

SCUTE_INTERPOSED(int, unlink, (const char* path)) {
  return is_kept(AT_FDCWD, path) ? -1 : next::unlink(path);
}
SCUTE_INTERPOSED(int, remove, (const char* path)) {
  return is_kept(AT_FDCWD, path) ? -1 : next::remove(path);
}

int program_renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
  return is_refused(from_at, from, to_at, to, flags)
             ? -1
             : next::renameat2(from_at, from, to_at, to, flags);
}
SCUTE_INTERPOSED_ALIAS(int, renameat2, scute_program_renameat2,
                       (int from_at, const char* from, int to_at, const char* to, unsigned flags));

SCUTE_INTERPOSED(int, renameat, (int from_at, const char* from, int to_at, const char* to)) {
  return is_refused(from_at, from, to_at, to, 0) ? -1 : next::renameat(from_at, from, to_at, to);
}
SCUTE_INTERPOSED(int, rename, (const char* from, const char* to)) {
  return is_refused(AT_FDCWD, from, AT_FDCWD, to, 0) ? -1 : next::rename(from, to);
}
