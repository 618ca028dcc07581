#!/usr/bin/env bash
# build.sh FOLDER [NAME...]: builds the examples that Debian's libpmemobj-dev ships, from where it ships them, into FOLDER: those
# that are named, or all. Left out are those that want a terminal or FUSE, and queue, whose pool another tool has to make. What has
# to be named is `values`, a program of ours over the same maps (bench/shield/values.c).
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

build() {
  local name=$1
  shift
  [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
  "$compiler" -O1 -w -I"$include" -I"$from" -I"$from/map" -I"$from/hashmap" -I"$from/tree_map" -I"$from/list_map" \
    -I"$from/libart" -o "$to/$name" "$@" -lpmemobj -lpthread -lm
}

maps=("$from"/map/map.c "$from"/map/map_*.c "$from"/hashmap/*.c "$from"/tree_map/*.c "$from"/list_map/*.c)
build mapcli "$from/map/mapcli.c" "${maps[@]}"
[ ${#wanted[@]} = 0 ] || build values "$ours/bench/shield/values.c" "${maps[@]}"
build data_store "$from/map/data_store.c" "${maps[@]}"
for name in btree lists pi setjmp manpage buffons_needle_problem; do build "$name" "$from/$name.c"; done
build fifo "$from/linkedlist/fifo.c"
build pmemblk "$from/pmemblk/obj_pmemblk.c"
for kind in "" _macros _minimal _simple; do build "pmemlog$kind" "$from/pmemlog/obj_pmemlog$kind.c"; done
build slab_allocator "$from"/slab_allocator/*.c
for kind in "" _tx _tx_type; do
  for side in reader writer; do build "string_store$kind-$side" "$from/string_store$kind/$side.c"; done
done
build arttree -fcommon "$from/libart/arttree.c" "$from/libart/art.c" -Wl,--allow-multiple-definition
