// SPDX-License-Identifier: BSD-3-Clause
// Stores, one by one. The pass does not report stores that cannot reach a file.
//
// options: trace
// log: store +0 8 main
// log: store +8 4 main
// log: store +12 1 main
// log: store +64 48 main
// log: store +128 100 fill
// log: fence locked main
// log: store +256 8 main
// log: store +264 4 main
// log: fence locked main
// log: store +272 8 main
#include <stdatomic.h>
#include <string.h>

#include "view.h"

struct item {
  volatile long a;
  volatile int b;
  volatile char c;
};

static long global;
static _Thread_local long local;

__attribute__((noinline)) static void fill(char *to, size_t length) {
  memset(to, 3, length);  // store
}

int main(int count, char **arguments) {
  (void)arguments;
  char *v = view_map();
  struct item *item = (struct item *)v;
  struct item *heap = malloc(sizeof *heap);
  char stack[64];
  item->a = 1;  // store
  item->b = 2;  // store
  item->c = 3;  // store
  heap->a = 1;
  global = count;
  local = count;
  memset(stack, count, sizeof stack);
  memcpy(v + 64, stack, 48);  // store
  fill(v + 128, 99 + (size_t)count);
  atomic_fetch_add((_Atomic long *)(v + 256), 1);                            // fence store
  atomic_store_explicit((_Atomic int *)(v + 264), 5, memory_order_release);  // store
  atomic_store((_Atomic long *)(v + 272), 6);                                // fence store
  const int right = item->a == 1 && v[128] == 3 && v[64] == 1 && heap->a + global + local == 3;
  free(heap);
  return right ? 0 : 1;
}
