#!/usr/bin/env bash
# build.sh FOLDER [NAME...]: builds the examples that Debian's libpmemobj-dev ships, from their
# place in the package, into FOLDER: the named ones, or all. It leaves out pmemobjfs, which is a
# file system of FUSE: running it means mounting it. `values` must be named: a program of this
# project over the same maps (bench/shield/values.c). `make_pool` belongs to this project as well:
# queue needs a pool that another tool makes.
#
# Three constants differ from the package's. A path below / (setjmp, manpage) is a name in the
# working folder. The server listens on the loopback only. A program that seeds its random numbers
# by the time has the same ones every time.
set -euo pipefail

to=$1 from=/usr/share/doc/libpmemobj-dev/examples
shift
wanted=("$@")
ours=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
compiler=${CC:-cc}

# The examples expect a header that the package lacks.
include=$(mktemp -d)
trap 'rm -rf "$include"' EXIT
cat >"$include/ex_common.h" <<'HEADER'
#include <stdint.h>
#include <unistd.h>
#define CREATE_MODE_RW 0600
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
static inline int file_exists(const char *path) { return access(path, F_OK); }
static inline unsigned find_last_set_64(uint64_t word) { return 63u - (unsigned)__builtin_clzll(word); }
HEADER
cat >"$include/one_time.h" <<'HEADER'
#include <time.h>
#define time(now) ((time_t)20221122)
HEADER
cat >"$include/make_pool.c" <<'PROGRAM'
// make_pool FILE LAYOUT: an empty pool, as small as they may be.
#include <libpmemobj.h>
int main(int argc, char **argv) {
  PMEMobjpool *pool = argc == 3 ? pmemobj_create(argv[1], argv[2], PMEMOBJ_MIN_POOL, 0600) : NULL;
  if (pool != NULL) pmemobj_close(pool);
  return pool == NULL;
}
PROGRAM
one_time=(-include "$include/one_time.h")

is_wanted() { [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }
compile() {
  "$compiler" -O1 -w -I"$include" -I"$from" -I"$from/map" -I"$from/hashmap" -I"$from/tree_map" -I"$from/list_map" \
    -I"$from/libart" "$@"
}

build() {
  local name=$1
  shift
  is_wanted "$name" || return 0
  compile -o "$to/$name" "$@" -lpmemobj -lpthread -lm
}

# elsewhere FILE WHAT INSTEAD: a copy of it with another constant.
elsewhere() {
  grep -qF "\"$2\"" "$1" || { echo "$1 has no \"$2\"" >&2; exit 1; }
  sed "s|\"$2\"|\"$3\"|" "$1" >"$include/${1##*/}"
  echo "$include/${1##*/}"
}

maps=()
for name in mapcli values data_store kv_server; do
  ! is_wanted "$name" || maps=("$include"/*.o)
done
if [ ${#maps[@]} != 0 ]; then
  (cd "$include" && compile -c "$from"/map/map.c "$from"/map/map_*.c "$from"/hashmap/*.c "$from"/tree_map/*.c "$from"/list_map/*.c)
  maps=("$include"/*.o)
fi
build mapcli "$from/map/mapcli.c" "${maps[@]}"
[ ${#wanted[@]} = 0 ] || build values "$ours/bench/shield/values.c" "${maps[@]}"
build data_store "${one_time[@]}" "$from/map/data_store.c" "${maps[@]}"
build kv_server "$(elsewhere "$from/map/kv_server.c" 0.0.0.0 127.0.0.1)" "${maps[@]}" -luv
for name in btree lists pi; do build "$name" "$from/$name.c"; done
build buffons_needle_problem "${one_time[@]}" "$from/buffons_needle_problem.c"
build manpage "$(elsewhere "$from/manpage.c" /pmem-fs/myfile myfile)"
# It shows what is not safe, and is so only by not being optimized.
build setjmp -O0 "$(elsewhere "$from/setjmp.c" /pmem-fs/myfile myfile)"
build fifo "$from/linkedlist/fifo.c"
build queue "$from/queue/queue.c"
build make_pool "$include/make_pool.c"
build pmemblk "$from/pmemblk/obj_pmemblk.c"
for kind in "" _macros _minimal _simple; do build "pmemlog$kind" "$from/pmemlog/obj_pmemlog$kind.c"; done
build slab_allocator "$from"/slab_allocator/*.c
for kind in "" _tx _tx_type; do
  for side in reader writer; do build "string_store$kind-$side" "$from/string_store$kind/$side.c"; done
done
build arttree -fcommon "$from/libart/arttree.c" "$from/libart/art.c" -Wl,--allow-multiple-definition
build examine_arttree "$from"/libart/arttree_{structures,examine,search}.c
for name in pminvaders pminvaders2; do build "$name" "${one_time[@]}" "$from/pminvaders/$name.c" -lncurses; done
