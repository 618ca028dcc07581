// SPDX-License-Identifier: BSD-3-Clause
// Interposed calls, by the name that this library calls them by where it acts as the program does.
#pragma once

#include <sys/types.h>

#include <cstddef>

extern "C" void* program_mmap(void* at, size_t n, int access, int flags, int fd,
                              off_t offset) __asm__("scute_program_mmap");
extern "C" int program_munmap(void* at, size_t n) __asm__("scute_program_munmap");
