// SPDX-License-Identifier: BSD-3-Clause
#include "disk/small_disk.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace scute::test {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t pages_max = 8192;  // of a file: 32 MiB
constexpr unsigned files_max = 16;
constexpr unsigned mappings_max = 64;

struct file {
  uint64_t device, inode;  // 0: no file
  bool has_block[pages_max];
};

struct disk {
  uint64_t free;
  uint64_t next;  // of files, to be forgotten
  file files[files_max];
};

struct mapping {
  std::byte* base;
  uint64_t size, device, inode, offset;
};

// Signal handlers of the library write to files, so nothing here allocates, and one lock does for
// all.
constinit disk* the_disk = nullptr;
constinit bool reports_free = false;
constinit mapping mappings[mappings_max]{};
constinit std::mutex turn;

// mmap() is called before a sanitizer has made its shadow memory, so nothing on its way may be
// instrumented until there is a disk.
#define EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

EARLY void* map(void* at, size_t n, int access, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, n, access, flags, fd, offset));
}

// The file that a descriptor is of. Pages of it that have data already have blocks. Null: not a
// regular file.
file* find(int fd) noexcept {
  struct stat st{};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return nullptr;
  for (file& f : the_disk->files)
    if (f.device == st.st_dev && f.inode == st.st_ino) return &f;
  file& f = the_disk->files[the_disk->next++ % files_max];
  f = {st.st_dev, st.st_ino, {}};
  for (off_t at = 0; (at = ::lseek(fd, at, SEEK_DATA)) >= 0;) {
    const off_t end = ::lseek(fd, at, SEEK_HOLE);
    for (auto i = static_cast<uint64_t>(at) / page; i * page < static_cast<uint64_t>(end); ++i)
      if (i < pages_max) f.has_block[i] = true;
    at = end;
  }
  return &f;
}

// Access to a page of all mappings of a file.
void set_access(const file& f, uint64_t i, int access) noexcept {
  for (const mapping& m : mappings)
    if (m.base != nullptr && m.device == f.device && m.inode == f.inode && i * page >= m.offset &&
        i * page < m.offset + m.size)
      ::mprotect(m.base + (i * page - m.offset), page, access);
}

// Gives blocks to the pages of [at, at + n): all or none.
int take(file& f, uint64_t at, uint64_t n) noexcept {
  const uint64_t first = at / page, last = std::min((at + n + page - 1) / page, pages_max);
  uint64_t missing = 0;
  for (uint64_t i = first; i < last; ++i) missing += f.has_block[i] ? 0 : 1;
  if (missing > the_disk->free) return ENOSPC;
  the_disk->free -= missing;
  for (uint64_t i = first; i < last; ++i) {
    if (f.has_block[i]) continue;
    f.has_block[i] = true;
    set_access(f, i, PROT_READ | PROT_WRITE);
  }
  return 0;
}

int reserve(int fd, off_t at, off_t n) noexcept {
  const std::lock_guard hold(turn);
  file* f = find(fd);
  return f == nullptr ? 0 : take(*f, static_cast<uint64_t>(at), static_cast<uint64_t>(n));
}

// In a program that was started with the variable.
[[maybe_unused]] const bool begun = [] {
  const char* name = std::getenv("SCUTE_TEST_SMALL_DISK");
  if (name == nullptr) return false;
  const int fd = ::open(name, O_RDWR | O_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, sizeof(disk)) != 0) std::abort();
  void* at = map(nullptr, sizeof(disk), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) std::abort();
  the_disk = static_cast<disk*>(at);
  return true;
}();

}  // namespace

namespace small_disk {

void begin(uint64_t pages) {
  static disk one;
  const std::lock_guard hold(turn);
  std::memset(&one, 0, sizeof one);
  one.free = pages;
  the_disk = &one;
}
void end() {
  the_disk = nullptr;
  reports_free = false;
}
void report_free() {
  reports_free = true;
}
void set_free(uint64_t pages) {
  the_disk->free = pages;
}
uint64_t free_pages() {
  return the_disk->free;
}

}  // namespace small_disk
}  // namespace scute::test

using namespace scute::test;

// Straight to the kernel; looking for the functions that are replaced here would take some of them.
namespace {

void* mapped(void* got, size_t n, int fd, off_t offset) noexcept {
  const std::lock_guard hold(turn);
  file* f = find(fd);
  mapping* m = std::find_if(mappings, mappings + mappings_max,
                            [](const mapping& x) { return x.base == nullptr; });
  if (f == nullptr) return got;
  if (m == mappings + mappings_max) std::abort();
  *m = {static_cast<std::byte*>(got), n, f->device, f->inode, static_cast<uint64_t>(offset)};
  for (uint64_t i = 0; i * page < n; ++i) {
    const uint64_t at_page = i + m->offset / page;
    if (at_page < pages_max && !f->has_block[at_page])
      ::mprotect(m->base + i * page, page, PROT_NONE);
  }
  return got;
}

void unmapped(const void* at) noexcept {
  const std::lock_guard hold(turn);
  for (mapping& m : mappings)
    if (m.base == at) m = {};
}

}  // namespace

extern "C" {

EARLY void* mmap(void* at, size_t n, int access, int flags, int fd, off_t offset) noexcept {
  void* got = map(at, n, access, flags, fd, offset);
  return fd < 0 || the_disk == nullptr || got == MAP_FAILED ? got : mapped(got, n, fd, offset);
}
EARLY int munmap(void* at, size_t n) noexcept {
  if (the_disk != nullptr) unmapped(at);
  return static_cast<int>(::syscall(SYS_munmap, at, n));
}
int ftruncate(int fd, off_t length) noexcept {
  if (the_disk != nullptr) {
    const std::lock_guard hold(turn);
    struct stat st{};
    // A new file may have the inode of an old one.
    if (file* f = find(fd); f != nullptr && ::fstat(fd, &st) == 0 && st.st_size == 0)
      *f = {f->device, f->inode, {}};
  }
  return static_cast<int>(::syscall(SYS_ftruncate, fd, length));
}
int posix_fallocate(int fd, off_t at, off_t n) {
  if (the_disk != nullptr)
    if (const int e = reserve(fd, at, n); e != 0) return e;
  return ::syscall(SYS_fallocate, fd, 0, at, n) == 0 ? 0 : errno;
}
int fallocate(int fd, int mode, off_t at, off_t n) {
  if (the_disk != nullptr && (mode & FALLOC_FL_PUNCH_HOLE) == 0)
    if (const int e = reserve(fd, at, n); e != 0) {
      errno = e;
      return -1;
    }
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, at, n));
}
int fstatfs(int fd, struct statfs* to) noexcept {
  if (::syscall(SYS_fstatfs, fd, to) != 0) return -1;
  if (the_disk != nullptr && reports_free)
    to->f_bfree = to->f_bavail = the_disk->free * page / static_cast<uint64_t>(to->f_bsize);
  return 0;
}
ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  if (the_disk != nullptr)
    if (const int e = reserve(fd, at, static_cast<off_t>(n)); e != 0) {
      errno = e;
      return -1;
    }
  return ::syscall(SYS_pwrite64, fd, from, n, at);
}

}  // extern "C"
