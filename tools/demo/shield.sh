#!/usr/bin/env bash
# shield.sh SCUTE [OPERATIONS]: runs one of PMDK's own examples, a hash map in a libpmemobj pool, as
# Debian ships it, under the shield. It is killed with SIGKILL while it works, and its file is
# damaged at rest and while it runs. At the end not one key may be missing or too many. A program
# that has done its operations (80,000 in each of five rounds) before its kill comes has ended by
# itself, and no kill is reported. ./dev demo --shield runs this.
set -euo pipefail
export LC_ALL=C

scute=$1
operations=${2:-80000}
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/scute-shield.XXXXXX")
pools=$work
if [ -w /dev/shm ]; then pools=$(mktemp -d /dev/shm/scute-shield.XXXXXX); fi
trap 'rm -rf "$work" "$pools"' EXIT
cd "$work"
file=$pools/shop.pool
say() { printf '\n== %s\n' "$*"; }

say "One of Debian's example programs for libpmemobj is built, as it is"
mkdir bin
bash "$source_dir/tests/interpose/examples/build.sh" bin mapcli
echo "mapcli: a hash map, kept in transactions"

say "A pool that the program has made without Scute comes under the shield"
printf 'i 1000\nq\n' | bin/mapcli hashmap_tx "$file" 7 >made
"$scute" shield add "$file" --parity 2
payload=$("$scute" dump "$file.scute" | awk '$1 == "root" && !seen++ { print $2 }')  # where FILE begins in what the pool protects
echo 1000 >keys.model

# page_of ROUND: one that holds data, and another one each time.
page_of() {
  python3 "$source_dir/tests/interpose/examples/pages.py" "$file" >pages
  sed -n "$(($1 * 7919 % $(wc -l <pages) + 1))p" pages
}

mkfifo fed
kills=0
for round in 1 2 3 4 5; do
  awk -v seed="$round" -v count="$operations" 'BEGIN {
    srand(seed)
    for (i = 0; i < count; i++) {
      k = int(rand() * 300)
      print (rand() < 0.6 ? "i " : "r ") k
      print "c " k
    }
  }' >operations
  : >answers
  rm -f struck
  # (Its input does not end before the damage is done: after its end that would be a file that
  # another program has changed.)
  { cat operations && for _ in $(seq 6000); do [ ! -e struck ] || break; sleep 0.01; done; } >fed 2>/dev/null &
  stdbuf -oL "$scute" shield run -- bin/mapcli hashmap_tx "$file" <fed >answers 2>errors &
  run=$!
  for _ in $(seq 500); do [ -s answers ] && break; sleep 0.01; done
  printf 'a stray pointer was here' | dd of="$file" bs=1 seek=$((4096 * $(page_of "$round") + 100)) conv=notrunc 2>/dev/null
  touch struck
  sleep "0.$((round * 13 % 50 + 10))"
  child=$(ps -o pid= --ppid "$run" | tr -d ' ') || true  # it may have ended
  [ -z "$child" ] || kill -9 "$child" 2>/dev/null || true
  status=0
  wait "$run" || status=$?
  reported=$(wc -l <answers)
  # (A kill of a process that has ended and is not waited for yet kills nothing.)
  case $status in
    137) kills=$((kills + 1)) end="killed after $reported operations" ;;
    0) end="ended by itself after $reported operations, before it was killed" ;;
    *) echo "round $round: the program ended with status $status: $(cat errors)"; exit 1 ;;
  esac
  "$scute" inject "$file.scute" --kind flip --count 4 --seed "$round" >/dev/null
  "$scute" inject "$file.scute" --kind lose-page --offset $((payload + 4096 * $(page_of $((round + 100))))) >/dev/null
  printf 'p\n' | "$scute" shield run -- bin/mapcli hashmap_tx "$file" >out 2>errors
  grep -v count out | tr ' ' '\n' | grep -E '^[0-9]+$' | sort -n >keys
  for more in 0 1; do
    awk -v count=$((reported + more)) 'FNR == NR { has[$1] = 1; next }
      $1 != "c" && done++ < count { if ($1 == "i") has[$2] = 1; else delete has[$2] }
      END { for (k in has) print k }' keys.model operations | sort -n >"model.$more"
  done
  cmp -s keys model.0 || cmp -s keys model.1 || { echo "LOST: $(diff keys model.0 | wc -l) keys differ"; exit 1; }
  echo "round $round: $end; a stray write, four flipped bits, a lost page; $(wc -l <keys) keys, all as they should be"
  cp keys keys.model
done

say "What it cost, and what the shield has repaired"
"$scute" events "$file.scute" | tail -n +2 | awk '{ n[$3 " " $4]++ } END { for (k in n) print n[k] " times: " k }' | sort -k 3
"$scute" events "$file.scute" | grep -q repaired || { echo "NOTHING was repaired"; exit 1; }
"$scute" shield info "$file" | sed -n '/^file\|^size\|protect\|^repair \|^events\|repaired\|parity/p'
"$scute" shield check "$file" | tail -1

say "The file leaves the shield, and the program reads it without Scute"
"$scute" shield remove "$file"
printf 'p\n' | bin/mapcli hashmap_tx "$file" | grep -v count | tr ' ' '\n' | grep -E '^[0-9]+$' | sort -n | cmp - keys.model
echo "The same $(wc -l <keys.model) keys. $kills of 5 programs were killed; nothing lost."
