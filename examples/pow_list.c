/* SPDX-License-Identifier: BSD-3-Clause */
/* A linked list in DRAM that persists as it is written, with the calls of the ENTS paper (Table 1,
 * Listings 2 and 3): nodes know each other by address, and a restart puts them elsewhere. Each run
 * adds three, and prints all. */
#include <scute/pow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
  struct node *self; /* where it was when it was stored: how the others know it after a restart */
  struct node *next;
  uint64_t value;
} node;
typedef struct {
  node *head;
  uint64_t length;
} list;

static scute_pow *store;
static scute_pow_file *lists, *nodes;
static list the_list;

/* Inserts at the head. Node and list are stored in one section: a crash leaves both, or neither. */
static int insert(uint64_t value) {
  scute_pow_section *section;
  node *n = malloc(sizeof *n);
  int e = n == NULL ? SCUTE_E_NOMEM : scute_pow_begin(store, SCUTE_POW_STRICT, &section);
  if (e) return free(n), e;
  *n = (node){n, the_list.head, value};
  the_list = (list){n, the_list.length + 1};
  e = scute_pow_store(nodes, n);
  return e ? e : scute_pow_epoch(lists, &the_list);
}

/* Where a node is now that was at `then`. */
static node *moved(node *const *then, node *const *now, uint64_t count, const node *what) {
  for (uint64_t i = 0; i < count; ++i)
    if (then[i] == what) return now[i];
  return NULL;
}

/* Rebuilds the list from the stored objects, and stores it again with the addresses of today. */
static int recover(void) {
  uint64_t count, is_there;
  const void *bytes;
  scute_pow_section *section;
  int e = scute_pow_count(nodes, &count);
  if (!e) e = scute_pow_count(lists, &is_there);
  if (e || is_there == 0) return e;
  node **then = malloc((count + 1) * sizeof *then), **now = malloc((count + 1) * sizeof *now);
  if (then == NULL || now == NULL) e = SCUTE_E_NOMEM;
  for (uint64_t i = 0; !e && i < count; ++i) {
    now[i] = malloc(sizeof **now);
    e = now[i] == NULL ? SCUTE_E_NOMEM : scute_pow_load(nodes, i, &bytes);
    if (e) break;
    memcpy(now[i], bytes, sizeof **now);
    then[i] = now[i]->self;
    e = scute_pow_adopt(nodes, i, now[i]);
  }
  if (!e) e = scute_pow_load(lists, 0, &bytes);
  if (!e) memcpy(&the_list, bytes, sizeof the_list);
  if (!e) e = scute_pow_adopt(lists, 0, &the_list);
  if (!e) e = scute_pow_begin(store, SCUTE_POW_STRICT, &section);
  for (uint64_t i = 0; !e && i < count; ++i) {
    now[i]->self = now[i];
    now[i]->next = moved(then, now, count, now[i]->next);
    e = scute_pow_store(nodes, now[i]);
  }
  if (!e) {
    the_list.head = moved(then, now, count, the_list.head);
    e = scute_pow_epoch(lists, &the_list);
  }
  free(then);
  free(now);
  return e;
}

int main(int argc, char **argv) {
  int e = scute_pow_open(argc > 1 ? argv[1] : "list.pow", NULL, &store);
  if (!e) e = scute_pow_alloc(store, "list", sizeof(list), &lists);
  if (!e) e = scute_pow_alloc(store, "nodes", sizeof(node), &nodes);
  if (!e) e = recover();
  for (int i = 0; !e && i < 3; ++i) e = insert(the_list.length);
  if (!e) {
    uint64_t sum = 0;
    for (const node *n = the_list.head; n != NULL; n = n->next) {
      printf("%d ", (int)n->value);
      sum += n->value;
    }
    printf("\n%d nodes\n", (int)the_list.length);
    /* 0 to length - 1, each once. */
    if (sum != the_list.length * (the_list.length - 1) / 2) return puts("the list is wrong"), 1;
    e = scute_pow_close(store);
  }
  return e ? (puts(scute_errormsg()), 1) : 0;
}
