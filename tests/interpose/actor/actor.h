// SPDX-License-Identifier: BSD-3-Clause
// Operations of a program on a file, one case at a time. The program knows nothing of the shield.
// The tests run each case once on a plain file and once on a shielded one. They compare what it
// prints and what is in the file afterwards.
#ifndef ACTOR_H
#define ACTOR_H

#include <stddef.h>
#include <stdint.h>

struct test_case {
  const char *name;
  void (*run)(const char *file);
};
extern const struct test_case memory_cases[], descriptor_cases[], transfer_cases[], process_cases[];

// One line: the call, its result, and errno if that is negative.
void say(const char *call, long result);
// Ends the program if `result` is negative.
long must(const char *call, long result);
unsigned checksum(const void *bytes, size_t n);
// Bytes that depend on `seed`.
void fill(void *to, size_t n, unsigned seed);
void *map(int fd, size_t n, int access, int flags, long offset);

// A command of its own: the results differ with and without the shield.
int close_all_raw(const char *file, const char *folder);

enum { page = 4096, file_size = 64 * page };

#endif
