#!/usr/bin/env bash
# Programs under the emulator: the same numbers each time, flushes at the addresses that the program
# gives (FEED-2 is checked by the front end in each run), every scheme, every engine, two cores,
# mistakes.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
export PMEM_IS_PMEM_FORCE=1

# run WORK SYSTEM SCHEME MACHINE [GUEST ARGUMENTS]: the line of the result
run() {
  rm -rf pm result
  mkdir pm
  qemu-x86_64 -cpu max -plugin "$plugin,machine=$machines/$4.machine,scheme=$3,work=$1,out=result" \
    "$guest" "$1" "$2" pm --scale tiny "${@:5}" >&2
  cat result
}
field() { sed -E "s/.*\"$1\": ([0-9.e+]+).*/\1/"; }

first=$(run stamp-kmeans-high marked spec table1)
second=$(run stamp-kmeans-high marked spec table1)
[ "$first" = "$second" ] || { printf 'not the same:\n%s\n%s\n' "$first" "$second"; exit 1; }

# Two cores as well; kmeans meets at a barrier.
for work in stamp-ssca2 stamp-kmeans-high; do
  two=$(run $work marked spec table1 --threads 2)
  again=$(run $work marked spec table1 --threads 2)
  [ "$two" = "$again" ] || { printf 'two cores, not the same:\n%s\n%s\n' "$two" "$again"; exit 1; }
done

for scheme in no-log software-undo ede hoop spec-dp; do
  line=$(run stamp-genome marked "$scheme" table1)
  [ "$(field pm_lines <<<"$line")" -gt 0 ] || { echo "$scheme writes nothing: $line"; exit 1; }
done

# 500 overwrites of 256 bytes write at least their lines back, each with a fence or more.
for system in redo-none logfree-mlpc spec-mlpc libpmemobj; do
  line=$(run overwrite-256 "$system" none optane) || { echo "$system fails"; exit 1; }
  [ $(($(field write_backs <<<"$line") + $(field streamed <<<"$line"))) -ge 2000 ] || { echo "$system: too few write-backs: $line"; exit 1; }
  [ "$(field pm_lines <<<"$line")" -ge 2000 ] || { echo "$system: too few lines: $line"; exit 1; }
  [ "$(field fences <<<"$line")" -ge 500 ] || { echo "$system: too few fences: $line"; exit 1; }
done

if run stamp-genome marked nonsense table1 2>errors; then echo "a scheme that is not there"; exit 1; fi
grep -q "no scheme 'nonsense'" errors
