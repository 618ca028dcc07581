// SPDX-License-Identifier: BSD-3-Clause
// open(2) and its relatives.
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guard_mode.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/memory/resident_pages.hpp"
#include "shield/interpose/process/critical.hpp"

using namespace scute::core::interpose;

namespace {

unsigned mode_of(int flags, va_list more) noexcept {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, unsigned) : 0;
}

// The open() flags for fopen()'s mode.
int flags_of(const char* mode) noexcept {
  const bool both = std::strchr(mode, '+') != nullptr;
  int flags = both ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
  if (mode[0] == 'w') flags |= O_CREAT | O_TRUNC;
  if (mode[0] == 'a') flags |= O_CREAT | O_APPEND;
  if (std::strchr(mode, 'e') != nullptr) flags |= O_CLOEXEC;
  return flags;
}

FILE* opened_stream(const char* path, const char* mode, int flags) noexcept {
  FILE* const file = next::fopen(path, mode);
  if (file != nullptr || errno != EACCES) return file;
  const critical now;
  const guard_mode given(AT_FDCWD, path, flags);
  return given ? next::fopen(given.name(), mode) : nullptr;
}

// stdio keeps only the number of the file.
FILE* as_view(FILE* file, int flags) noexcept {
  if (file == nullptr) return nullptr;
  const int fd = ::fileno(file);
  if (shield_descriptor(fd, flags) && make_resident(fd)) {
    // Like the C library with a file opened for appending: ftell() returns the file's length.
    const int keep = errno;
    if ((flags & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY) && is_noted(fd))
      next::lseek(fd, 0, SEEK_END);
    errno = keep;
    return file;
  }
  const int why = errno;
  {
    const critical now;
    drop_descriptor(fd);
    next::fclose(file);
  }
  errno = why;
  return nullptr;
}

}  // namespace

// A thread may be cancelled in it, which unwinds.
int program_open_at(int at, const char* path, int flags, unsigned mode) {
  return cuts_shielded(at, path, flags) ? -1 : open_as_program(at, path, flags, mode);
}

SCUTE_INTERPOSED(int, open, (const char* path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = mode_of(flags, more);
  va_end(more);
  return program_open_at(AT_FDCWD, path, flags, mode);
}
SCUTE_INTERPOSED_ALIAS(int, open64, open, (const char* path, int flags, ...));
// The C library also exports some of its functions under older names.
SCUTE_INTERPOSED_ALIAS(int, __open, open, (const char* path, int flags, ...));
SCUTE_INTERPOSED_ALIAS(int, __open64, open, (const char* path, int flags, ...));

SCUTE_INTERPOSED(int, openat, (int at, const char* path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = mode_of(flags, more);
  va_end(more);
  return program_open_at(at, path, flags, mode);
}
SCUTE_INTERPOSED_ALIAS(int, openat64, openat, (int at, const char* path, int flags, ...));

// The form of open() with two arguments under _FORTIFY_SOURCE.
SCUTE_INTERPOSED(int, __open_2, (const char* path, int flags)) {
  return program_open_at(AT_FDCWD, path, flags, 0);
}
SCUTE_INTERPOSED_ALIAS(int, __open64_2, __open_2, (const char* path, int flags));
SCUTE_INTERPOSED(int, __openat_2, (int at, const char* path, int flags)) {
  return program_open_at(at, path, flags, 0);
}
SCUTE_INTERPOSED_ALIAS(int, __openat64_2, __openat_2, (int at, const char* path, int flags));

SCUTE_INTERPOSED(int, creat, (const char* path, mode_t mode)) {
  return program_open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
SCUTE_INTERPOSED_ALIAS(int, creat64, creat, (const char* path, mode_t mode));

SCUTE_INTERPOSED(FILE*, fopen, (const char* path, const char* mode)) {
  const int flags = flags_of(mode);
  if (cuts_shielded(AT_FDCWD, path, flags)) return nullptr;
  return as_view(opened_stream(path, mode, flags), flags);
}
SCUTE_INTERPOSED_ALIAS(FILE*, fopen64, fopen, (const char* path, const char* mode));
SCUTE_INTERPOSED_ALIAS(FILE*, _IO_fopen, fopen, (const char* path, const char* mode));

SCUTE_INTERPOSED(FILE*, freopen, (const char* path, const char* mode, FILE* file)) {
  const int flags = flags_of(mode), fd = ::fileno(file);
  const bool cuts = cuts_shielded(AT_FDCWD, path, flags);
  if (fd >= 0 && is_noted(fd) && !is_borrowed()) {
    // Its buffer is written to the view first.
    ::fflush(file);
    const critical now;
    drop_descriptor(fd);
  }
  if (!cuts) return as_view(next::freopen(path, mode, file), flags);
  next::fclose(file);
  errno = EBUSY;
  return nullptr;
}
SCUTE_INTERPOSED_ALIAS(FILE*, freopen64, freopen, (const char* path, const char* mode, FILE* file));

// The C library's own open() opens it: the name is in /dev/shm.
SCUTE_INTERPOSED(int, shm_open, (const char* name, int flags, mode_t mode)) {
  char path[300] = "/dev/shm/";
  while (name != nullptr && *name == '/') ++name;
  if (name != nullptr) std::strncat(path, name, sizeof path - std::strlen(path) - 1);
  if (cuts_shielded(AT_FDCWD, path, flags)) return -1;
  int fd = next::shm_open(name, flags, mode);
  if (fd < 0) fd = open_guarded(AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 || shield_descriptor(fd, flags)) return fd;
  const int why = errno;
  next::close(fd);
  errno = why;
  return -1;
}
