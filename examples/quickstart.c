#include <scute/scute.h>
#include <stdio.h>

typedef struct {
  uint64_t runs, sum;
} state; /* the root object of the pool; starts as all zero bytes */

int main(int argc, char **argv) {
  scute_pool *pool;
  scute_oid root;
  scute_tx *tx;
  state *s; /* a copy of the root in memory: both changes survive a crash, or neither does */
  state now = {0, 0};
  int e = argc < 2 ? SCUTE_E_INVALID : scute_open(argv[1], NULL, &pool);
  if (e == SCUTE_E_NOENT) e = scute_create(argv[1], NULL, &pool);
  if (!e) e = scute_root(pool, sizeof *s, 0, &root);
  if (!e) e = scute_tx_begin(pool, &tx);
  if (!e) e = scute_tx_open(tx, root, (void **)&s);
  if (!e) s->sum += ++s->runs, now = *s;
  if (!e) e = scute_tx_commit(tx);
  if (!e) printf("run %d, sum %d\n", (int)now.runs, (int)now.sum); /* both are durable */
  return e || scute_close(pool) ? (puts(scute_errormsg()), 1) : 0;
}
