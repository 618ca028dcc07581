// SPDX-License-Identifier: BSD-3-Clause
// Loads, merged: one for what a block reads of one object, one for a loop.
//
// options: loads
// levels: -O1 -O2
// log: load +0 24 sum
// log: load +64 800 total
#include "view.h"

struct item {
  long a, b, c;
};

__attribute__((noinline)) static long sum(const struct item *item) {
  return item->a + item->b + item->c;  // load
}

__attribute__((noinline)) static long total(const long *values, long count) {
  long result = 0;
  for (long i = 0; i < count; ++i) result += values[i];  // load
  return result;
}

int main(void) {
  char *v = view_map();
  return (int)(sum((const struct item *)v) + total((const long *)(v + 64), 100));
}
