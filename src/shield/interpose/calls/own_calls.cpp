// SPDX-License-Identifier: BSD-3-Clause
// The calls of the core, of the C++ library in this library and of the runtime itself. The linker
// redirects them here (--wrap), so that no call of ours counts as one of the program's.
//
// OWN-1 A call from inside this library reaches the next function of that name, never an interposed
//    one: the core opens FILE, while programs get a view of it.
// OWN-2 Our descriptors have high numbers: a program may dup2() to any low one, and relies on
//    getting the lowest free one.
// OWN-3 An object that defines an interposed function is compiled from one source: the linker does
//    not redirect calls of a function to itself, and so none inside the object that defines it.
#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/libraries/real_lookup.hpp"

using namespace scute::core::interpose;

namespace {

// Moves a descriptor away from the program's numbers, if there is room.
int raised(int fd) noexcept {
  if (fd < 0) return fd;
  const int keep = errno;
  const int high = keep_own(fd);
  errno = keep;
  if (high < 0) {
    remember_own(fd);
    return fd;
  }
  next::close(fd);
  return high;
}

}  // namespace

#define SCUTE_OWN(type, name, parameters)                         \
  extern "C" type own_##name parameters __asm__("__wrap_" #name); \
  extern "C" type own_##name parameters
#define SCUTE_OWN_ALIAS(type, second, name, parameters)                            \
  extern "C" [[gnu::alias("__wrap_" #name)]] type own_##second parameters __asm__( \
      "__"                                                                         \
      "wrap_" #second)

// The C library of 64-bit systems has one width of offsets: NAME64 is NAME.
SCUTE_OWN(int, open, (const char* path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
  va_end(more);
  return raised(next::open(path, flags, mode));
}
SCUTE_OWN_ALIAS(int, open64, open, (const char* path, int flags, ...));
SCUTE_OWN(int, openat, (int at, const char* path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
  va_end(more);
  return raised(next::openat(at, path, flags, mode));
}
SCUTE_OWN_ALIAS(int, openat64, openat, (int at, const char* path, int flags, ...));
SCUTE_OWN(int, close, (int fd)) {
  forget_own(fd);
  return next::close(fd);
}
SCUTE_OWN(int, dup, (int fd)) {
  return raised(next::dup(fd));
}
SCUTE_OWN(int, fcntl, (int fd, int command, ...)) {
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  const int result = next::fcntl(fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? raised(result) : result;
}
SCUTE_OWN_ALIAS(int, fcntl64, fcntl, (int fd, int command, ...));

#define SCUTE_FORWARD(type, name, parameters, arguments) \
  SCUTE_OWN(type, name, parameters) {                    \
    return next::name arguments;                         \
  }
SCUTE_FORWARD(FILE*, fopen, (const char* path, const char* mode), (path, mode))
SCUTE_OWN_ALIAS(FILE*, fopen64, fopen, (const char* path, const char* mode));
SCUTE_FORWARD(int, fclose, (FILE * file), (file))
SCUTE_FORWARD(int, dup2, (int fd, int to), (fd, to))
SCUTE_FORWARD(int, dup3, (int fd, int to, int flags), (fd, to, flags))
SCUTE_FORWARD(int, flock, (int fd, int operation), (fd, operation))
SCUTE_FORWARD(int, lockf, (int fd, int command, off_t n), (fd, command, n))
SCUTE_FORWARD(int, fstat, (int fd, struct stat* to), (fd, to))
SCUTE_OWN_ALIAS(int, fstat64, fstat, (int fd, struct stat* to));
SCUTE_FORWARD(int, fstatat, (int at, const char* path, struct stat* to, int flags),
              (at, path, to, flags))
SCUTE_OWN_ALIAS(int, fstatat64, fstatat, (int at, const char* path, struct stat* to, int flags));
SCUTE_FORWARD(int, statx, (int at, const char* path, int flags, unsigned mask, struct statx* to),
              (at, path, flags, mask, to))
SCUTE_FORWARD(int, fstatfs, (int fd, struct statfs* to), (fd, to))
SCUTE_OWN_ALIAS(int, fstatfs64, fstatfs, (int fd, struct statfs* to));
SCUTE_FORWARD(int, fchmod, (int fd, mode_t mode), (fd, mode))
SCUTE_FORWARD(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
SCUTE_FORWARD(int, futimens, (int fd, const struct timespec* times), (fd, times))
SCUTE_FORWARD(int, utimensat, (int at, const char* path, const struct timespec* times, int flags),
              (at, path, times, flags))
SCUTE_FORWARD(int, unlink, (const char* path), (path))
SCUTE_FORWARD(int, unlinkat, (int at, const char* path, int flags), (at, path, flags))
SCUTE_FORWARD(int, remove, (const char* path), (path))
SCUTE_FORWARD(int, rename, (const char* from, const char* to), (from, to))
SCUTE_FORWARD(int, renameat, (int from_at, const char* from, int to_at, const char* to),
              (from_at, from, to_at, to))
SCUTE_FORWARD(int, renameat2,
              (int from_at, const char* from, int to_at, const char* to, unsigned flags),
              (from_at, from, to_at, to, flags))
SCUTE_FORWARD(void*, mmap, (void* at, size_t n, int access, int flags, int fd, off_t offset),
              (at, n, access, flags, fd, offset))
SCUTE_OWN_ALIAS(void*, mmap64, mmap,
                (void* at, size_t n, int access, int flags, int fd, off_t offset));
SCUTE_FORWARD(int, munmap, (void* at, size_t n), (at, n))
SCUTE_OWN(void*, mremap, (void* at, size_t n, size_t to, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  void* const place = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  return next::mremap(at, n, to, flags, place);
}
SCUTE_FORWARD(int, msync, (void* at, size_t n, int flags), (at, n, flags))
SCUTE_FORWARD(int, ftruncate, (int fd, off_t n), (fd, n))
SCUTE_OWN_ALIAS(int, ftruncate64, ftruncate, (int fd, off_t n));
SCUTE_FORWARD(int, truncate, (const char* path, off_t n), (path, n))
SCUTE_FORWARD(int, fallocate, (int fd, int mode, off_t offset, off_t n), (fd, mode, offset, n))
SCUTE_OWN_ALIAS(int, fallocate64, fallocate, (int fd, int mode, off_t offset, off_t n));
SCUTE_FORWARD(int, posix_fallocate, (int fd, off_t offset, off_t n), (fd, offset, n))
SCUTE_OWN_ALIAS(int, posix_fallocate64, posix_fallocate, (int fd, off_t offset, off_t n));
SCUTE_FORWARD(int, fsync, (int fd), (fd))
SCUTE_FORWARD(int, fdatasync, (int fd), (fd))
SCUTE_FORWARD(int, sync_file_range, (int fd, off_t offset, off_t n, unsigned flags),
              (fd, offset, n, flags))
SCUTE_FORWARD(void, sync, (), ())
SCUTE_FORWARD(int, syncfs, (int fd), (fd))
SCUTE_FORWARD(ssize_t, write, (int fd, const void* from, size_t n), (fd, from, n))
SCUTE_FORWARD(ssize_t, pwrite, (int fd, const void* from, size_t n, off_t at), (fd, from, n, at))
SCUTE_OWN_ALIAS(ssize_t, pwrite64, pwrite, (int fd, const void* from, size_t n, off_t at));
SCUTE_FORWARD(ssize_t, writev, (int fd, const struct iovec* from, int n), (fd, from, n))
SCUTE_FORWARD(ssize_t, pwritev, (int fd, const struct iovec* from, int n, off_t at),
              (fd, from, n, at))
SCUTE_OWN_ALIAS(ssize_t, pwritev64, pwritev, (int fd, const struct iovec* from, int n, off_t at));
SCUTE_FORWARD(ssize_t, copy_file_range,
              (int from, off_t* from_at, int to, off_t* to_at, size_t n, unsigned flags),
              (from, from_at, to, to_at, n, flags))
SCUTE_FORWARD(ssize_t, read, (int fd, void* to, size_t n), (fd, to, n))
SCUTE_FORWARD(ssize_t, pread, (int fd, void* to, size_t n, off_t at), (fd, to, n, at))
SCUTE_OWN_ALIAS(ssize_t, pread64, pread, (int fd, void* to, size_t n, off_t at));
SCUTE_FORWARD(ssize_t, readv, (int fd, const struct iovec* to, int n), (fd, to, n))
SCUTE_FORWARD(ssize_t, preadv, (int fd, const struct iovec* to, int n, off_t at), (fd, to, n, at))
SCUTE_OWN_ALIAS(ssize_t, preadv64, preadv, (int fd, const struct iovec* to, int n, off_t at));
SCUTE_FORWARD(ssize_t, recvmsg, (int fd, struct msghdr* what, int flags), (fd, what, flags))
SCUTE_FORWARD(off_t, lseek, (int fd, off_t at, int from), (fd, at, from))
SCUTE_OWN_ALIAS(off_t, lseek64, lseek, (int fd, off_t at, int from));
SCUTE_FORWARD(int, sigaction, (int signal, const struct sigaction* act, struct sigaction* old),
              (signal, act, old))
SCUTE_FORWARD(int, madvise, (void* at, size_t n, int advice), (at, n, advice))
SCUTE_OWN(long, syscall, (long number, ...)) {
  va_list more;
  va_start(more, number);
  long a[6];
  for (long& x : a) x = va_arg(more, long);
  va_end(more);
  return next::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
SCUTE_FORWARD(void*, dlopen, (const char* path, int how), (path, how))
// Called from here, RTLD_NEXT searches after this library.
SCUTE_OWN(void*, dlsym, (void* handle, const char* name)) {
  return real_lookup::dlsym()(handle, name);
}
