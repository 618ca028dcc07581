// SPDX-License-Identifier: BSD-3-Clause
// Stores before and after calls that fence, through pointers that change in loops: PASS-1, PASS-2.
// The bug in a debugger's terms: reported once and stored twice.
//
// options: detect
// flags: -mclwb
// shadow: stray +4224
#include <immintrin.h>

#include "view.h"

struct node {
  long key, value;
  struct node *next;
  long more[5];
};

__attribute__((noinline)) static void fence(const void *p) {
  _mm_clwb(p);
  _mm_sfence();
}

// The pass must report the second store again: the call between them fences.
__attribute__((noinline)) static void twice(struct node *node) {
  node->key = 1;
  fence(node);
  node->value = 2;
  fence(node);
}

// Each turn has another node under the same name.
__attribute__((noinline)) static void chain(struct node *node, long value) {
  while (node) {
    node->value = value;
    node = node->next;
  }
}

__attribute__((noinline)) static void in_branches(volatile struct node *node, int first) {
  if (first) {
    node->key = 3;
    fence((const void *)node);
  } else {
    node->key = 4;
  }
  node->key = 6;
}

// Each turn fences: a report before the loop would be one for all of them.
__attribute__((noinline)) static void in_loop(struct node *node, long turns) {
  for (long i = 0; i < turns; ++i) {
    node->more[0] = i;
    fence(node);
  }
}

// Two objects in one, far apart: a store of other code between them is not theirs.
struct pair {
  long first, gap[30], second;
};
__attribute__((noinline)) static void apart(struct pair *pair) {
  pair->first = 1;
  pair->second = 1;
}

int main(int count, char **arguments) {
  (void)arguments;
  struct node *nodes = (struct node *)view_map();
  for (int i = 0; i < 8; ++i) nodes[i].next = i < 7 ? &nodes[i + 1] : 0;
  fence(nodes);
  twice(&nodes[2]);
  chain(nodes, count);
  fence(nodes);
  chain(nodes, count + 1);
  fence(nodes);
  in_branches(&nodes[3], count);
  fence(nodes);
  in_branches(&nodes[4], count - 1);
  fence(nodes);
  in_loop(&nodes[5], count + 2);
  apart((struct pair *)&nodes[64]);
  __asm__ volatile("movq $1, 128(%0)" : : "r"(&nodes[64]) : "memory");
  fence(nodes);
  for (int i = 0; i < 8; ++i)
    if (nodes[i].value != 2) return 1;
  return 0;
}
