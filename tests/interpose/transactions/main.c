// SPDX-License-Identifier: BSD-3-Clause
// A program on libpmemobj that knows nothing of the shield.
//    transactions make FILE
//    transactions list KIND: one, atomic, two
//    transactions CASE END FILE [SECOND]: does the case, prints what its calls returned, and stores
//       one plain word durably. END says how the program then ends: closes, exits, dies (SIGKILL),
//       waits (says "here", and waits to be killed). A case with an end in its middle ends there
//    transactions show FILE: all that is in it
//    transactions watch ALIKE FILE SECOND: while another program does the case in_turns, reads both
//       files, not their views, and says how often the second was ahead. ALIKE is a pool that was
//       made as they were
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pool.h"

struct pool pool, second;
const char *second_path = NULL;
static const char *end = "closes";

void work_failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, pmemobj_errormsg());
  exit(99);
}

void print_result(const char *what, long result) {
  printf("%s %ld %d\n", what, result, result ? errno : 0);
}

void here(void) {
  fflush(stdout);
  if (strcmp(end, "dies") == 0) kill(getpid(), SIGKILL);
  if (strcmp(end, "exits") == 0) exit(0);
  if (strcmp(end, "waits") == 0) {
    printf("here\n");
    fflush(stdout);
    for (;;) pause();
  }
}

void report(struct pool *where, uint64_t number) {
  where->bytes->reported = number;
  pmemobj_persist(where->at, &where->bytes->reported, sizeof where->bytes->reported);
}

void change(struct pool *where, unsigned index, uint64_t number) {
  if (pmemobj_tx_add_range_direct(&where->bytes->value[index], sizeof(uint64_t)) != 0)
    work_failed("pmemobj_tx_add_range_direct");
  where->bytes->value[index] = number;
}

int construct(PMEMobjpool *at, void *object, void *text) {
  memset(object, 0, sizeof(struct blob));
  strncpy(object, text, text_size - 1);
  pmemobj_persist(at, object, sizeof(struct blob));
  return 0;
}

static int number_item(PMEMobjpool *at, void *object, void *number) {
  struct item *item = object;
  memset(item, 0, sizeof *item);
  item->number = *(uint64_t *)number;
  pmemobj_persist(at, item, sizeof *item);
  return 0;
}

static void open_pool(struct pool *where, const char *path) {
  where->at = pmemobj_open(path, POBJ_LAYOUT_NAME(cases));
  if (where->at == NULL) work_failed("pmemobj_open");
  where->root = POBJ_ROOT(where->at, struct root);
  where->bytes = D_RW(where->root);
}

static int make(const char *path) {
  pool.at = pmemobj_create(path, POBJ_LAYOUT_NAME(cases), PMEMOBJ_MIN_POOL, 0600);
  if (pool.at == NULL) work_failed("pmemobj_create");
  pool.root = POBJ_ROOT(pool.at, struct root);
  pool.bytes = D_RW(pool.root);
  for (unsigned i = 0; i < values; ++i) pool.bytes->value[i] = i;
  pmemobj_persist(pool.at, pool.bytes->value, sizeof pool.bytes->value);
  if (POBJ_ALLOC(pool.at, &pool.bytes->kept, struct blob, sizeof(struct blob), construct,
                 "as it was") != 0)
    work_failed("pmemobj_alloc");
  for (uint64_t n = 1; n <= items_first; ++n)
    POBJ_LIST_INSERT_NEW_TAIL(pool.at, &pool.bytes->first, first, sizeof(struct item), number_item,
                              &n);
  for (uint64_t n = 11; n <= 10 + items_second; ++n)
    POBJ_LIST_INSERT_NEW_TAIL(pool.at, &pool.bytes->second, second, sizeof(struct item),
                              number_item, &n);
  pmemobj_close(pool.at);
  return 0;
}

static void show_blob(const char *name, TOID(struct blob) blob) {
  printf("%s: %s\n", name, TOID_IS_NULL(blob) ? "-" : D_RO(blob)->text);
}

