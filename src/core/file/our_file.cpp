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

bool has_only_zeros(int fd, off_t size) noexcept {
  std::array<char, 16384> some{};
  for (off_t at = 0; at < size;) {
    // If the file system does not report holes, all bytes are data.
    const off_t data = ::lseek(fd, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    errno = 0;
    at = std::max(at, data);
    const ssize_t got = ::pread(fd, some.data(), some.size(), at);
    if (got < 0) return false;
    if (got == 0) break;
    if (std::any_of(some.begin(), some.begin() + got, [](char c) { return c != 0; })) return false;
    at += got;
  }
  return true;
}

}  // namespace

bool is_ours(int fd) noexcept {
  const int keep = errno;
  struct stat st{};
  errno = 0;
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return false;
  if (!has_mark(fd, 0) && !has_mark(fd, file_page) &&
      !has_mark(fd, st.st_size / file_page * file_page - file_page) &&
      !has_only_zeros(fd, st.st_size))
    return false;
  errno = keep;
  return true;
}

bool is_ours(const std::string& path) noexcept {
  const descriptor file(open_registered(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file.get() >= 0 && is_ours(file.get());
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
