/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool that the cases work on. */
#ifndef POOL_H
#define POOL_H

#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>

enum { values = 64, text_size = 100, items_first = 4, items_second = 2, turns = 3000 };

POBJ_LAYOUT_BEGIN(cases);
POBJ_LAYOUT_ROOT(cases, struct root);
POBJ_LAYOUT_TOID(cases, struct blob);
POBJ_LAYOUT_TOID(cases, struct item);
POBJ_LAYOUT_END(cases);

struct blob {
  char text[text_size];
};
struct item {
  uint64_t number;
  POBJ_LIST_ENTRY(struct item) first, second;
};
POBJ_LIST_HEAD(head, struct item);
struct root {
  uint64_t value[values]; /* eight lines */
  uint64_t reported;      /* by a plain pmemobj_persist() */
  uint64_t nothing[7];
  TOID(struct blob) kept, other;
  struct head first, second;
};

/* The pool that every case changes; `second` is null if there is only one. */
struct pool {
  PMEMobjpool *at;
  TOID(struct root) root;
  struct root *bytes;
};
extern struct pool pool, second;
extern const char *second_path; /* or null */

struct test_case {
  const char *name;
  void (*work)(void);
};
extern const struct test_case cases_of_one[], cases_of_atomic_calls[], cases_of_two[];

/* Called where a case may end in its middle. Returns only if no such end was requested. */
void here(void);
/* Prints the result of a call, as one line of output. */
void print_result(const char *what, long result);
/* A store that is durable when the call returns. */
void report(struct pool *where, uint64_t number);
void change(struct pool *where, unsigned index, uint64_t number); /* in a transaction */
int construct(PMEMobjpool *at, void *object, void *text);
void work_failed(const char *what);

#endif
