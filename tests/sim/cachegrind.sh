#!/usr/bin/env bash
# The caches against valgrind's: the references that lackey prints, counted by our tags, and
# cachegrind's own count of the same program on the same geometry.
set -euo pipefail

cat >program.c <<'C'
static unsigned table[1 << 16];
int main(void) {
  unsigned x = 1, sum = 0;
  for (int i = 0; i < 4000; ++i) {
    x = x * 1664525u + 1013904223u;
    sum += table[x >> 16]++;
  }
  return sum == 12345;
}
C
cc -O1 -static -o program program.c
# The environment is on the stack, whose addresses must be the same.
clean=(env -i PATH="$PATH" VALGRIND_LAUNCHER=x)
"${clean[@]}" valgrind --tool=cachegrind --cache-sim=yes --I1=16384,4,64 --D1=8192,2,64 --LL=65536,8,64 \
  --cachegrind-out-file=counted ./program 2>cachegrind.log
"${clean[@]}" valgrind --tool=lackey --trace-mem=yes --log-file=trace ./program
"$SCUTE_BINARY_DIR/sim/scute-sim-count" 64,4 64,2 128,8 <trace >ours
grep '^events:' counted | cut -d' ' -f2- | tr ' ' '\n' >names
grep '^summary:' counted | cut -d' ' -f2- | tr ' ' '\n' >values
paste -d' ' names values >theirs
cat ours theirs
# Instructions, reads and writes, and the misses of each level.
paste ours theirs | awk '$2 != $4 { print "differs: " $0; bad = 1 } END { exit bad }'
