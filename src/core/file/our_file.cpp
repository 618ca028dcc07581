// SPDX-License-Identifier: BSD-3-Clause
#include "core/file/our_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/process/thread_signals.hpp"
#include "core/file/descriptor.hpp"

namespace scute::core::medium {
namespace {

constexpr off_t file_page = 4096;

bool has_mark(int fd, off_t at) noexcept {
  char begin[mark_size];
  if (at < 0 || ::pread(fd, begin, sizeof begin, at) != ssize_t{sizeof begin}) return false;
  const auto is = [&](const char* mark) { return std::memcmp(begin, mark, mark_size) == 0; };
  return is(pool_mark) || is(log_mark) || is(store_mark) || is(making_mark);
}

bool has_making_mark(int fd, off_t at) noexcept {
  char some[mark_size];
  return at >= 0 && ::pread(fd, some, sizeof some, at) == ssize_t{sizeof some} &&
         std::memcmp(some, making_mark, mark_size) == 0;
}

// Where the mark at the end of a file is; -1: it has none.
off_t end_mark(int fd, const struct stat& st) noexcept {
  const off_t at = st.st_size - off_t{mark_size};
  return at % file_page == 0 && has_making_mark(fd, at) ? at : -1;
}

bool has_only_zeros(int fd, off_t size) noexcept {
  std::array<char, 16384> some{};
  for (off_t at = 0; at < size;) {
    // If the file system does not report holes, all bytes are data.
    const off_t data = ::lseek(fd, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    errno = 0;
    at = std::max(at, data);
    if (at >= size) break;
    const auto n = std::min(some.size(), static_cast<size_t>(size - at));
    const ssize_t got = ::pread(fd, some.data(), n, at);
    if (got < 0) return false;
    if (got == 0) break;
    if (std::any_of(some.begin(), some.begin() + got, [](char c) { return c != 0; })) return false;
    at += got;
  }
  return true;
}

bool has_our_bytes(int fd, off_t size) noexcept {
  const auto has = [&](off_t at) { return at + off_t{mark_size} <= size && has_mark(fd, at); };
  return has(0) || has(file_page) || has(size / file_page * file_page - file_page) ||
         has_only_zeros(fd, size);
}

}  // namespace

bool is_ours(int fd) noexcept {
  const int keep = errno;
  struct stat st{};
  errno = 0;
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return false;
  if (!has_our_bytes(fd, st.st_size)) return false;
  errno = keep;
  return true;
}

bool is_ours(const std::string& path) noexcept {
  const descriptor file(open_registered(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file.get() >= 0 && is_ours(file.get());
}

void mark_unfinished(int fd, uint64_t size) noexcept {
  const length_signal_held now;
  if (::pwrite(fd, making_mark, mark_size, static_cast<off_t>(size)) != ssize_t{mark_size})
    static_cast<void>(::ftruncate(fd, static_cast<off_t>(size)));
}

bool is_unfinished(int fd) noexcept {
  struct stat st{};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return false;
  return has_making_mark(fd, 0) || end_mark(fd, st) >= 0 || has_only_zeros(fd, st.st_size);
}

bool unmark_finished(int fd) noexcept {
  struct stat st{};
  if (::fstat(fd, &st) != 0) return false;
  const off_t size = end_mark(fd, st);
  return size < 0 || !has_our_bytes(fd, size) || unmark_finished(fd, static_cast<uint64_t>(size));
}

bool unmark_finished(int fd, uint64_t size) noexcept {
  return ::ftruncate(fd, static_cast<off_t>(size)) == 0 && ::fsync(fd) == 0;
}

bool still_named(int fd, const std::string& name) noexcept {
  struct stat mine{}, there{};
  return ::fstat(fd, &mine) == 0 && ::lstat(name.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

void unlink_named(int fd, const std::string& name) noexcept {
  if (still_named(fd, name)) ::unlink(name.c_str());
}

bool remove_ours(const std::string& path) noexcept {
  const descriptor file(open_registered(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return false;
  struct stat mine{}, there{};
  const bool same = ::fstat(file.get(), &mine) == 0 && ::stat(path.c_str(), &there) == 0 &&
                    mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
  if (same && is_ours(file.get())) return ::unlink(path.c_str()) == 0;
  errno = EEXIST;
  return false;
}

bool rename_to_free(const std::string& from, const std::string& to) noexcept {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // Not every file system supports that.
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return false;
  if (::link(from.c_str(), to.c_str()) != 0) return false;
  // FILE-6. (For two names of one file, rename changes nothing.)
  if (::rename(from.c_str(), to.c_str()) != 0) return false;
  ::unlink(from.c_str());
  return true;
}

}  // namespace scute::core::medium
