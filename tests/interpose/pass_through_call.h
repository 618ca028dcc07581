// SPDX-License-Identifier: BSD-3-Clause
// A system call that the shield does not intercept: an instruction of the program's own.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

static inline long called(long number, long a, long b, long c, long d) {
#ifdef __x86_64__
  register long fourth __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
#else
  return syscall(number, a, b, c, d);
#endif
}
