#!/usr/bin/env bash
# Comparing two runs: nothing between a run and itself, a planted change of a time or a counter,
# rows that only one side has.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

"$python" "$synthetic" old.jsonl
rows=$(wc -l <old.jsonl)

expect 0 "$python" "$tool" compare old.jsonl old.jsonl
has out.txt 'No row changed.'
has out.txt "$rows rows compared, 0 changes, 0 of them regressions"

# change EXPRESSION: new.jsonl, with the expression applied to every row r; `this` is the one row
# of random 256-byte overwrites of the default, 1 thread.
change() {
  "$python" - "$1" <<'PY'
import json, sys
with open("new.jsonl", "w") as out:
    for line in open("old.jsonl"):
        r = json.loads(line)
        this = (r["work"], r["size"], r["threads"], r["config"]) == ("overwrite_random", 256, 1, "logfree-mlpc")
        exec(sys.argv[1])
        if r is not None:
            out.write(json.dumps(r) + "\n")
PY
}

# Slower by far more than the spread: one regression, and it is named.
change 'r["ns_per_op"] *= 1.3 if this else 1'
expect 1 "$python" "$tool" compare old.jsonl new.jsonl
grep -qE '^REGRESSED +overwrite_random +256 B 1t +logfree-mlpc +time .* 1\.300$' out.txt ||
  { cat out.txt; fail "the regression is not named"; }
has out.txt "$rows rows compared, 1 changes, 1 of them regressions"

# The other way round it is an improvement, which is no failure.
expect 0 "$python" "$tool" compare new.jsonl old.jsonl
grep -qE '^improved +overwrite_random .* 0\.769$' out.txt || fail "the improvement is not named"

# As much slower, but the whiskers touch; and less than 5 % with no spread at all.
change 'r.update(ns_per_op=r["ns_per_op"] * 1.3, spread=0.6) if this else None'
expect 0 "$python" "$tool" compare old.jsonl new.jsonl
has out.txt 'No row changed.'
change 'r.update(spread=0)'
mv new.jsonl flat.jsonl
change 'r.update(ns_per_op=r["ns_per_op"] * (1.04 if this else 1), spread=0)'
expect 0 "$python" "$tool" compare flat.jsonl new.jsonl
has out.txt 'No row changed.'
change 'r.update(ns_per_op=r["ns_per_op"] * (1.06 if this else 1), spread=0)'
expect 1 "$python" "$tool" compare flat.jsonl new.jsonl

# Counters have no spread: the smallest change is reported, and one more fence is a regression.
change 'r.update(fences_per_op=2.0) if this else None'
expect 1 "$python" "$tool" compare old.jsonl new.jsonl
grep -qE '^REGRESSED +overwrite_random .* fences +1 +2 +2\.000$' out.txt || fail "the fence is not named"
change 'r.update(bytes_per_op=r["bytes_per_op"] + 1) if this else None'
expect 0 "$python" "$tool" compare old.jsonl new.jsonl
grep -qE '^changed +overwrite_random .* bytes +512 +513 ' out.txt || fail "a byte is not named"
change 'r.update(lines_per_op=r["lines_per_op"] - 1) if this else None'
expect 0 "$python" "$tool" compare old.jsonl new.jsonl
grep -qE '^improved +overwrite_random .* lines +16 +15 ' out.txt || fail "a line less is not named"

change 'if r["work"] == "table3" and r["structure"] == "btree": r["insert_mod_objects"] *= 2'
expect 1 "$python" "$tool" compare old.jsonl new.jsonl
grep -qE '^REGRESSED +table3 +btree .* insert_mod_objects .* 2\.000$' out.txt || fail "a transaction's objects are not compared"

# Regressions come first, the largest of them at the top.
change 'r["ns_per_op"] *= 2 if this else 0.5 if r["work"] == "alloc" else 1.5 if r["work"] == "free" else 1'
expect 1 "$python" "$tool" compare old.jsonl new.jsonl
sed -n 2p out.txt | grep -q '^REGRESSED *overwrite_random' || fail "the largest regression is not the first"
awk 'NR > 1 { if ($1 == "improved") seen = 1; if ($1 == "REGRESSED" && seen) exit 1 }' out.txt ||
  fail "improvements before regressions"

# Rows of one side only; a structure, a distribution or a file system makes another row.
change 'r = None if this else r
if r and r["work"] == "kv_put": r["file_system"] = "xfs"'
expect 0 "$python" "$tool" compare old.jsonl new.jsonl
has out.txt 'Only in OLD (17 rows):'
has out.txt '  overwrite_random, logfree-mlpc: 256 B 1t'
has out.txt 'Only in NEW (16 rows):'
has out.txt '  kv_put, sqlite: xfs 256 B 1t, xfs 256 B 8t'
has out.txt "$((rows - 17)) rows compared"

# Files that are none, and other machines.
echo nonsense >bad.jsonl
expect 2 "$python" "$tool" compare old.jsonl bad.jsonl
has err.txt 'bad.jsonl:1: no result of scute-bench'
expect 2 "$python" "$tool" compare missing.jsonl old.jsonl
mkdir a b
cp old.jsonl a/
cp old.jsonl b/
echo '{"processor": "Abacus 9", "cpus": 2}' >a/machine.json
echo '{"processor": "Abacus 10", "cpus": 2}' >b/machine.json
expect 0 "$python" "$tool" compare a/old.jsonl b/old.jsonl
has err.txt 'processor: Abacus 9 / Abacus 10'

# Through ./dev.
change 'r["ns_per_op"] *= 1.3 if this else 1'
expect 1 "$SCUTE_SOURCE_DIR/dev" bench --compare old.jsonl new.jsonl
has out.txt 'REGRESSED'
expect 2 "$SCUTE_SOURCE_DIR/dev" bench --compare missing.jsonl new.jsonl
has err.txt 'there is no missing.jsonl'
expect 2 "$SCUTE_SOURCE_DIR/dev" bench --compare old.jsonl new.jsonl --quick
expect 2 "$SCUTE_SOURCE_DIR/dev" bench --compare old.jsonl --kind abacus
has err.txt 'bench/report/abacus/results.jsonl'
