// SPDX-License-Identifier: BSD-3-Clause
// Calls that make a file longer or shorter.
//
// LENGTH-1 If a call extends the file by zeros, the file and its protection grow before the view
//    does. If a write has extended it, the next fsync(), munmap() or close() notices that, or the
//    supervisor does.
// LENGTH-2 A shielded file does not get shorter: EBUSY.
// LENGTH-3 For a write past the end, room is reserved first, in the file system and in the
//    protection. Then the kernel writes, which extends the view. Then the file and its protection
//    follow: at once if the program can store to a mapping of it, otherwise as in LENGTH-1.
//
// About LENGTH-3: so no reader sees zeros in place of bytes, no kill leaves zeros there, and a
// concurrent append is not overwritten.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "shield/interpose/calls/call_arguments.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/fd_passing.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/length_limit.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/resident_pages.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/stores/durability.hpp"
#include "shield/interpose/stores/reported_stores.hpp"

using namespace scute::core::interpose;

namespace {

opened_file* shielded(int fd) noexcept {
  return entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
}

bool grown(opened_file& o, off_t size) noexcept {
  if (size < 0 || static_cast<uint64_t>(size) <= o.file->size()) return true;
  const critical now;
  return guarded(o.file->path(), [&] { o.file->grow(static_cast<uint64_t>(size)); }) == 0;
}

bool room_until(opened_file& o, uint64_t size) noexcept {
  const critical now;
  return guarded(o.file->path(), [&] { o.file->reserve(size); }) == 0;
}

// The place of a write at `at` (-1: at the descriptor's position), and its preparations. For any
// descriptor.
class view_write {
 public:
  view_write(int fd, off_t at, size_t n, bool appends = false) noexcept
      : has_room_(n == 0 || room_for(fd, at, n, appends)),
        // A write that makes the file longer also writes to the last page.
        here_(fd, extends_ ? last_ : at_, has_room_ ? n + (extends_ ? at_ - last_ : 0) : 0),
        now_(fd, at_, has_room_ && here_ ? n : 0) {}
  // False with errno: the write must not be made.
  explicit operator bool() const noexcept { return has_room_ && here_; }
  // Returns the result, once the written bytes are part of the file where they have to be
  // (LENGTH-3). Bytes for which there is no room after all stay in the view, and the next sync
  // reports that.
  ssize_t made(int fd, ssize_t result) const noexcept {
    if (!extends_ || result <= 0) return result;
    const critical now;
    opened_file* const o = shielded(fd);
    if (o == nullptr || !mappings.stores_to(*o->file)) return result;
    static_cast<void>(guarded(o->file->path(), [&] { o->file->catch_up(); }));
    return result;
  }

 private:
  bool room_for(int fd, off_t at, size_t n, bool appends) noexcept {
    opened_file* const o = shielded(fd);
    at_ = at;
    if (o == nullptr || (o->flags & O_ACCMODE) == O_RDONLY) return true;  // (it will fail)
    struct stat s{};
    if (appends || (o->flags & O_APPEND) != 0)
      at_ = next::fstat(fd, &s) == 0 ? s.st_size : -1;
    else if (at_ < 0)
      at_ = ::lseek(fd, 0, SEEK_CUR);
    if (at_ < 0) return true;
    const uint64_t end = static_cast<uint64_t>(at_) + n, size = o->file->size();
    extends_ = end > size;
    last_ = std::min(at_, static_cast<off_t>(size > 0 ? size - 1 : 0));
    return !extends_ || room_until(*o, end);
  }

  off_t at_ = -1, last_ = -1;  // last_: the first existing byte that it touches
  bool extends_ = false, has_room_;
  resident_pages here_;
  known_store now_;
};

// After a write to a descriptor with O_SYNC or O_DSYNC, or one that asks for it, makes the bytes
// durable.
ssize_t ended(int fd, ssize_t result, bool asks = false) noexcept {
  if (result <= 0 || entry_of(fd) == nullptr) return result;
  opened_file* const o = opened_at(fd);
  if (o == nullptr || (!asks && (o->flags & O_DSYNC) == 0)) return result;  // (O_SYNC has its bit)
  return sync_file(*o->file) == 0 ? result : -1;
}

// Whether the view supports the mode: that of memory files, whatever FILE lies on; views on a disk
// can also be zeroed. A refused mode must not make the file longer first.
bool can_allocate(const guarded_file& file, int mode) noexcept {
  switch (mode) {
    case 0:
    case FALLOC_FL_KEEP_SIZE:
    case FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE: return true;
    case FALLOC_FL_ZERO_RANGE:
    case FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE: return !file.is_in_memory();
    default: return false;
  }
}

// Sets the length, but makes nothing shorter. If the file already has that length, bytes that a
// mapping has stored past its end are cleared. The kernel does that, for views that it refuses to
// make shorter: another thread may append meanwhile.
bool given_length(opened_file& o, int fd, off_t size) noexcept {
  struct stat s{};
  if (o.file->is_in_memory() && next::fstat(fd, &s) == 0 && s.st_size == size &&
      next::ftruncate(fd, size) == 0)
    return true;
  return grown(o, size);
}

int refuse_cut(const std::string& path) noexcept {
  complain(path, "a shielded file cannot shrink; see `scute shield remove`");
  errno = EBUSY;
  return -1;
}

}  // namespace

SCUTE_INTERPOSED(int, ftruncate, (int fd, off_t size)) {
  opened_file* const o = met_at(fd);
  if (o == nullptr || size < 0 || (o->flags & O_ACCMODE) == O_RDONLY)
    return next::ftruncate(fd, size);
  if (static_cast<uint64_t>(size) < o->file->size()) return refuse_cut(o->file->path());
  if (is_over_length_limit(o->file->size(), size)) return -1;
  return given_length(*o, fd, size) ? 0 : -1;
}
SCUTE_INTERPOSED_ALIAS(int, ftruncate64, ftruncate, (int fd, off_t size));

