// SPDX-License-Identifier: BSD-3-Clause
// Interposed calls, by the names that this library uses where it acts like the program.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

#define SCUTE_PROGRAM(type, name, parameters) \
  extern "C" type program_##name parameters __asm__("scute_program_" #name)

// openat() and open(), with all arguments.
SCUTE_PROGRAM(int, open_at, (int at, const char* path, int flags, unsigned mode));
SCUTE_PROGRAM(int, close, (int fd));
SCUTE_PROGRAM(int, close_range, (unsigned first, unsigned last, int flags));
SCUTE_PROGRAM(int, dup, (int fd));
SCUTE_PROGRAM(int, dup2, (int fd, int to));
SCUTE_PROGRAM(int, dup3, (int fd, int to, int flags));
SCUTE_PROGRAM(int, fcntl, (int fd, int command, ...));
SCUTE_PROGRAM(int, flock, (int fd, int operation));
SCUTE_PROGRAM(int, truncate, (const char* path, off_t size));
SCUTE_PROGRAM(int, fsync, (int fd));
SCUTE_PROGRAM(int, fdatasync, (int fd));
SCUTE_PROGRAM(int, sync_file_range, (int fd, off_t offset, off_t n, unsigned flags));
SCUTE_PROGRAM(int, syncfs, (int fd));
SCUTE_PROGRAM(void, sync, ());
SCUTE_PROGRAM(int, unlinkat, (int at, const char* path, int flags));
SCUTE_PROGRAM(int, renameat2,
              (int from_at, const char* from, int to_at, const char* to, unsigned flags));
SCUTE_PROGRAM(ssize_t, recvmsg, (int fd, struct msghdr* what, int flags));
SCUTE_PROGRAM(int, recvmmsg,
              (int fd, struct mmsghdr* what, unsigned n, int flags, struct timespec* until));
SCUTE_PROGRAM(void*, mmap, (void* at, size_t n, int access, int flags, int fd, off_t offset));
SCUTE_PROGRAM(int, munmap, (void* at, size_t n));
SCUTE_PROGRAM(void*, mremap, (void* at, size_t n, size_t to, int flags, ...));
SCUTE_PROGRAM(int, msync, (void* at, size_t n, int flags));
