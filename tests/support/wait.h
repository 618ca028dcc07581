// SPDX-License-Identifier: BSD-3-Clause
// How test programs in C wait, those that a script compiles included (tests/support/wait.hpp says
// more).
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// For a length that no assertion depends on: a turn of a loop, the moment of a signal.
static inline void pause_us(long us) {
  const struct timespec length = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&length, NULL);
}

// Until the expression is true. Ends the program if it is not after two minutes.
#define WAIT_UNTIL(...)                                                  \
  do {                                                                   \
    for (long turns_ = 0; !(__VA_ARGS__); ++turns_) {                    \
      if (turns_ == 1200000) {                                           \
        fprintf(stderr, "this did not become true: %s\n", #__VA_ARGS__); \
        abort();                                                         \
      }                                                                  \
      pause_us(100);                                                     \
    }                                                                    \
  } while (0)

#if defined(__x86_64__)
// For a process that shares its memory with another one, whose C library is not its own.
static inline void raw_pause_us(long us) {
  const struct timespec length = {us / 1000000, us % 1000000 * 1000};
  long number = 35;  // nanosleep
  __asm__ volatile("syscall" : "+a"(number) : "D"(&length), "S"(NULL) : "rcx", "r11", "memory");
}
#endif