int program_truncate(const char* path, off_t size) {
  if (path == nullptr || !is_shielded_at(AT_FDCWD, path)) return next::truncate(path, size);
  struct stat s{};
  if (next::fstatat(AT_FDCWD, path, &s, 0) != 0) return -1;
  if (size < s.st_size) {
    refuse_kept(AT_FDCWD, path, "cannot shrink");
    return -1;
  }
  // Through a descriptor of the view.
  const int fd = open_as_program(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return -1;
  opened_file* const o = opened_at(fd);
  const bool done =
      o != nullptr && !is_over_length_limit(o->file->size(), size) && given_length(*o, fd, size);
  const int why = errno;
  close_as_program(fd);
  errno = why;
  return done ? 0 : -1;
}
SCUTE_INTERPOSED_ALIAS(int, truncate, scute_program_truncate, (const char* path, off_t size));
SCUTE_INTERPOSED_ALIAS(int, truncate64, scute_program_truncate, (const char* path, off_t size));

SCUTE_INTERPOSED(int, fallocate, (int fd, int mode, off_t offset, off_t n)) {
  opened_file* const o = met_at(fd);
  if (o != nullptr && offset >= 0 && n > 0 && !can_allocate(*o->file, mode)) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (o != nullptr && (mode & FALLOC_FL_KEEP_SIZE) == 0 && offset >= 0 && n > 0 &&
      (o->flags & O_ACCMODE) != O_RDONLY &&
      (is_over_length_limit(o->file->size(), offset + n) || !grown(*o, offset + n)))
    return -1;
  const bool zeroes =
      (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0 && offset >= 0 && n > 0;
  const resident_pages here(fd, offset, n > 0 ? static_cast<size_t>(n) : 0);
  if (!here) return -1;
  const known_store now(fd, offset, zeroes ? static_cast<size_t>(n) : 0);
  const int result = next::fallocate(fd, mode, offset, n);
  // A hole on a disk has no block for the next store.
  if (result == 0 && zeroes && o != nullptr && !o->file->is_in_memory())
    static_cast<void>(next::fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, n));
  return result;
}
SCUTE_INTERPOSED_ALIAS(int, fallocate64, fallocate, (int fd, int mode, off_t offset, off_t n));

SCUTE_INTERPOSED(int, posix_fallocate, (int fd, off_t offset, off_t n)) {
  opened_file* const o = met_at(fd);
  if (o != nullptr && offset >= 0 && n > 0 && (o->flags & O_ACCMODE) != O_RDONLY) {
    const int keep = errno;
    if (is_over_length_limit(o->file->size(), offset + n) || !grown(*o, offset + n))
      return std::exchange(errno, keep);
  }
  const int keep = errno;
  const resident_pages here(fd, offset, n > 0 ? static_cast<size_t>(n) : 0);
  if (here) return next::posix_fallocate(fd, offset, n);
  return std::exchange(errno, keep);
}
SCUTE_INTERPOSED_ALIAS(int, posix_fallocate64, posix_fallocate, (int fd, off_t offset, off_t n));

SCUTE_INTERPOSED(ssize_t, write, (int fd, const void* from, size_t n)) {
  const view_write here(fd, -1, n);
  return here ? ended(fd, here.made(fd, next::write(fd, from, n))) : -1;
}
SCUTE_INTERPOSED(ssize_t, pwrite, (int fd, const void* from, size_t n, off_t at)) {
  if (at < 0) return next::pwrite(fd, from, n, at);
  const view_write here(fd, at, n);
  return here ? ended(fd, here.made(fd, next::pwrite(fd, from, n, at))) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, pwrite64, pwrite, (int fd, const void* from, size_t n, off_t at));
SCUTE_INTERPOSED_ALIAS(ssize_t, __pwrite64, pwrite, (int fd, const void* from, size_t n, off_t at));
SCUTE_INTERPOSED_ALIAS(ssize_t, __write, write, (int fd, const void* from, size_t n));
SCUTE_INTERPOSED(ssize_t, writev, (int fd, const struct iovec* from, int count)) {
  if (entry_of(fd) == nullptr) return next::writev(fd, from, count);
  const view_write here(fd, -1, length_of(from, count));
  return here ? ended(fd, here.made(fd, next::writev(fd, from, count))) : -1;
}
SCUTE_INTERPOSED(ssize_t, pwritev, (int fd, const struct iovec* from, int count, off_t at)) {
  if (entry_of(fd) == nullptr || at < 0) return next::pwritev(fd, from, count, at);
  const view_write here(fd, at, length_of(from, count));
  return here ? ended(fd, here.made(fd, next::pwritev(fd, from, count, at))) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, pwritev64, pwritev,
                       (int fd, const struct iovec* from, int count, off_t at));
SCUTE_INTERPOSED(ssize_t, pwritev2,
                 (int fd, const struct iovec* from, int count, off_t at, int flags)) {
  if (entry_of(fd) == nullptr) return next::pwritev2(fd, from, count, at, flags);
  const view_write here(fd, at, length_of(from, count), (flags & RWF_APPEND) != 0);
  const bool asks = (flags & (RWF_DSYNC | RWF_SYNC)) != 0;
  return here ? ended(fd, here.made(fd, next::pwritev2(fd, from, count, at, flags)), asks) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, pwritev64v2, pwritev2,
                       (int fd, const struct iovec* from, int count, off_t at, int flags));
