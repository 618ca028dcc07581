// SPDX-License-Identifier: BSD-3-Clause
#include "core/file/file_handle.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/huge_pages.hpp"
#include "base/locks/kept_lock.hpp"
#include "base/locks/supervisor_lock.hpp"
#include "base/process/process.hpp"
#include "base/process/thread_signals.hpp"
#include "base/process/uncancelled.hpp"
#include "core/file/content_lock.hpp"
#include "core/file/descriptor.hpp"
#include "core/file/new_file.hpp"
#include "core/file/our_file.hpp"

namespace scute::core::medium {
namespace {

constexpr long tmpfs_magic = 0x01021994;  // linux/magic.h
constexpr long hugetlbfs_magic = 0x958458f6;

// Reserves huge pages; the caller reserves the rest in small ones.
void reserve_huge(int fd, uint64_t offset, uint64_t n) noexcept {
  void* at = map_aligned(n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  if (at == MAP_FAILED) return;
  make_huge(fd, offset, at, n);
  ::munmap(at, n);
}

// The process that had the file until now may have removed or replaced it (FILE-7).
void require_there(int fd, const std::string& path) {
  struct stat st{}, named{};
  if (::fstat(fd, &st) != 0) throw_errno("examine " + path, errno);
  if (st.st_nlink != 0) return;
  if (::stat(path.c_str(), &named) == 0 && named.st_dev == st.st_dev && named.st_ino == st.st_ino)
    return;  // a name in /proc
  if (::stat(path.c_str(), &named) == 0)
    throw failure(SCUTE_E_BUSY, path + " was replaced while it was opened; try again");
  throw failure(SCUTE_E_NOENT, path + " was removed while it was opened");
}

}  // namespace

file_handle file_handle::adopt(int fd, std::string path, uint64_t size,
                               std::shared_ptr<kept_lock> lock) noexcept {
  file_handle f;
  f.fd_ = descriptor(fd);
  f.size_ = size;
  f.path_ = std::move(path);
  f.lock_ = std::move(lock);
  return f;
}

// SUPLOCK-2
void file_handle::look_for_supervisor() const {
  if (!for_supervisor::here() && is_held_by_supervisor(fd()))
    throw failure(SCUTE_E_BUSY,
                  path_ +
                      " is in use by a `scute shield run`: its program has the file open, or has "
                      "just ended and is being written back; try again in a moment");
}

void file_handle::lock(access wanted) {
  lock_ = std::make_shared<kept_lock>();
  const int e = lock_->take(fd(), of_content(wanted));
  if (e == EBUSY)
    throw failure(SCUTE_E_BUSY, path_ +
                                    " is open in another process, or elsewhere in this one; close "
                                    "it there first");
  if (e == ENOLCK) refuse_unlockable(path_);
  if (e != 0) throw_errno("lock " + path_, e);
}

file_handle file_handle::open(const std::string& path, access wanted) {
  const bool read_only = wanted == access::read;
  file_handle f;
  f.path_ = path;
  const int fd =
      open_registered(path.c_str(), (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int e = errno;
    const bool nowhere = leads_nowhere(path);
    errno = e;
    if (nowhere) refuse_dangling(SCUTE_E_NOENT, path);
    if (errno == ENOENT)
      throw failure(SCUTE_E_NOENT, "there is no pool at " + path +
                                       "; make one with scute_create() or `scute create`");
    if (errno == EISDIR) throw failure(SCUTE_E_FORMAT, path + " is a directory, so it is no pool");
    if ((errno == EACCES || errno == EROFS) && !read_only && ::access(path.c_str(), R_OK) == 0)
      throw failure(SCUTE_E_READONLY,
                    path +
                        " may only be read; open it with SCUTE_READONLY, or change the permissions "
                        "of the file or of its file system");
    throw_errno("open " + path, errno);
  }
  f.fd_ = descriptor(fd);
  struct stat st{};
  if (::fstat(fd, &st) != 0) throw_errno("examine " + path, errno);
  if (!S_ISREG(st.st_mode))
    throw failure(SCUTE_E_FORMAT, path + " is not a regular file, so it is no pool");
  f.look_for_supervisor();
  f.lock(wanted);
  f.look_for_supervisor();
  require_there(fd, path);
  if (!read_only) remove_leftover(path);
  // A file that is only read keeps the mark of OURS-4.
  if (!read_only && !unmark_finished(fd)) throw_errno("write " + path, errno);
  if (::fstat(fd, &st) != 0) throw_errno("examine " + path, errno);
  f.size_ = static_cast<uint64_t>(st.st_size);
  return f;
}

int file_handle::reserve(uint64_t offset, uint64_t n) const noexcept {
  const length_signal_held now;
  int e = 0;
  do {
    e = ::posix_fallocate(fd(), static_cast<off_t>(offset), static_cast<off_t>(n));
  } while (e == EINTR);
  // If blocks cannot be reserved (and the C library cannot emulate it), nothing is promised.
  return e == EOPNOTSUPP || e == EINVAL ? 0 : e;
}

int file_handle::grow(uint64_t offset, uint64_t n) const noexcept {
  const length_signal_held now;
  struct stat st{};
  const auto end = static_cast<off_t>(offset + n);
  if (::fstat(fd(), &st) != 0) return errno;
  // Bytes after `offset` are those of an opener that did not use them. The file is cut there first,
  // so that it grows by zeros.
  if (st.st_size > static_cast<off_t>(offset) && ::ftruncate(fd(), static_cast<off_t>(offset)) != 0)
    return errno;
  const int e = reserve(offset, n);
  if (e == 0 && ::fstat(fd(), &st) == 0 && st.st_size >= end) return 0;
  if (e == 0 && ::ftruncate(fd(), end) == 0) return 0;
  const int why = e != 0 ? e : errno;
  // Undone: a momentary shortage must not leave a longer file for ever.
  cut(offset);
  return why;
}

bool file_handle::cut(uint64_t offset) const noexcept {
  return ::ftruncate(fd(), static_cast<off_t>(offset)) == 0;
}

int file_handle::fill_holes(uint64_t offset, uint64_t n) const noexcept {
  if (fd() < 0) return EBADF;
  const auto end = static_cast<off_t>(offset + n);
  for (auto at = static_cast<off_t>(offset); at < end;) {
    const off_t hole = ::lseek(fd(), at, SEEK_HOLE);
    if (hole < 0 || hole >= end) break;  // no hole, or none that the file system knows of
    const off_t data = ::lseek(fd(), hole, SEEK_DATA);
    const off_t to = data < 0 ? end : std::min(data, end);
    if (const int e = reserve(static_cast<uint64_t>(hole), static_cast<uint64_t>(to - hole));
        e != 0)
      return e;
    at = to;
  }
  return 0;
}

void file_handle::require_room(uint64_t n, const std::string& what) const {
  struct statfs fs{};
  struct stat st{};
  // A file system that names no size has no limit.
  if (::fstatfs(fd(), &fs) != 0 || ::fstat(fd(), &st) != 0 || fs.f_blocks == 0) return;
  const auto unit = static_cast<uint64_t>(fs.f_frsize != 0 ? fs.f_frsize : fs.f_bsize);
  // Some blocks are for root alone.
  const uint64_t free = (::geteuid() == 0 ? fs.f_bfree : fs.f_bavail) * unit;
  if (n <= static_cast<uint64_t>(st.st_blocks) * 512 + free) return;
  errno = ENOSPC;
  throw failure(SCUTE_E_NOSPC, "the file system of " + path_ + " has " + std::to_string(free) +
                                   " bytes free, and " + what + " takes " + std::to_string(n) +
                                   "; make room there, or choose a smaller size");
}

void file_handle::reserve_all(void (*progress)(void*, uint64_t, uint64_t),
                              void* progress_arg) const {
  constexpr uint64_t step = uint64_t{64} << 20;
  const bool tmpfs = on_tmpfs();
  require_room(size_, "a file of that size");
  for (uint64_t at = 0; at < size_; at += step) {
    const uint64_t n = std::min(step, size_ - at);
    if (tmpfs) reserve_huge(fd(), at, n);
    if (const int e = reserve(at, n); e != 0)
      throw_errno("reserve " + std::to_string(size_) + " bytes for " + path_, e);
    if (progress != nullptr) progress(progress_arg, at + n, size_);
  }
}

bool file_handle::read(uint64_t offset, void* to, size_t n) const noexcept {
  const uncancelled now;
  auto* out = static_cast<std::byte*>(to);
  while (n != 0) {
    const ssize_t got = ::pread(fd(), out, n, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out += got;
    offset += static_cast<uint64_t>(got);
    n -= static_cast<size_t>(got);
  }
  return true;
}

bool file_handle::is_only_zeros() const {
  std::vector<char> bytes(size_t{1} << 20);
  for (off_t at = 0; at < static_cast<off_t>(size_);) {
    // If the file system does not report holes, all bytes are data.
    const off_t data = ::lseek(fd(), at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    at = std::max(at, data);
    const ssize_t got = ::pread(fd(), bytes.data(), bytes.size(), at);
    if (got < 0) throw_errno("read " + path_, errno);
    if (got == 0) break;
    if (std::any_of(bytes.begin(), bytes.begin() + got, [](char c) { return c != 0; }))
      return false;
    at += got;
  }
  return true;
}

bool file_handle::on_tmpfs() const {
  struct statfs fs{};
  if (::fstatfs(fd(), &fs) != 0) throw_errno("examine the file system of " + path_, errno);
  const auto type = static_cast<long>(fs.f_type);
  return type == tmpfs_magic || type == hugetlbfs_magic;
}

}  // namespace scute::core::medium
