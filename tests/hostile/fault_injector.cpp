// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/fault_injector.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "hostile/bad_sectors.hpp"
#include "hostile/lossy_disk.hpp"
#include "hostile/lossy_folder.hpp"

namespace scute::test {

struct faults::plan {
  bool armed;
  bool failing;  // false: only count
  bool lasting;
  bool hit;
  call kind;
  int error;
  uint64_t nth;
  uint64_t seen[call_count];
  bool handed_over;
};

namespace {

// Zeros, so that it can be looked at from the first malloc() on.
thread_local constinit faults::plan mine{};
constinit int standing[call_count]{};  // with atomic builtins, see below

constinit uint64_t asked_of_mincore = 0;

// malloc() is called before a sanitizer has made its shadow memory, so nothing on its way may be
// instrumented; that includes the inline functions of the standard library.
#define EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

// The errno that this call shall fail with, or 0.
EARLY int fault(call c) noexcept {
  const auto i = static_cast<size_t>(c);
  if (const int e = __atomic_load_n(&standing[i], __ATOMIC_RELAXED); e != 0) return e;
  if (!mine.armed) return 0;
  const uint64_t n = ++mine.seen[i];
  if (!mine.failing || c != mine.kind || (mine.lasting ? n < mine.nth : n != mine.nth)) return 0;
  mine.hit = true;
  return mine.error;
}

EARLY bool fails(call c) noexcept {
  const int e = fault(c);
  if (e != 0) errno = e;
  return e != 0;
}

char situation[512];
void on_crash(int signal) {
  constexpr char lead[] = "\nat the time: ";
  [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, lead, sizeof lead - 1);
  n = ::write(STDERR_FILENO, situation, std::strlen(situation));
  n = ::write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

const char* call_name(call c) {
  constexpr const char* names[] = {"memory",  "mmap",      "open",      "fcntl",     "fstat",
                                   "fstatfs", "ftruncate", "fallocate", "msync",     "fdatasync",
                                   "fsync",   "pread",     "pwrite",    "getrandom", "rename",
                                   "linkat",  "unlink",    "access"};
  static_assert(std::size(names) == call_count);
  return names[static_cast<size_t>(c)];
}

namespace faults {

void arm(call c, uint64_t nth, int error, bool lasting) {
  mine = {true, true, lasting, false, c, error, nth, {}, false};
}
uint64_t residency_asked() {
  return __atomic_load_n(&asked_of_mincore, __ATOMIC_RELAXED);
}
void count() {
  mine = {true, false, false, false, call::memory, 0, 0, {}, false};
}
outcome disarm() {
  mine.armed = false;
  outcome o;
  std::copy(std::begin(mine.seen), std::end(mine.seen), o.calls.begin());
  o.hit = mine.hit;
  return o;
}
plan* hand_over() {
  mine.handed_over = mine.armed;
  mine.armed = false;
  return &mine;
}
taken_over::taken_over(plan* from) : from_(from) {
  mine = *from;
  mine.armed = from->handed_over;
}
taken_over::~taken_over() {
  mine.armed = false;
  *from_ = mine;
}
void always(call c, int error) {
  __atomic_store_n(&standing[static_cast<size_t>(c)], error, __ATOMIC_RELAXED);
}
void describe(const std::string& text) {
  for (const int s : {SIGABRT, SIGSEGV, SIGBUS}) std::signal(s, on_crash);
  std::snprintf(situation, sizeof situation, "%s", text.c_str());
}

}  // namespace faults
}  // namespace scute::test

using scute::test::bad_sectors;
using scute::test::call;
using scute::test::fails;
using scute::test::fault;
using scute::test::lossy_disk;
using scute::test::lossy_folder;

// ---- memory -------------------------------------------------------------------------------------

// ThreadSanitizer's malloc() cannot be called from a replacement before it has begun; there only
// operator new fails.
#if !defined(__SANITIZE_THREAD__)
// The allocator that the names lead to: glibc's own, or the sanitizer's.
#if defined(__SANITIZE_ADDRESS__)
#define BEHIND(name) __interceptor_##name
#else
#define BEHIND(name) __libc_##name
#endif

extern "C" {
void* BEHIND(malloc)(size_t n);
void* BEHIND(calloc)(size_t n, size_t size);
void* BEHIND(realloc)(void* p, size_t n);
void* BEHIND(memalign)(size_t alignment, size_t n);

EARLY void* malloc(size_t n) noexcept {
  return fails(call::memory) ? nullptr : BEHIND(malloc)(n);
}
EARLY void* calloc(size_t n, size_t size) noexcept {
  return fails(call::memory) ? nullptr : BEHIND(calloc)(n, size);
}
EARLY void* realloc(void* p, size_t n) noexcept {
  return fails(call::memory) ? nullptr : BEHIND(realloc)(p, n);
}
EARLY void* memalign(size_t alignment, size_t n) noexcept {
  return fails(call::memory) ? nullptr : BEHIND(memalign)(alignment, n);
}
EARLY void* aligned_alloc(size_t alignment, size_t n) noexcept {
  return fails(call::memory) ? nullptr : BEHIND(memalign)(alignment, n);
}
EARLY int posix_memalign(void** p, size_t alignment, size_t n) noexcept {
  if (const int e = fault(call::memory); e != 0) return e;
  *p = BEHIND(memalign)(alignment, n);
  return *p == nullptr ? ENOMEM : 0;
}
}  // extern "C"
#endif  // no ThreadSanitizer

namespace {

void* allocate(size_t n, size_t alignment = 0) noexcept {
#if defined(__SANITIZE_THREAD__)
  if (fails(call::memory)) return nullptr;
#endif
  if (n == 0) n = 1;
  return alignment == 0 ? std::malloc(n) : std::aligned_alloc(alignment, n);
}

}  // namespace

// A sanitizer's operator new does not call malloc(), so they are all replaced.
void* operator new(size_t n) {
  if (void* p = allocate(n)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t n, std::align_val_t alignment) {
  if (void* p = allocate(n, static_cast<size_t>(alignment))) return p;
  throw std::bad_alloc();
}
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return allocate(n);
}
void* operator new[](size_t n) {
  return operator new(n);
}
void* operator new[](size_t n, std::align_val_t alignment) {
  return operator new(n, alignment);
}
void* operator new[](size_t n, const std::nothrow_t& t) noexcept {
  return operator new(n, t);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  std::free(p);
}
void operator delete[](void* p) noexcept {
  std::free(p);
}
void operator delete[](void* p, size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  std::free(p);
}

// ---- system calls -------------------------------------------------------------------------------

// Straight to the kernel: looking for the functions that are replaced here would take some of them.
#define CALL(type, name, ...)                          \
  if (fails(call::name)) return static_cast<type>(-1); \
  return static_cast<type>(::syscall(__VA_ARGS__))

extern "C" {

EARLY void* mmap(void* at, size_t n, int access, int flags, int fd, off_t offset) noexcept {
  if (fails(call::mmap)) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, n, access, flags, fd, offset));
}
EARLY int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  CALL(int, open, SYS_openat, AT_FDCWD, path, flags, mode);
}
EARLY int fcntl(int fd, int what, ...) {
  va_list more;
  va_start(more, what);
  void* argument = va_arg(more, void*);
  va_end(more);
  CALL(int, fcntl, SYS_fcntl, fd, what, argument);
}
EARLY int fstat(int fd, struct stat* to) noexcept {
  CALL(int, fstat, SYS_fstat, fd, to);
}
EARLY int fstatfs(int fd, struct statfs* to) noexcept {
  if (fails(call::fstatfs)) return -1;
  const auto result = static_cast<int>(::syscall(SYS_fstatfs, fd, to));
  if (result == 0 && lossy_disk::has(fd)) to->f_type = 0xef53;  // wherever the file lies: ext4
  return result;
}
EARLY int ftruncate(int fd, off_t length) noexcept {
  CALL(int, ftruncate, SYS_ftruncate, fd, length);
}
EARLY int posix_fallocate(int fd, off_t at, off_t n) {
  if (const int e = fault(call::fallocate); e != 0) return e;
  return ::syscall(SYS_fallocate, fd, 0, at, n) == 0 ? 0 : errno;
}
EARLY int msync(void* at, size_t n, int flags) {
  lossy_folder::before("msync");
  const bool failing = fails(call::msync);
  const int error = errno;
  lossy_disk::synced(at, n, !failing);
  errno = error;
  if (failing) return -1;
  const auto result = static_cast<int>(::syscall(SYS_msync, at, n, flags));
  if (result == 0) lossy_folder::synced(at, n);
  return result;
}
EARLY int fdatasync(int fd) {
  lossy_folder::before("fdatasync");
  const bool failing = fails(call::fdatasync);
  const int error = errno;
  lossy_disk::synced(fd, !failing);
  errno = error;
  if (failing) return -1;
  const auto result = static_cast<int>(::syscall(SYS_fdatasync, fd));
  if (result == 0) lossy_folder::synced(fd);
  return result;
}
EARLY int posix_fadvise(int fd, off_t at, off_t n, int advice) noexcept {
  if (advice == POSIX_FADV_DONTNEED) lossy_disk::dropped(fd);
  return ::syscall(SYS_fadvise64, fd, at, n, advice) == 0 ? 0 : errno;
}
EARLY int mincore(void* at, size_t n, unsigned char* to) noexcept {
  __atomic_fetch_add(&scute::test::asked_of_mincore, n, __ATOMIC_RELAXED);
  const auto result = static_cast<int>(::syscall(SYS_mincore, at, n, to));
  if (result == 0 && lossy_disk::has_dropped(at)) std::memset(to, 0, (n + 4095) / 4096);
  return result;
}
EARLY int fsync(int fd) {
  lossy_folder::before("fsync");
  const bool failing = fails(call::fsync);
  const int error = errno;
  lossy_disk::synced(fd, !failing);
  errno = error;
  if (failing) return -1;
  const auto result = static_cast<int>(::syscall(SYS_fsync, fd));
  if (result == 0) lossy_folder::synced(fd);
  return result;
}
EARLY ssize_t pread(int fd, void* to, size_t n, off_t at) {
  if (bad_sectors::reading(fd, static_cast<uint64_t>(at), n)) {
    errno = EIO;
    return -1;
  }
  CALL(ssize_t, pread, SYS_pread64, fd, to, n, at);
}
EARLY ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  if (fails(call::pwrite)) return -1;
  if (bad_sectors::writing(fd, static_cast<uint64_t>(at), n)) {
    errno = EIO;
    return -1;
  }
  const auto result = static_cast<ssize_t>(::syscall(SYS_pwrite64, fd, from, n, at));
  if (result > 0) lossy_disk::written(fd, static_cast<uint64_t>(at), static_cast<size_t>(result));
  return result;
}
EARLY ssize_t getrandom(void* to, size_t n, unsigned flags) {
  CALL(ssize_t, getrandom, SYS_getrandom, to, n, flags);
}
EARLY int rename(const char* from, const char* to) noexcept {
  lossy_folder::before("rename");
  CALL(int, rename, SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
EARLY int linkat(int from_folder, const char* from, int to_folder, const char* to,
                 int flags) noexcept {
  lossy_folder::before("linkat");
  CALL(int, linkat, SYS_linkat, from_folder, from, to_folder, to, flags);
}
EARLY int unlink(const char* path) noexcept {
  lossy_folder::before("unlink");
  CALL(int, unlink, SYS_unlinkat, AT_FDCWD, path, 0);
}
EARLY int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                    unsigned flags) noexcept {
  lossy_folder::before("renameat2");
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
EARLY int chmod(const char* path, mode_t mode) noexcept {
  lossy_folder::before("chmod");
  return static_cast<int>(::syscall(SYS_fchmodat, AT_FDCWD, path, mode));
}
EARLY int fchmod(int fd, mode_t mode) noexcept {
  lossy_folder::before("fchmod");
  return static_cast<int>(::syscall(SYS_fchmod, fd, mode));
}
EARLY int access(const char* path, int mode) noexcept {
  CALL(int, access, SYS_faccessat, AT_FDCWD, path, mode);
}

}  // extern "C"
