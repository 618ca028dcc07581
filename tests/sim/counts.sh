#!/usr/bin/env bash
# Counts that must be exact. Of a program without calls: instructions, reads, writes and misses of
# the first cache, in the emulator under the model and in cachegrind. Of the library's engines:
# fences and lines, in the model and in the library's own counters, and no work by threads that the
# model does not see.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
export PMEM_IS_PMEM_FORCE=1
field() { sed -E "s/.*\"$1\": ([0-9.e+]+).*/\1/" "$2"; }

# ---- cachegrind ----------------------------------------------------------------------------------
# Twice with another number of rounds: what is outside of the rounds is in both, and only
# differences count.
cat >program.c <<'C'
#include <sys/mman.h>
static volatile unsigned long *board;
static void say(unsigned long what) { board[1] = 0; board[2] = 0; board[0] = what; }
static unsigned table[1 << 14], list[1 << 12];
int main(int n, char **arguments) {
  unsigned rounds = (unsigned)(arguments[1][0] - '0') * 1000, x = 1, sum = 0;
  board = mmap((void *)0x5c07e0000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  board[3] = 0x5c07e51111a7e;
  say(2);
  for (unsigned i = 0; i < rounds; ++i) {
    x = x * 1664525u + 1013904223u;
    table[x >> 18] += i;                     /* at random: read and written */
    sum += list[i * 16 & 4095];              /* by lines */
    list[i & 4095] = x;                      /* one after the other */
    if (x & 0x10000) sum ^= table[x >> 20 & 255];
  }
  say(3);
  return n + sum == 12345;
}
C
cc -O1 -fno-tree-vectorize -static -o program program.c
sed -E 's/^(l1\.sets|l1\.ways).*//' "$machines/table1.machine" >same.machine
printf 'l1.sets = 64\nl1.ways = 2\n' >>same.machine
for rounds in 2 6; do
  env -i PATH="$PATH" valgrind --tool=cachegrind --cache-sim=yes --I1=32768,4,64 --D1=8192,2,64 --LL=1048576,16,64 \
    --cachegrind-out-file=counted.$rounds ./program $rounds 2>cachegrind.log
  rm -f ours.$rounds
  qemu-x86_64 -cpu max -plugin "$plugin,machine=same.machine,scheme=none,work=counts,out=ours.$rounds" ./program $rounds
done
grown() { echo $(($2 - $1)); }
theirs() {
  local column
  column=$(grep '^events:' counted.2 | cut -d' ' -f2- | tr ' ' '\n' | grep -nx "$1" | cut -d: -f1)
  grown "$(grep '^summary:' counted.2 | cut -d' ' -f$((column + 1)))" \
    "$(grep '^summary:' counted.6 | cut -d' ' -f$((column + 1)))"
}
ours() { grown "$(field "$1" ours.2)" "$(field "$1" ours.6)"; }
same() {
  echo "$1: model $2, valgrind $3"
  [ "$2" = "$3" ] || { echo "differs: $1"; bad=1; }
}
bad=0
same instructions "$(ours instructions)" "$(theirs Ir)"
same loads "$(ours loads)" "$(theirs Dr)"
# To cachegrind the instruction that adds to table[] is a read alone; there is one in each of 4000
# rounds.
same stores "$(ours stores)" "$(($(theirs Dw) + 4000))"
same "misses of the first cache" "$(ours l1_misses)" "$(($(theirs D1mr) + $(theirs D1mw)))"
[ "$(ours l1_misses)" -gt 1000 ] || { echo "too few misses to say anything"; bad=1; }

# ---- the library's own counters ------------------------------------------------------------------
for work in overwrite-256 insert-ctree ycsb-a stamp-genome; do
  for system in redo-none redo-mlpc logfree-mlpc spec-none spec-mlpc; do
    rm -rf pm result
    mkdir pm
    qemu-x86_64 -cpu max -plugin "$plugin,machine=$machines/optane.machine,scheme=none,work=$work,out=result" \
      "$guest" "$work" "$system" pm --scale tiny
    fences=$(($(field fences result) + $(field deferred_fences result)))
    lines=$(($(field write_backs result) + $(field streamed result) + $(field deferred_write_backs result) +
      $(field deferred_streamed result)))
    elsewhere=$(($(field elsewhere_fences result) + $(field elsewhere_write_backs result)))
    echo "$work $system: fences $fences, library $(field library_fences result);" \
      "lines $lines, library $(field library_lines result); elsewhere $elsewhere"
    [ "$fences" = "$(field library_fences result)" ] && [ "$fences" -gt 100 ] || bad=1
    [ "$lines" = "$(field library_lines result)" ] && [ "$lines" -gt "$fences" ] || bad=1
    [ "$elsewhere" = 0 ] || bad=1
  done
done
exit $bad
