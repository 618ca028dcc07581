/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arguments.h: the arguments of the programs of this folder: FILE [--flush INSTRUCTION]
 * [--forget-flush], and each program's own words.
 */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flush.h"

struct arguments {
  const char *file;
  const char *workers, *listen; /* NULL: not said */
  int forget_flush;             /* a bug on demand: the program leaves one of its flushes out */
};

static inline struct arguments arguments_of(int count, char **words) {
  struct arguments got = {NULL, NULL, NULL, 0};
  const char *flush_name = NULL;
  int wrong = 0;
  for (int i = 1; i < count; ++i) {
    const int more = i + 1 < count;
    if (strcmp(words[i], "--forget-flush") == 0) {
      got.forget_flush = 1;
    } else if (strcmp(words[i], "--flush") == 0 && more) {
      flush_name = words[++i];
    } else if (strcmp(words[i], "--workers") == 0 && more) {
      got.workers = words[++i];
    } else if (strcmp(words[i], "--listen") == 0 && more) {
      got.listen = words[++i];
    } else if (words[i][0] != '-' && !got.file) {
      got.file = words[i];
    } else {
      wrong = 1;
    }
  }
  if (wrong || !got.file) {
    fprintf(stderr, "usage: %s FILE [--flush clwb|clflushopt|clflush] [--forget-flush] ...\n",
            words[0]);
    exit(2);
  }
  if (!flush_choose(flush_name)) {
    fprintf(stderr, "%s: the processor has no %s\n", words[0], flush_name);
    exit(4);
  }
  return got;
}

#endif
