#!/usr/bin/env bash
# ./dev bench --shield at a tiny size, and its report: all parts are present, ratios are finite, and
# counts agree. An interrupted run leaves nothing but its rows. No time is compared.
source "$SCUTE_SOURCE_DIR/tests/cli/lib.bash"

python=/usr/bin/python3
[ -x "$python" ] || python=python3
export PYTHONDONTWRITEBYTECODE=1 TMPDIR=$PWD/tmp
mkdir tmp "$pools/files"
measure=("$python" "$SCUTE_SOURCE_DIR/bench/shield" --build "$SCUTE_BINARY_DIR" --dir "$pools/files")
nothing_left() {
  [ -z "$(ls tmp "$pools/files" | grep -v ':$' | tr -d '\n')" ] || fail "left: $(ls tmp "$pools/files")"
}

expect 0 "${measure[@]}" --tiny --json results.jsonl --machine machine.json
nothing_left
in_err 'overhead: round 1 of 1, mapcli btree, per-fence'

"$python" - results.jsonl "$SCUTE_SOURCE_DIR/tools/report" "$SCUTE_SOURCE_DIR/bench/shield" "$pools" <<'PY' || fail "the rows"
import math, sys
sys.path[:0] = sys.argv[2:4]
import json
from pathlib import Path
from pages import granted
from shield_rows import Results

rows = [json.loads(line) for line in open(sys.argv[1])]
found = Results.load(Path(sys.argv[1]))
configs = {"overhead": ["plain", "interposed", "windows", "per-fence"], "huge": ["plain", "windows", "per-fence"],
           "values": ["plain", "interposed", "windows", "per-fence"],
           "server": ["plain", "windows"], "warm": ["plain", "windows"],
           "schemes": ["plain", "interposed", "redo-none", "redo-ml", "redo-mlp", "redo-mlpc", "logfree-mlpc", "spec-none", "spec-mlpc"],
           "ratio": ["plain", "N = 20", "N = 100", "P = 2"]}
if not granted(Path(sys.argv[4])):
    del configs["huge"]
assert found.sets() == list(configs), found.sets()
for name, wanted in configs.items():
    assert found.configs(name) == wanted, (name, found.configs(name))
    for work in found.works(name):
        for config in wanted:
            for clock in ("cpu", "wall"):
                ratio = found.ratio(name, work, config, clock)
                assert math.isfinite(ratio.value) and ratio.value > 0 and math.isfinite(ratio.half), (name, work, config)
        # The map held the same, whatever protected it, and it held something.
        held = {r["content"] for r in rows if (r["set"], r.get("program"), r.get("map")) == (name, *work)}
        assert len(held) == 1 and len(held.pop()) == 16, (name, work)

# Each configuration is what its name says.
facts = {(c.set, c.config): c.facts for c in found.cells}
assert facts["overhead", "plain"] == facts["overhead", "interposed"] == {}
assert facts["overhead", "windows"] == {"engine": "logfree", "rows": 100, "parity": 1}
assert facts["schemes", "redo-none"]["engine"] == "redo" and facts["schemes", "redo-none"]["parity"] == 0
assert facts["schemes", "redo-mlp"]["parity"] == 1 and facts["schemes", "spec-mlpc"]["engine"] == "spec"
assert facts["ratio", "N = 20"]["rows"] == 20 and facts["ratio", "P = 2"]["parity"] == 2

# The audit's counts. Both ways flush the same. Lines that are flushed, changed and not flushed again
# are committed. A fence that has something to wait for commits. Opening and closing add a few.
few = 64
by = {(c.program, c.map, c.config): c.numbers for c in found.counters}
assert len(by) == 4, by.keys()
for program, name in (("mapcli", "btree"), ("values", "ctree")):
    windows, fences = by[program, name, "windows"], by[program, name, "per-fence"]
    assert windows["flushes"] == fences["flushes"] > 0
    assert windows["fences"] < fences["fences"] and windows["commits"] < fences["commits"]
    assert windows["committed_lines"] <= fences["committed_lines"]
    for n in (windows, fences):
        assert 0 <= n["committed_lines"] - (n["flushes"] - n["repeated_flushes"] - n["unchanged_flushes"]) < few, n
        assert 0 <= n["commits"] - (n["fences"] - n["empty_fences"]) < few, n

# Errors came, and nothing was silently wrong.
assert {(f.rows, f.parity, f.bits, f.rate) for f in found.faults} == {(20, 1, b, r) for b in (1, 64) for r in (1e-7, 1e-5)}
assert all(f.trials == 3 and f.silent == 0 and f.pages == 3 * 512 for f in found.faults)
assert sum(f.errors for f in found.faults) > sum(f.in_sidecar for f in found.faults) > 0

# More parity takes more space, and so do fewer rows. Engine spec has a log next to the file.
share = {(s.size, s.engine, s.rows, s.parity): s.share for s in found.shapes}
for size in (16 << 20, 64 << 20):
    assert 0 < share[size, "logfree", 100, 1] < share[size, "logfree", 20, 1] < 0.2, share
    assert share[size, "logfree", 100, 1] < share[size, "logfree", 100, 2], share
    assert share[size, "logfree", 100, 1] < share[size, "spec", 100, 1], share
assert share[64 << 20, "logfree", 100, 1] < share[16 << 20, "logfree", 100, 1]
PY

# The report has every part, and its counts are those of the rows.
mkdir raw
cp results.jsonl machine.json raw/
expect 0 "$python" "$SCUTE_SOURCE_DIR/tools/report" --reports "$PWD/reports" shield report --adopt raw
for figure in 11 12 13 14 15 16 17; do
  grep -q "^## .*(Figure $figure)\$" report/report.md || fail "no section of Figure $figure"
done
for plot in overhead schemes ratio breakdown fragments space; do
  [ -s "report/$plot.png" ] || fail "no plot $plot"
done
! grep -nwE 'nan|inf' report/report.md || fail "a number that is none"
commits=$(sed -n 's/.*"map": "btree", "config": "windows".*"commits": \([0-9]*\),.*/\1/p' results.jsonl)
grep -q "^| mapcli btree | windows .* $(awk -v n="$commits" 'BEGIN { printf "%.2f", n / 1000 }') |" report/report.md ||
  fail "the report does not have $commits commits of 1000 operations"
grep -q '"medium": "'"$pools/files" report/machine.json || fail "the report does not say where the pools lay"

# A run that is interrupted, wherever that happens to be, leaves its rows and nothing else: no
# folders, no programs.
"${measure[@]}" --quick --json cut.jsonl 2>err &
run=$!
until_said 'overhead: .* per-fence' err "$run"
pause "$((RANDOM % 4)).$((RANDOM % 10))"
kill -TERM "$run"
status=0
wait "$run" || status=$?
none_runs() { ! pgrep -f "^$PWD/tmp/" >/dev/null; }
wait_until none_runs
equal "$status" 130
in_err 'interrupted'
grep -q '"set": "counters"' cut.jsonl || fail "an interrupted run has no rows"
nothing_left

# Mistakes.
expect 1 "$python" "$SCUTE_SOURCE_DIR/bench/shield" --build nowhere --json results.jsonl --tiny
expect 2 "${measure[@]}" --json results.jsonl --wrong