static int show(const char *path) {
  open_pool(&pool, path);
  struct root *const root = pool.bytes;
  for (unsigned i = 0; i < values; ++i)
    if (root->value[i] != i) printf("value %u: %" PRIu64 "\n", i, root->value[i]);
  printf("reported: %" PRIu64 "\n", root->reported);
  show_blob("kept", root->kept);
  show_blob("other", root->other);
  TOID(struct item) item;
  printf("first:");
  POBJ_LIST_FOREACH(item, &root->first, first) printf(" %" PRIu64, D_RO(item)->number);
  printf("\nfirst, from its end:");
  POBJ_LIST_FOREACH_REVERSE(item, &root->first, first) printf(" %" PRIu64, D_RO(item)->number);
  printf("\nsecond:");
  POBJ_LIST_FOREACH(item, &root->second, second) printf(" %" PRIu64, D_RO(item)->number);
  printf("\nsecond, from its end:");
  POBJ_LIST_FOREACH_REVERSE(item, &root->second, second) printf(" %" PRIu64, D_RO(item)->number);
  TOID(struct blob) blob;
  printf("\nblobs:");
  POBJ_FOREACH_TYPE(pool.at, blob) printf(" '%s'", D_RO(blob)->text);
  unsigned items = 0;
  POBJ_FOREACH_TYPE(pool.at, item)++ items;
  printf("\nitems: %u\n", items);
  pmemobj_close(pool.at);
  printf("consistent: %d\n", pmemobj_check(path, POBJ_LAYOUT_NAME(cases)));
  return 0;
}

static const volatile uint64_t *reported_in(const char *path, size_t at) {
  const int fd = open(path, O_RDONLY);
  if (fd < 0) work_failed("open");
  char *const bytes = mmap(NULL, PMEMOBJ_MIN_POOL, PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) work_failed("mmap");
  return (const volatile uint64_t *)(bytes + at);
}

static int watch(const char *alike, const char *first_path, const char *path) {
  open_pool(&pool, alike);
  const size_t at = pool.root.oid.off + offsetof(struct root, reported);
  pmemobj_close(pool.at);
  const volatile uint64_t *const a = reported_in(first_path, at), *const b = reported_in(path, at);
  printf("watching\n");
  fflush(stdout);
  unsigned long ahead = 0;
  for (uint64_t last = 0; last < turns;) {
    const uint64_t seen = *b;
    if (seen != last && *a < seen) ++ahead;
    last = seen;
  }
  printf("ahead: %lu\n", ahead);
  return 0;
}

static const struct {
  const char *name;
  const struct test_case *cases;
} kinds[] = {{"one", cases_of_one}, {"atomic", cases_of_atomic_calls}, {"two", cases_of_two}};
enum { kinds_count = sizeof kinds / sizeof *kinds };

static int list(const char *kind) {
  for (unsigned i = 0; i < kinds_count; ++i)
    if (strcmp(kind, kinds[i].name) == 0)
      for (const struct test_case *d = kinds[i].cases; d->name != NULL; ++d) puts(d->name);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "list") == 0) return list(argv[2]);
  if (argc == 3 && strcmp(argv[1], "make") == 0) return make(argv[2]);
  if (argc == 3 && strcmp(argv[1], "show") == 0) return show(argv[2]);
  if (argc == 5 && strcmp(argv[1], "watch") == 0) return watch(argv[2], argv[3], argv[4]);
  if (argc < 4) return 98;
  end = argv[2];
  // The second pool is opened first, so that the order of openings differs from the order of the
  // changes.
  if (argc > 4) second_path = argv[4];
  if (second_path != NULL) {
    open_pool(&second, second_path);
    report(&second, 0);
  }
  open_pool(&pool, argv[3]);
  for (unsigned i = 0; i < kinds_count; ++i)
    for (const struct test_case *d = kinds[i].cases; d->name != NULL; ++d)
      if (strcmp(argv[1], d->name) == 0) {
        d->work();
        here();
        if (second_path != NULL) pmemobj_close(second.at);
        pmemobj_close(pool.at);
        return 0;
      }
  return 98;
}
