#!/usr/bin/env bash
# A program on libpmem2 gets a view. When a function of its maps returns, the bytes that it has made
# durable are committed. If the program is killed together with its supervisor, the file has all
# records that it had reported, and at most one more (GRAN-1, MEM-2, SHIELD-3).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

program=$programs/scute-libpmem2
file=$pools/file

has_reported() { [ "$(wc -l <reported)" -gt "$1" ]; }
records() {
  "$scute" shield run -- "$program" read "$file" >read.out || fail "it does not open"
  cut -d' ' -f1 read.out
}

# begin: a shielded file without records.
begin() {
  rm -f "$file" "$file.scute"
  head -c 4194304 /dev/zero >"$file"
  "$scute" shield add "$file" >add.out || fail "shield add"
}

begin
expect 0 "$scute" shield run -- "$program" read "$file"
in_out '^0 records, granularity 1$'
for way in persist flush memcpy memmove memset deep_flush memcpy_async memset_async; do
  begin
  expect 0 "$scute" shield audit --json -- "$program" "$way" "$file" 20
  sed -n '/^{/,$p' out >document && mv document out
  equal "$(json result)" clean
  equal "$(json unflushed_lines)" 0
  commits=$(grep -o '"commits": *[0-9]*' out | grep -o '[0-9]*$')
  [ "$commits" -ge 20 ] || fail "$way: 20 records, and only $commits commits"
  equal "$(records)" 20

  : >reported
  "$scute" shield run -- "$program" "$way" "$file" 100000 >reported 2>err &
  run=$!
  wait_until has_reported 30
  child=$(ps -o pid= --ppid "$run" | tr -d ' ')
  kill -9 "$run" "$child"
  wait "$run" || true
  wait_until gone "$child"
  reported=$(tail -n 1 reported)
  [ "${reported:-0}" -gt 20 ] || fail "$way: nothing was reported"
  checked 0 "$file"
  n=$(records)
  [ "$n" -ge "$reported" ] && [ "$n" -le $((reported + 1)) ] || fail "$way: $reported records were reported, and the file has $n"
  sound "$file"
done

# Bytes that were not flushed are reported.
begin
expect 2 "$scute" shield audit -- "$program" unflushed "$file" 3
in_out '^result: stores were never flushed'
equal "$(records)" 3

# Whichever medium the library assumes, a view needs flushes. A program that would not flush gets no
# view.
for forced in BYTE CACHE_LINE PAGE; do
  begin
  PMEM2_FORCE_GRANULARITY=$forced GRANULARITY=2 expect 0 "$scute" shield audit -- "$program" persist "$file" 3
  PMEM2_FORCE_GRANULARITY=$forced GRANULARITY=2 expect 0 "$scute" shield run -- "$program" read "$file"
  in_out '^3 records, granularity 1$'
  PMEM2_FORCE_GRANULARITY=$forced GRANULARITY=0 expect 1 "$scute" shield run -- "$program" persist "$file"
  in_err 'pmem2_map_new: -100009'
done

# The shield does not interfere with the library on a file that is not shielded.
head -c 65536 /dev/zero >"$pools/plain"
PMEM2_FORCE_GRANULARITY=BYTE GRANULARITY=0 expect 0 "$scute" shield run -- "$program" persist "$pools/plain" 4
PMEM2_FORCE_GRANULARITY=BYTE GRANULARITY=0 expect 0 "$program" read "$pools/plain"
in_out '^4 records, granularity 0$'
