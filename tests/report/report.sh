#!/usr/bin/env bash
# The report of a run that never was: tables, targets, plots, what becomes of explanations and of
# rows and machines that it does not know.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

mkdir raw
"$python" "$synthetic" raw/results.jsonl
cat >raw/machine.json <<'JSON'
{"processor": "Abacus 9", "cpus": 2, "memory_bytes": 8589934592, "kernel": "Linux 6", "medium": "tmpfs",
 "flush": "clwb", "clock": "wall", "rounds": 3, "seed": 42, "command": "scute-bench"}
JSON
mkdir new
cat >new/explanations.md <<'TEXT'
# Why targets were missed

## ycsb_a

Beads get stuck.

## free

Nobody knows.

## kv_put

Wires.

## kv_put 8 threads

Only one wire.
TEXT
expect 0 "$python" "$tool" adopt raw new --seconds 3720 --ran "./dev bench --rounds 3"
rows=$(wc -l <raw/results.jsonl)
has err.txt "$rows rows, 14 plots"
[ "$(grep -c '^drawing ' err.txt)" = 15 ] || fail "not a line of progress per plot"
cmp raw/results.jsonl new/results.jsonl

r=new/report.md
for text in 'Abacus 9, 2 CPUs usable' '8.0 GiB' 'clwb' '| 42 ' '62.0 min' '`./dev bench --rounds 3`'; do
  has $r "$text"
done
has new/machine.json '"command": "./dev bench --rounds 3"'
has new/machine.json '"commit": '

# Tables: every work has one, and a cell is what the row says.
for work in $("$python" -c 'import json, sys
for w in dict.fromkeys(json.loads(l)["work"] for l in open("new/results.jsonl")): print(w)'); do
  case $work in
    ycsb_?) grep -q "^|.* $work .*|\$" $r ;;
    table3) has $r 'Pangolin, Table 3' ;;
    *) grep -q "^### $work, " $r ;;
  esac || fail "no table of $work"
