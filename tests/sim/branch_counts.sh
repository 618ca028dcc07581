#!/usr/bin/env bash
# Compares mispredictions of a core with those of cachegrind's simple predictor, for one program: of
# the same order where branches are random, and no more where they are not.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
cat >program.c <<'C'
#include <sys/mman.h>
static volatile unsigned long *board;
static void say(unsigned long what) { board[1] = 0; board[2] = 0; board[0] = what; }
int main(int n, char **arguments) {
  unsigned rounds = (unsigned)(arguments[1][0] - '0') * 4000, x = 1;
  volatile unsigned sum = 0;
  int coins = arguments[2][0] == 'c';
  board = mmap((void *)0x5c07e0000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  board[3] = 0x5c07e51111a7e;
  say(2);
  for (unsigned i = 0; i < rounds; ++i) {
    x = x * 1664525u + 1013904223u;
    if (coins ? x >> 31 : i % 6 < 2) sum += 3;
    for (unsigned k = 0; k < 5; ++k) sum ^= k;
  }
  say(3);
  return n == 7;
}
C
cc -O1 -static -o program program.c
for kind in coins pattern; do
  for rounds in 2 8; do
    rm -f ours.$rounds
    qemu-x86_64 -cpu max -plugin "$plugin,machine=$machines/table1.machine,scheme=none,work=branches,out=ours.$rounds" \
      ./program $rounds $kind
    env -i PATH="$PATH" valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes --cachegrind-out-file=counted.$rounds \
      ./program $rounds $kind 2>cachegrind.log
  done
  ours() { sed -E 's/.*"mispredicted": ([0-9]+).*/\1/' "ours.$1"; }
  theirs() { # conditional and indirect ones
    awk '/^events:/ { for (i = 2; i <= NF; ++i) if ($i == "Bcm" || $i == "Bim") at[i] = 1 }
      /^summary:/ { for (i in at) n += $i; print n }' "counted.$1"
  }
  model=$(($(ours 8) - $(ours 2))) valgrind=$(($(theirs 8) - $(theirs 2)))
  echo "$kind: model $model, cachegrind $valgrind, of 24000 rounds"
  if [ $kind = coins ]; then
    [ $model -gt 9600 ] && [ $model -lt 14400 ] && [ $valgrind -gt 9600 ] && [ $valgrind -lt 40000 ]
  else
    [ $model -lt 240 ] && [ $model -le $((valgrind + 240)) ]
  fi
done
