#!/usr/bin/env bash
# shield.sh SCUTE [OPERATIONS [ROUNDS]]: what the shield costs a libpmemobj program. PMDK's example maps, as Debian ships them, do the
# same random operations on a plain pool, under the shield with windows, and under the shield with a commit at every fence; one
# after the other in each round, and the least time of each counts. Beside it stand the ratios of Pavise's paper, which are of other maps' programs
# on another machine. Times are the program's own processor time, so that a busy machine disturbs less.
set -euo pipefail
export LC_ALL=C

scute=$1 operations=${2:-100000} rounds=${3:-5}
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/scute-shield-bench.XXXXXX")
pools=$(mktemp -d /dev/shm/scute-shield-bench.XXXXXX)
trap 'rm -rf "$work" "$pools"' EXIT
mkdir "$work/bin"
bash "$source_dir/tests/interpose/examples/build.sh" "$work/bin"

# spent COMMAND...: milliseconds of processor time; `q` alone, with all that opening costs, is taken off.
spent() {
  local TIMEFORMAT='%U %S' text
  text=$({ time "$@" <"$work/input" >/dev/null 2>"$work/errors"; } 2>&1)
  awk '{ print int(($1 + $2) * 1000) }' <<<"$text"
}

awk -v n="$operations" 'BEGIN {
  srand(1)
  for (i = 0; i < n; i++) print (rand() < 0.7 ? "i " : "r ") int(rand() * n)
}' >"$work/operations"
echo q >"$work/nothing"

sed -n 's/^model name[^:]*: /processor: /p' /proc/cpuinfo | head -n 1
printf '%-16s %10s %10s %10s\n' map 'plain, ms' windows 'per fence'
for map in btree rtree rbtree hashmap_tx hashmap_atomic; do
  for kind in plain pmemobj off; do best[${#kind}]=999999999; done
  for _ in $(seq "$rounds"); do
    for kind in plain pmemobj off; do
      rm -f "$pools"/*
      printf 'i 1000000000\nq\n' | "$work/bin/mapcli" "$map" "$pools/map" 7 >/dev/null
      run=()
      if [ "$kind" != plain ]; then
        "$scute" shield add "$pools/map" >/dev/null
        run=("$scute" shield run --windows "$kind" --)
      fi
      cp "$work/nothing" "$work/input"
      empty=$(PMEM_IS_PMEM_FORCE=1 spent "${run[@]}" "$work/bin/mapcli" "$map" "$pools/map")
      cp "$work/operations" "$work/input"
      full=$(PMEM_IS_PMEM_FORCE=1 spent "${run[@]}" "$work/bin/mapcli" "$map" "$pools/map")
      took=$((full - empty))
      [ "$took" -ge "${best[${#kind}]}" ] || best[${#kind}]=$took
    done
  done
  awk -v map="$map" -v p="${best[5]}" -v w="${best[7]}" -v f="${best[3]}" 'BEGIN {
    if (p < 1) p = 1
    printf "%-16s %10d %10.2f %10.2f\n", map, p, w / p, f / p
  }' | tee -a "$work/table"
done
awk '{ w += log($3); f += log($4) } END { printf "%-16s %10s %10.2f %10.2f\n", "geometric mean", "", exp(w / NR), exp(f / NR) }' "$work/table"
printf '%-16s %10s %10s %10s\n' 'Pavise (paper)' '' 2.16 4.94
