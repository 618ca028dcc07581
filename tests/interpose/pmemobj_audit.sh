#!/usr/bin/env bash
# The audit of programs of libpmemobj. A program that persists all its stores is clean, whatever
# libpmemobj keeps in the pool for the run alone (RUNTIME-1). For a program that forgets one, the
# audit reports that store.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bin=$PWD/bin
mkdir "$bin"
bash "$SCUTE_SOURCE_DIR/tests/interpose/examples/build.sh" "$bin" mapcli btree lists pi fifo pmemlog || fail "the examples do not build"
cat >"$bin/keeper.c" <<'PROGRAM'
#include <libpmemobj.h>
#include <string.h>
#include <unistd.h>
/* keeper FILE keep|forget: stores to three objects, and persists all of them or all but one. */
struct root { PMEMoid items[3]; };
int main(int argc, char **argv) {
  PMEMobjpool *pool = argc == 3 ? pmemobj_open(argv[1], "keeper") : NULL;
  if (pool == NULL && argc == 3) pool = pmemobj_create(argv[1], "keeper", access(argv[1], F_OK) == 0 ? 0 : 32 << 20, 0600);
  if (pool == NULL) return 1;
  PMEMoid oid = pmemobj_root(pool, sizeof(struct root));
  struct root *root = pmemobj_direct(oid);
  for (int i = 0; i < 3; ++i) {
    if (OID_IS_NULL(root->items[i]) && pmemobj_zalloc(pool, &root->items[i], i == 2 ? 1 << 20 : 500, 1) != 0) return 1;
    char *item = pmemobj_direct(root->items[i]);
    item[200] += 1;
    if (i != 1 || strcmp(argv[2], "keep") == 0) pmemobj_persist(pool, item + 200, 1);
  }
  pmemobj_close(pool);
  return 0;
}
PROGRAM
"${CC:-cc}" -O1 -o "$bin/keeper" "$bin/keeper.c" -lpmemobj || fail "the program does not build"

file=$pools/pool
# made PROGRAM ARGS...: a new pool of that program's, shielded.
made() {
  rm -f "$pools"/pool*
  "$bin/$1" "${@:2}" <input >made.out 2>made.err || fail "$*: $(cat made.err)"
  "$scute" shield add "$file" >add.out || fail "shield add"
}
clean() {
  for windows in pmemobj off; do
    expect 0 "$scute" shield audit --windows "$windows" -- "$bin/$1" "${@:2}" <input
    in_out '^result: clean'
    # libpmemobj stores to lines that are never flushed: these are counted separately.
    in_out 'never flushed *0 lines, and [1-9][0-9]* that libpmemobj never flushes'
  done
}

for map in btree rtree rbtree skiplist hashmap_tx hashmap_atomic hashmap_rp; do
  printf 'i 1000\nq\n' >input
  made mapcli "$map" "$file" 7
  awk 'BEGIN { srand(7); for (i = 0; i < 300; ++i) print (rand() < 0.6 ? "i " : "r ") int(rand() * 90) }' >input
  clean mapcli "$map" "$file"
done
: >input
made btree "$file" i 1 one
clean btree "$file" i 5 five
made lists "$file" 1 foo 10
clean lists "$file" 1 foo 20
made pi "$file" c 2 100
clean pi "$file" c 2 300
made fifo "$file" insert a
clean fifo "$file" insert b
made pmemlog c "$file" a:one
clean pmemlog o "$file" a:two v:three w n t

made keeper "$file" keep
clean keeper "$file" keep
for windows in pmemobj off; do
  expect 2 "$scute" shield audit --windows "$windows" -- "$bin/keeper" "$file" forget
  in_out 'never flushed *1 lines, and'
  in_out '^result: stores were never flushed'
done

# A pool that the program makes while it runs, in a file that is there.
rm -f "$pools"/pool*
truncate -s 32M "$file"
"$scute" shield add "$file" >add.out || fail "shield add"
clean keeper "$file" keep
# Pages that come when they are touched, and go.
expect "0 3" "$scute" shield audit --page-in -- "$bin/keeper" "$file" keep
in_out '^result: clean'
sound "$file"

# It ends without closing its pool.
sed 's/  pmemobj_close(pool);//' "$bin/keeper.c" >"$bin/leaver.c"
"${CC:-cc}" -O1 -o "$bin/leaver" "$bin/leaver.c" -lpmemobj || fail "the program does not build"
made keeper "$file" keep
clean leaver "$file" keep
expect 2 "$scute" shield audit -- "$bin/leaver" "$file" forget
in_out 'never flushed *1 lines, and'

# A file that begins as a pool does, and is none: the shield does not believe the places that it
# states.
for seed in $(seq 12); do
  rm -f "$pools"/pool*
  python3 - "$file" "$seed" <<'PYTHON'
import random, struct, sys
dice = random.Random(int(sys.argv[2]))
data = bytearray(dice.randbytes(1 << 20))
data[0:8] = b"PMEMOBJ\0"
far = lambda: dice.choice((0, 64, 8192, 0x3ffc0, (1 << 20) - 64, 1 << 20, 1 << 40, (1 << 64) - 64))
struct.pack_into("<QQQ", data, 0x1400, far(), dice.choice((0, 1, 1024, 1 << 60)), dice.choice((8192, 16384, far())))
for at in (8192, 16384):
    data[at:at + 16] = b"MEMORY_HEAP_HDR\0"
    for chunk in range(2048):
        struct.pack_into("<HHI", data, at + 1024 + 64 + 8 * chunk, dice.randrange(6), dice.randrange(16), dice.choice((0, 1, 7, 0xffffffff)))
open(sys.argv[1], "wb").write(data)
PYTHON
  "$scute" shield add "$file" >add.out || fail "shield add"
  expect "0 2" "$scute" shield audit -- python3 -c 'import mmap, sys
with open(sys.argv[1], "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    for at in range(0x1a00, len(m), 64):
        m[at:at + 64] = bytes(40) + bytes(24) if at % 128 else m[at:at + 8] + bytes(56)' "$file"
  sound "$file"
done

# The library comes when the file is open already.
made keeper "$file" keep
expect 0 "$scute" shield audit -- python3 -c 'import ctypes, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
library = ctypes.CDLL("libpmemobj.so.1")
library.pmemobj_open.restype = ctypes.c_void_p
pool = library.pmemobj_open(sys.argv[1].encode(), b"keeper")
assert pool
library.pmemobj_close(ctypes.c_void_p(pool))' "$file"
in_out 'never flushed *0 lines, and [1-9][0-9]* that libpmemobj never flushes'
