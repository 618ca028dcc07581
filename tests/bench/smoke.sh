#!/usr/bin/env bash
# Every workload of scute-bench at a tiny size, all of its outputs, and its answers to mistakes.
set -euo pipefail

bench=$SCUTE_TEST_BENCH_EXE
fail() {
  echo "smoke: $*" >&2
  exit 1
}

# Shared memory where there is some; containers may have none.
shm=.
[ ! -w /dev/shm ] || shm=/dev/shm
dir=$(mktemp -d "$shm/scute-smoke.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# Files that a killed run has left are removed, and nothing else.
sh -c 'echo $$' >dead
touch "$dir/scute-bench.$(cat dead).redo-none" "$dir/scute-bench.$$.redo-none"

mkdir disk
"$bench" --tiny --dir "$dir" --disk-dir disk --json rows.jsonl --markdown tables.md --machine machine.json \
  >out.txt 2>err.txt || { cat out.txt err.txt; fail "the tiny run failed"; }

# --tiny checks the rows and the counters itself and says so.
rows=$(sed -n 's/^verified: \([0-9]*\) rows$/\1/p' out.txt)
[ "${rows:-0}" -gt 200 ] || fail "too few rows: ${rows:-none}"
[ "$(wc -l <rows.jsonl)" = "$rows" ] || fail "rows.jsonl has another number of rows"
value='("[a-z0-9_-]*"|[0-9.e+-]+)'
field="\"[a-z0-9_]*\":($value|\{(\"[a-z_]*\":$value,?)+\})"
! grep -vE -m 3 "^\{($field,)+$field\}\$" rows.jsonl || fail "the line above is no JSON object of at most two levels"

for work in alloc overwrite_sequential overwrite_random edit_in_place free open_clean open_clean_empty \
  recovery_open recovery_full_log check scrub under_scrub policy_ordered_map policy_hash_map parity medium \
  overwrite_hot overwrite_hot_cpu map_insert map_get map_remove ycsb_a ycsb_b ycsb_c ycsb_d ycsb_e ycsb_f kv_put kv_load pow_recovery pow_clean; do
  grep -q "\"work\":\"$work\"" rows.jsonl || fail "no row of $work"
  grep -q "^### $work, 1 thread\$" tables.md || fail "no table of $work"
done
for what in processor memory_bytes kernel medium flush seed command; do
  grep -q "^  \"$what\": " machine.json || fail "machine.json does not name the $what"
done

# The floors are measured next to the objects and, if there are huge pages, so is the fair peer.
for floor in raw-logfree raw-log raw-redo; do
  grep -q "\"work\":\"overwrite_random\",.*\"system\":\"$floor\"" rows.jsonl || fail "no row of $floor"
done
"$bench" --list >list.txt
grep -q 'libpmemobj-huge is left out' err.txt || ! grep -q '^  libpmemobj-huge ' list.txt ||
  grep -q '"work":"overwrite_random",.*"system":"libpmemobj-huge"' rows.jsonl || fail "no row of libpmemobj-huge"

for cap in cap-2-percent cap-20-percent; do
  grep -q "\"work\":\"stamp_cap\",\"structure\":\"yada\",.*\"config\":\"$cap\"" rows.jsonl || fail "no row of a log with $cap"
done
grep -q '^### table3, ' tables.md || fail "no table 3"
grep -q '^### stamp_load, ' tables.md || fail "no loads of STAMP"
# Every application ran on every system of this build, except systems that run only when named.
for application in genome intruder kmeans-low kmeans-high labyrinth ssca2 vacation-low vacation-high yada; do
  for system in redo-none redo-mlpc logfree-mlpc spec-none spec-none-in-place spec-mlpc spec-flush libpmemobj no-log volatile; do
    grep -q "^  $system " list.txt || [ "$system" = libpmemobj ] || fail "--list does not name $system"
    ! grep -q "^  $system " list.txt ||
      grep -q "\"work\":\"stamp\",\"structure\":\"$application\",.*\"\(system\|config\)\":\"$system\"" rows.jsonl ||
      fail "no row of $application, $system"
  done
done
# The benchmarks of ENTS: every structure and part; the variants of its figures with one thread
# only.
for work in ents_read_update.bplus_tree ents_read_update.skiplist ents_insert_remove.rbtree ents_insert_remove.hashmap \
  ents_tatp.location_of_one ents_tatp.location ents_tatp.whole ents_tpcc.orders ents_tpcc.whole_w1 ents_tpcc.whole_w2 \
  ents_level_insert.load_20 ents_level_50.load_60 ents_level_95.load_90; do
  for system in redo-none logfree-mlpc pow pow-none pow-none-cached pow-none-medium-padded raw-pow \
    raw-pow-medium-cached-padded volatile; do
    grep -q "\"work\":\"${work%.*}\",\"structure\":\"${work#*.}\",.*\"$system\"" rows.jsonl ||
      fail "no row of $work, $system"
  done
done
grep -q '"work":"ents_level_50",.*"system":"level-in-place"' rows.jsonl || fail "no row of level hashing in place"
! grep '"work":"ents_tatp",.*"threads":2,.*"raw-pow-padded"' rows.jsonl || fail "a variant with two threads"
! grep '"work":"ents_tatp",.*"threads":2,.*"pow-none-padded"' rows.jsonl || fail "a way of the store with two threads"
# The store on a disk, opened after a crash, and cleaned; and the costs that persistent caches would
# spare.
for system in pow pow-none; do
  grep -q "\"work\":\"kv_put\",.*\"threads\":8,.*\"config\":\"$system\"" rows.jsonl || fail "no row of kv_put, $system"
  grep -q "\"work\":\"pow_recovery\",.*\"config\":\"$system\",.*\"stages\":{\"open\":[0-9.]*,\"load\":[0-9.]*}" rows.jsonl ||
    fail "no parts of an opening, $system"
done
grep -q '"work":"pow_clean","structure":"live_none",.*"bytes_metadata_per_op":0.0,.*"file_per_live"' rows.jsonl ||
  fail "no row of a file without a cleaner, or something was copied"
grep '"work":"pow_clean","structure":"live_50",.*"pow-none-inline"' rows.jsonl | grep -qv '"bytes_metadata_per_op":0.0,' ||
  fail "no row of cleaning, or nothing was copied"
for system in volatile raw-pow-cached level-in-place; do
  grep -q "\"work\":\"eadr_level_50\",.*\"system\":\"$system-eadr\"" rows.jsonl || fail "no row of $system without write-backs"
  grep -q "\"work\":\"eadr_level_50\",.*\"system\":\"$system\"" rows.jsonl || fail "no row of $system to compare with"
done
for structure in ctree rbtree btree skiplist rtree hashmap; do
  grep -q "\"work\":\"map_insert\",\"structure\":\"$structure\"" rows.jsonl ||
    fail "no row of $structure"
  grep -q "\"work\":\"table3\",\"structure\":\"$structure\"" rows.jsonl ||
    fail "no row of $structure in table 3"
done
[ -z "$(ls disk)" ] || fail "files left on the disk: $(ls disk)"
left=$(ls "$dir")
[ "$left" = "scute-bench.$$.redo-none" ] || fail "wrong files are left: $left"

# Choosing.
"$bench" --tiny --dir "$dir" --filter overwrite_random --systems redo-mlpc --sizes 256 --threads 1 \
  --json one.jsonl >/dev/null 2>&1
[ "$(wc -l <one.jsonl)" = 1 ] || fail "the choice of one row gives another number"
grep -q '"fences_per_op":2.0,' one.jsonl || fail "an overwrite of 256 bytes takes not 2 fences"
"$bench" --tiny --dir "$dir" --filter overwrite_random --systems logfree-mlpc --sizes 256 --threads 1 \
  --json one.jsonl >/dev/null 2>&1
grep -q '"fences_per_op":1\.0' one.jsonl || fail "a log-free overwrite of 256 bytes takes not 1 fence"
grep -q '"bytes_log_per_op":0.0,' one.jsonl || fail "a log-free overwrite of 256 bytes writes a log"
"$bench" --tiny --dir "$dir" --filter stamp_kmeans-low --systems redo-none-in-place,no-log --threads 2 \
  --json two.jsonl >/dev/null 2>&1
[ "$(wc -l <two.jsonl)" = 2 ] || fail "systems of STAMP that are named give another number of rows"
"$bench" --tiny --dir "$dir" --filter map_insert --systems redo-mlpc --structures ctree \
  --json one.jsonl >/dev/null 2>&1
[ "$(wc -l <one.jsonl)" = 1 ] || fail "the choice of one map gives another number"
for system in redo-mlpc redo-none-in-place no-log; do
  grep -q "^  $system " list.txt || fail "--list does not name $system"
done
"$bench" --help >help.txt
grep -q '^Examples$' help.txt || fail "--help has no examples"
"$bench" --tiny --dir "$dir" --filter ents_tatp --systems raw-pow-padded --structures location_of_one --threads 2 \
  --json one.jsonl >/dev/null 2>&1
[ "$(wc -l <one.jsonl)" = 1 ] || fail "the choice of one variant gives another number"
grep -q '"fences_per_op":1.0,' one.jsonl || fail "a log of whole objects takes not 1 fence"
"$bench" --tiny --dir "$dir" --filter pow_clean --systems pow-none --threads 1 --json three.jsonl >/dev/null 2>&1
[ "$(wc -l <three.jsonl)" = 5 ] || fail "the choice of files that are cleaned gives another number of rows"
grep '"structure":"live_none"' three.jsonl | grep -q '"fences_per_op":1\.0' || fail "a section takes not 1 fence"

# Mistakes.
expect() {
  local code=0
  "$bench" "${@:3}" >mistake.txt 2>&1 || code=$?
  [ "$code" = "$1" ] || fail "exit status $code instead of $1: ${*:3}"
  grep -q -- "$2" mistake.txt || { cat mistake.txt; fail "no '$2' for: ${*:3}"; }
}
expect 2 "there are:" --systems nonsense
expect 2 "--list" --filter nonsense
expect 2 "there are:" --structures nonsense
expect 2 "no folder" --dir ./missing
expect 2 "no folder" --disk-dir ./missing
expect 2 "sizes" --sizes 0
expect 2 "wrong" --wrong
expect 1 "cannot write" --tiny --dir "$dir" --filter alloc --sizes 64 --json missing/rows.jsonl
