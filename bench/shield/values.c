// SPDX-License-Identifier: BSD-3-Clause
/*
 * values.c: MAP FILE [MIB]: the maps of Debian's libpmemobj-dev with values of 256 bytes, which
 * Pavise's paper measured and which the maps' own program (mapcli) does not store. Reads lines from
 * standard input: "i KEY" inserts a new value, "r KEY" removes one and frees it, "c KEY" asks for
 * one, "p" prints a sum of each value, "q" ends. A new file gets so many MiB, or 160 as those of
 * mapcli. Knows nothing of Scute.
 *
 * An insert is one transaction of libpmemobj, which allocates the value as well; with
 * hashmap_atomic, which has no transactions, it is two atomic calls.
 */
#include <ex_common.h>
#include <hashmap.h>
#include <inttypes.h>
#include <libpmemobj.h>
#include <map.h>
#include <map_btree.h>
#include <map_ctree.h>
#include <map_hashmap_atomic.h>
#include <map_hashmap_tx.h>
#include <map_rbtree.h>
#include <map_rtree.h>
#include <map_skiplist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { value_bytes = 256, value_type = 77, pool_mib = 160 };

struct root {
  TOID(struct map) map;
};

struct value {
  uint64_t words[value_bytes / sizeof(uint64_t)];
};

static struct map_ctx* maps;
static TOID(struct map) map;

static void die(const char* what) {
  fprintf(stderr, "values: %s: %s\n", what, pmemobj_errormsg());
  exit(1);
}

static void fill(struct value* v, uint64_t key) {
  for (size_t i = 0; i < sizeof v->words / sizeof *v->words; ++i) v->words[i] = key * 31 + i;
}

static int construct(PMEMobjpool* pool, void* at, void* key) {
  fill(at, *(const uint64_t*)key);
  pmemobj_persist(pool, at, sizeof(struct value));
  return 0;
}

static void insert(uint64_t key, int atomic) {
  if (map_lookup(maps, map, key)) return;
  if (atomic) {
    PMEMoid value;
    if (pmemobj_alloc(maps->pop, &value, sizeof(struct value), value_type, construct, &key) != 0)
      die("alloc");
    if (map_insert(maps, map, key, value) != 0) die("insert");
    return;
  }
  TX_BEGIN(maps->pop) {
    const PMEMoid value = pmemobj_tx_alloc(sizeof(struct value), value_type);
    fill(pmemobj_direct(value), key);
    if (map_insert(maps, map, key, value) != 0) pmemobj_tx_abort(1);
  }
  TX_ONABORT {
    die("insert");
  }
  TX_END
}

static void take(uint64_t key, int atomic) {
  PMEMoid value = map_get(maps, map, key);
  if (OID_IS_NULL(value)) return;
  if (atomic) {
    map_remove(maps, map, key);
    pmemobj_free(&value);
    return;
  }
  TX_BEGIN(maps->pop) {
    map_remove(maps, map, key);
    pmemobj_tx_free(value);
  }
  TX_ONABORT {
    die("remove");
  }
  TX_END
}

// Prints the keys that the values contain. For its inner nodes rtree passes keys that are none, and
// no value.
static int print(uint64_t key, PMEMoid value, void* unused) {
  (void)key;
  (void)unused;
  if (OID_IS_NULL(value)) return 0;
  uint64_t sum = 0;
  const struct value* v = pmemobj_direct(value);
  for (size_t i = 0; i < sizeof v->words / sizeof *v->words; ++i) sum += v->words[i];
  printf("%" PRIu64 "\n", sum);
  return 0;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    const struct map_ops* ops;
  } kinds[] = {
      {"btree", MAP_BTREE},
      {"ctree", MAP_CTREE},
      {"hashmap_atomic", MAP_HASHMAP_ATOMIC},
      {"hashmap_tx", MAP_HASHMAP_TX},
      {"rbtree", MAP_RBTREE},
      {"rtree", MAP_RTREE},
      {"skiplist", MAP_SKIPLIST},
  };
  const struct map_ops* ops = NULL;
  for (size_t i = 0; argc >= 3 && i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(argv[1], kinds[i].name) == 0) ops = kinds[i].ops;
  if (ops == NULL) {
    fprintf(stderr, "usage: values MAP FILE [MIB]\n");
    return 2;
  }
  const size_t mib = argc > 3 ? strtoul(argv[3], NULL, 10) : pool_mib;
  const int atomic = ops == MAP_HASHMAP_ATOMIC;
  srand(7); /* some maps ask for random numbers */

  PMEMobjpool* pool = file_exists(argv[2]) != 0
                          ? pmemobj_create(argv[2], "values", mib << 20, CREATE_MODE_RW)
                          : pmemobj_open(argv[2], "values");
  if (pool == NULL) die(argv[2]);
  maps = map_ctx_init(ops, pool);
  if (maps == NULL) die("memory");
  struct root* root = pmemobj_direct(pmemobj_root(pool, sizeof *root));
  if (TOID_IS_NULL(root->map)) {
    struct hashmap_args args = {7};
    if (map_create(maps, &root->map, &args) != 0) die("create");
  }
  map = root->map;
  if (ops->init != NULL) map_init(maps, map);

  char line[100];
  while (fgets(line, sizeof line, stdin) != NULL && line[0] != 'q') {
    const uint64_t key = strtoull(line + 1, NULL, 10);
    if (line[0] == 'i') insert(key, atomic);
    if (line[0] == 'r') take(key, atomic);
    if (line[0] == 'c') {
      printf("%d\n", map_lookup(maps, map, key));
      fflush(stdout);
    }
    if (line[0] == 'p') map_foreach(maps, map, print, NULL);
  }
  map_ctx_free(maps);
  pmemobj_close(pool);
  return 0;
}