done
cell=$("$python" -c 'import json
rows = [json.loads(l) for l in open("new/results.jsonl")]
a, b = ([r for r in rows if r["work"] == "alloc" and r["size"] == 64 and r["threads"] == 1
         and r["config"] == c][0] for c in ("redo-mlpc", "tx"))
print(f"""{a["ns_per_op"]:.0f} ns ±{a["spread"] * 50:.0f}% **{b["ns_per_op"] / a["ns_per_op"]:.2f}×**""")')
has $r "$cell"
has $r '2 / 4 / 256'

# Targets come from the rows: five times is enough for the hash map, 1.9 in the mean is not.
# The other libpmemobj, at 0.6 of the time, stands beside them and decides nothing.
grep -q '^| hashmap insert .* 4× .* 4\.9.× .* 2\.9.× .* met |$' $r || fail "hashmap insert should be met"
grep -q '^| maps .* 1\.[89].× .* 1\.[01].× .*\*\*missed\*\* |$' $r || fail "the mean over libpmemobj-huge"
grep -q "^| target .* measured | over libpmemobj-huge's | *|\$" $r || fail "no column of libpmemobj-huge"
grep -q '^| libpmemobj-huge .*\*\*1\.6.×\*\*' $r || fail "no row of libpmemobj-huge"
sed -n '/^### Where the default is slower than libpmemobj-huge/,/^#/p' $r >slower
grep -q '^| hashmap get  *| map_get  *| hashmap.* 0\.6.× |$' slower || fail "slower than libpmemobj-huge"
! grep -q '^| hashmap insert ' slower || fail "hashmap insert is not slower"
grep -q '^| maps .*\*\*missed\*\* |$' $r || fail "the mean should be missed"
grep -q '^| kv_put 8 threads .*(rocksdb).*\*\*missed\*\* |$' $r || fail "kv_put should be missed"
grep -q '^| run time .*62.00 min .*\*\*missed\*\* |$' $r || fail "62 minutes are too long"
grep -q '^\*\*ycsb_a 100 B zipfian\*\*.*: Beads get stuck\.$' $r || fail "explanation of ycsb_a"
has $r '**kv_put 8 threads**: Only one wire.'
has $r '**maps**, **run time**: no explanation has been written yet.'
grep -q '^| free 4 KiB  *| free  *| 4 KiB, 2 threads  *|  *0\.[67].× |$' $r || fail "free of 4 KiB is slower"
! grep -q '^| free 64 B ' $r || fail "free of 64 B is not slower"
has $r '**free 4 KiB**: Nobody knows.'

# The papers' numbers beside ours.
has $r '#### CodePM Figure 10'
grep -q '^| at 4 KiB, about | 33 %  | 50.0 % |' $r || fail "Figure 10"
grep -q '^| CodePM: share of parity, about half | 50 %  | 40.0 % |' $r || fail "Figure 11"
lacks $r 'not in this run'

# Plots: every file that the report names is there, no other is, and each shows something.
grep -o '([a-z0-9-]*\.\(png\|svg\))' $r | tr -d '()' | sort -u >named
(cd new && ls -- *.png *.svg) | sort >drawn
diff named drawn || fail "the report names other plots than there are"
"$python" - <<'PY' || fail "a plot is not what it should be"
import glob, sys
import xml.etree.ElementTree as xml
from matplotlib.image import imread
bad = []
for path in sorted(glob.glob("new/*.png")):
    pixels = imread(path)
    colors = len({tuple(c) for c in (pixels[::7, ::7, :3] * 255).astype(int).reshape(-1, 3)})
    if pixels.shape[1] < 600 or pixels.shape[0] < 250 or colors < 5 or not 0.01 < (pixels < 0.95).mean() < 0.7:
        bad.append(f"{path}: {pixels.shape}, {colors} colors, {(pixels < 0.95).mean():.3f} inked")
for path in sorted(glob.glob("new/*.svg")):
    texts = ["".join(t.itertext()) for t in xml.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    better = any("is better" in t for t in texts)
    if len(texts) < 8 or not better:
        bad.append(f"{path}: {len(texts)} texts, says what is better: {better}")
if bad: print("\n".join(bad))
sys.exit(bool(bad))
PY

# A bar is as high as its value and has its system's colour, which no other system has.
PYTHONPATH=$tool "$python" - <<'PY' || fail "bars and colours"
import canvas
import palette
from canvas import Point
from matplotlib.colors import to_rgb

names = ["libpmemobj", "logfree-mlpc", "redo-mlpc"]
axes = canvas.plt.figure().add_subplot()
canvas.bars(axes, {"redo-mlpc": {"64 B": Point(1.5, 0.1)}, "libpmemobj": {"64 B": Point(1.0)}}, names, ["64 B"])
bars = [(b.get_height(), b.get_facecolor()[:3]) for b in axes.patches]
assert bars == [(1.0, to_rgb(palette.look("libpmemobj").color)),
                (1.5, to_rgb(palette.look("redo-mlpc").color))], bars
systems = ["redo-none", "redo-ml", "redo-mlp", "redo-mlpc", "plain-mlpc", "logfree-mlpc", "logfree2-mlpc",
           "libpmemobj", "libpmemobj-huge", "lmdb", "sqlite", "rocksdb", "memcpy", "volatile"]
assert len({palette.look(s).color for s in systems}) == len(systems)
assert palette.order(reversed(systems)) == systems
PY

# A terse run: three works, without the peer, without a machine. It replaces a report of more plots.
cp -r new terse
touch terse/mine.png
rm terse/machine.json
grep -E '"work": "(alloc|map_insert|ycsb_a)".*"logfree-mlpc"' raw/results.jsonl >terse/results.jsonl
expect 0 "$python" "$tool" write terse
has terse/report.md 'not in this run'
has terse/report.md 'not measured'
lacks terse/report.md "over libpmemobj-huge's"
[ "$(cd terse && echo *.png)" = "mine.png objects-time-1t.png objects-time-2t.png ycsb-uniform.png ycsb-zipfian.png" ] ||
  fail "plots of the older report, or not those of the new: $(cd terse && echo *.png)"

# The same results give the same files.
mkdir again
cp terse/results.jsonl again
expect 0 "$python" "$tool" write again
for file in again/*; do
  cmp "$file" "terse/${file#again/}" || fail "$file is another one the second time"
done

# Mistakes.
mkdir empty
expect 2 "$python" "$tool" write empty
has err.txt 'cannot read'
: >empty/results.jsonl
expect 2 "$python" "$tool" write empty
has err.txt 'no results'
echo '{"work": "alloc"}' >empty/results.jsonl
expect 2 "$python" "$tool" adopt empty new
has err.txt 'results.jsonl:1: no result'
cmp raw/results.jsonl new/results.jsonl
