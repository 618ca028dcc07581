/* An outside C program: makes a pool, changes an object, reopens the pool and reads it back. Prints
 * the version of the library. */
#include <scute/scute.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, scute_errormsg());
  return 1;
}

int main(int argc, char **argv) {
  scute_options options;
  scute_pool *pool;
  scute_tx *tx;
  scute_oid root;
  void *bytes;
  const void *stored;

  if (argc != 2) {
    fprintf(stderr, "usage: %s POOL\n", argv[0]);
    return 2;
  }
  scute_options_init(&options);
  options.size = (uint64_t)16 << 20;
  if (scute_create(argv[1], &options, &pool) != SCUTE_OK) return fail("create");
  if (scute_root(pool, 64, 1, &root) != SCUTE_OK) return fail("root");
  if (scute_tx_begin(pool, &tx) != SCUTE_OK) return fail("begin");
  if (scute_tx_open(tx, root, &bytes) != SCUTE_OK) return fail("tx open");
  strcpy(bytes, "kept");
  if (scute_tx_commit(tx) != SCUTE_OK) return fail("commit");
  if (scute_close(pool) != SCUTE_OK) return fail("close");

  if (scute_open(argv[1], NULL, &pool) != SCUTE_OK) return fail("open");
  if (scute_root(pool, 0, 1, &root) != SCUTE_OK) return fail("root");
  if (scute_get_verified(pool, root, &stored) != SCUTE_OK) return fail("get");
  if (strcmp(stored, "kept") != 0) {
    fprintf(stderr, "the object was not kept\n");
    return 1;
  }
  if (scute_close(pool) != SCUTE_OK) return fail("close");

  puts(scute_version());
  return 0;
}
