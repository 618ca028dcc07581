// SPDX-License-Identifier: BSD-3-Clause
// pooled CASE FILE: a program of libpmemobj that persists all that it stores, or forgets a fence.
#include <libpmemobj.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct root {
  char text[200];
  PMEMmutex lock;
};

int main(int argc, char **argv) {
  if (argc != 3) return 1;
  const char *which = argv[1];
#define IS(name) (strcmp(which, #name) == 0)
  PMEMobjpool *pool = IS(make) ? pmemobj_create(argv[2], "pooled", 16 << 20, 0600)
                               : pmemobj_open(argv[2], "pooled");
  if (pool == NULL) return 1;
  struct root *root = pmemobj_direct(pmemobj_root(pool, sizeof *root));
  root->text[0] += 1;
  if (IS(unfenced)) {
    pmemobj_flush(pool, root->text, 1);
    return 0;  // pmemobj_close() fences
  }
  pmemobj_persist(pool, root->text, 1);
  if (IS(inside)) {
    TX_BEGIN(pool) {
      pmemobj_tx_add_range_direct(root->text + 64, 1);
      pmemobj_persist(pool, root->text + 64, 1);
      root->text[128] += 1;
      pmemobj_persist(pool, root->text + 128, 1);
      _exit(0);
    }
    TX_END
  }
  TX_BEGIN(pool) {
    pmemobj_tx_add_range_direct(root->text + 100, 1);
    root->text[100] += 1;
    pmemobj_tx_alloc(1000, 1);
  }
  TX_END
  pmemobj_mutex_lock(pool, &root->lock);
  pmemobj_mutex_unlock(pool, &root->lock);
  if (IS(leaves)) _exit(0);
  if (IS(killed)) kill(getpid(), SIGKILL);
  pmemobj_close(pool);
  return 0;
}
