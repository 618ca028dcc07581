#!/usr/bin/env bash
# random.sh [FIRST COUNT]
# Tests random programs (random_program.py), by their seeds: no option changes their results, and
# none of their stores is a stray one. To repeat one: random.sh SEED 1.
set -euo pipefail

dir=${BASH_SOURCE[0]%/*}
first=${1:-1} count=${2:-12}
fail() { printf 'FAILED: seed %s: %s\n' "$seed" "$*"; exit 1; }
for ((seed = first; seed < first + count; ++seed)); do
  python3 -B "$dir/random_program.py" "$seed" >random.c
  level=-O$((1 + seed % 3))
  options=(-w "$level" -fwrapv -fno-strict-aliasing "-I$dir/programs" random.c)
  clang-19 "${options[@]}" -o plain
  ./plain >expected
  # shellcheck disable=SC2086
  "$SCUTE_PASS_BIN/scute-cc" ${SCUTE_PASS_PLANT:+-mllvm "-scute-shield-plant=$SCUTE_PASS_PLANT"} -fscute=detect "${options[@]}" -o program
  ./program | diff expected - || fail "$level: alone it computes something else"
  : >log
  RECORDER_LOG=$PWD/log RECORDER_SHADOW=1 LD_PRELOAD=$SCUTE_PASS_RECORDER ./program | diff expected - ||
    fail "$level: under the shadow it computes something else"
  ! grep -m 5 stray log || fail "$level: the stores above were not reported"
done
echo "seeds $first to $((first + count - 1)): nothing lost, nothing changed"
