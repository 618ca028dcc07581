#!/usr/bin/env bash
# The report of an invented run: tables, targets, plots, explanations, and rows and machines that
# the report does not know.
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

The cause is unknown.

## kv_put

Wires.

## kv_put 8 threads

Only one wire.
TEXT
expect 0 "$python" "$tool" adopt raw new --seconds 3720 --ran "./dev bench --rounds 3"
rows=$(wc -l <raw/results.jsonl)
has err.txt "$rows rows, 29 plots"
[ "$(grep -c '^drawing ' err.txt)" = 30 ] || fail "not a line of progress per plot"
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
    stamp_load) has $r 'SpecPMT, Table 2' ;;
    *) grep -q "^### $work, " $r ;;
  esac || fail "no table of $work"
done
cell=$("$python" -c 'import json
rows = [json.loads(l) for l in open("new/results.jsonl")]
a, b, h = ([r for r in rows if r["work"] == "alloc" and r["size"] == 64 and r["threads"] == 1
            and c in (r["config"], r["system"])][0] for c in ("redo-mlpc", "libpmemobj", "libpmemobj-huge"))
print(f"""{a["ns_per_op"]:.0f} ns ±{a["spread"] * 50:.0f}% **{h["ns_per_op"] / a["ns_per_op"]:.2f}×** ({b["ns_per_op"] / a["ns_per_op"]:.2f}×)""")')
has $r "$cell"
has $r '2 / 4 / 256'

# Targets come from the rows, and are held against libpmemobj-huge: 2.99 times insert the hash map,
# 3.00 remove. Plain libpmemobj stands next to it and decides nothing. The golden file has the
# numbers of instructions.
has $r '# Benchmark report: Abacus 9'
grep -q '^Met on Abacus 9: of instructions [0-4] of 4; of times [23][0-9] of 106\.$' $r || fail "targets met"
grep -q "^| target .* measured | *over libpmemobj's | *|\$" $r || fail "the peers' columns"
grep -q "^| hashmap remove .* ≥ 3× .* 3\.00× .* 5\.00× .* met |\$" $r || fail "hashmap remove should be met"
grep -q "^| hashmap insert .* ≥ 3× .* 2\.99× .* 4\.98× .*\*\*missed\*\* |\$" $r || fail "hashmap insert should be missed"
grep -q '^| maps .* ≥ 2× .* 1\.[01].× .* 1\.[89].× .*\*\*missed\*\* |$' $r || fail "the mean should be missed"
grep -q '^| skiplist insert .* ≥ 1\.4× ' $r || fail "skip list"
grep -q '^| overwrite_random 64 B .* ≥ 2\.4× .* 1\.2.× .* 1\.5.× .*\*\*missed\*\* |$' $r || fail "overwrites"
grep -q "^| overwrite_random 4 KiB floor .*raw-logfree's .* ≤ 1\.4× .* 1\.3.× .* met |\$" $r || fail "the floor"
grep -q '^| edit_in_place 1 KiB .* ≤ 0\.8× .* 0\.41× .* met |$' $r || fail "in place, small"
grep -q '^| edit_in_place 4 KiB .* ≤ 0\.8× .* 1\.6.× .*\*\*missed\*\* |$' $r || fail "in place, large"
grep -q '^| redo free 64 B .* ≥ 1× .* met |$' $r || fail "redo frees"
grep -q '^| hashmap get .* ≤ 1\.15× .* met |$' $r || fail "hashmap get"
grep -q '^| ycsb_a 100 B zipfian 2 threads .* ≥ 1\.6× .* 0\.9.× .*\*\*missed\*\* |$' $r || fail "ycsb_a"
grep -q '^| kv_put 1 thread .*spec-mlpc.*(sqlite).* met |$' $r || fail "kv_put, of what a disk gets"
grep -q '^| kv_put 8 threads .*spec-mlpc.*(rocksdb).*\*\*missed\*\* |$' $r || fail "kv_put should be missed"
grep -q '^| run time .*62.00 min .*\*\*missed\*\* |$' $r || fail "62 minutes are too long"
cmp "$SCUTE_SOURCE_DIR/tests/instructions/golden.txt" new/instructions.txt
read -r logfree redo spec bare < <(sed -n 's/^overwrite 3 of 64  *//p' new/instructions.txt)
grep -q "^| overwrite 3 of 64  *|  *$logfree |  *$redo |  *$spec |  *$bare |  *≤ 2300 |" $r || fail "instructions"
grep -q '^| map get  *|\(  *[0-9]* |\)\{4\}  *|  *|$' $r || fail "instructions without a goal"

# Speculative logging: 300 ns where the peer takes 900, 1,800, ... and memory alone 200; 500 with
# everything protected, where logfree takes 600; as long as that on hot objects; 120 us and 30 on a
# disk, where the fastest peers take 160 and 26; 4.6 us for each record of a load, and SQLite 2.
[ "$(grep -cE '^\| spec-(none|mlpc) ' $r)" -ge 19 ] || fail "targets of spec"
grep -q '^| spec-none stamp .* ≥ 5× .* 12\.[0-9]*× .* 13\.[0-9]*× .* met |$' $r || fail "the mean over STAMP"
grep -q '^| spec-none genome volatile .* ≤ 1\.25× .* 1\.[45].× .*\*\*missed\*\* |$' $r || fail "spec over memory alone"
grep -q '^| spec-mlpc yada .* ≥ 1× .* 1\.[12].× .* met |$' $r || fail "spec over logfree"
grep -q '^| spec-mlpc kmeans-low .* ≥ 1\.3× .* 1\.[12].× .*\*\*missed\*\* |$' $r || fail "spec over logfree in kmeans"
grep -q '^| spec-mlpc hot 256 B .* ≤ 0\.85× .* \(0\.9\|1\.0\).× .*\*\*missed\*\* |$' $r || fail "hot objects"
grep -q '^| spec-mlpc opening .* ≤ 100 ms .* 5[0-9] ms .* met |$' $r || fail "opening with a full log"
grep -q '^| spec-mlpc fences .* ≤ 1\.01 .* 1\.000 .* met |$' $r || fail "fences of spec"
grep -q '^| spec-mlpc kv_put 1 thread .*(sqlite).* ≥ 1\.4× .* 1\.3.× .*\*\*missed\*\* |$' $r || fail "spec on a disk"
grep -q '^| spec-mlpc kv_put 8 threads .*(rocksdb).* ≥ 1\.4× .* 0\.8.× .*\*\*missed\*\* |$' $r || fail "spec on a disk, 8 threads"
grep -q '^| spec-mlpc kv_load .*sqlite.* ≤ 3× .* 2\.[23].× .* met |$' $r || fail "spec loading"

# Persist-on-write files: 4 maps and half look-ups, 3 parts of transactions, 4 settings of level
# hashing, protected and not; the disk; opening at 64 + 16 ms for 32 MiB of which half is live;
# cleaning, 400 ns without and 500 and 650 with it.
[ "$(grep -cE '^\| pow(-none)? (bplus_tree|rbtree|hashmap|skiplist|tpcc|tatp|level|kv_put)' $r)" = 34 ] || fail "targets of pow"
grep -q '^| pow-none rbtree .* ≥ 3× .* 1\.2.× .* 2\.0.× .*\*\*missed\*\* |$' $r || fail "pow-none against both peers"
grep -q '^| pow-none kv_put  *|.*pwrite.* ≤ 1\.15× .* 1\.[01].× .* met |$' $r || fail "pow-none on a disk"
grep -q '^| pow kv_put 8 threads .*rocksdb.* ≥ 2× .* 0\.1.× .*\*\*missed\*\* |$' $r || fail "pow on a disk, 8 threads"
grep -q '^| pow recovery .* ≥ 1 GiB/s .* 0\.1[56] GiB/s .*\*\*missed\*\* |$' $r || fail "how fast files are opened"
grep -q '^| pow recovery 2 threads .* 0\.1[23] GiB/s .*\*\*missed\*\* |$' $r || fail "the same for each of two"
grep -q '^| pow cleaner 33  .* ≤ 25 % .* \(19\|20\)\.. % .* met |$' $r || fail "what a thread that cleans takes"
grep -q '^| pow cleaner 33 inline .* 3[89]\.. % .*\*\*missed\*\* |$' $r || fail "what cleaning inline takes"
grep -q '^| pow cleaner bytes .* ≤ 1× .* 1\.00× .* met |$' $r || fail "what the cleaner writes"
grep -q '^| pow file .* ≤ 2× .* 2\.00× .* met |$' $r || fail "the size of the file"
grep -q '^| 128 MiB, 50 % live *| 256 B .* 268\.44 ms | *67\.11 ms | *2[45][0-9][0-9] | *0\.1[56] | *[12][0-9]\.[0-9]× |$' $r ||
  fail "the table of openings"
# Reading goes with the file's size and less with threads; by the byte with these alone. The other
# part is one thread's.
sed -n '/^### What the time of opening goes with/,/^ENTS/p' $r >goes
grep -q '^| 36 files ' goes || fail "files that were opened"
grep -q '^| read, test, decide: time per byte *| *0\.000 | *0\.000 | *0\.000 | *0\.000 | *-1\.000 |$' goes || fail "correlations"
grep -q '^| hand over to the program: time per byte *| *-\?0\.000 | .* | *1\.000 | *-\?0\.000 |$' goes || fail "correlations of the second part"
grep -q '^| 50 *| pow-none-inline .* 56 % | *1\.00 | *2\.00 |' $r || fail "the table of cleaning"
grep -q '^| PMDK.s gain by eADR, on average *| 21 % *| 25\.0 to 25\.0 %' $r || fail "eADR"

# Both peers stand in every cell, floors in the tables of objects.
grep -q '^| libpmemobj-huge .* ±[0-9]*% (1\.2.×) ' $r || fail "no row of libpmemobj-huge"
grep -q '^| libpmemobj  *|.* ±[0-9]*% \*\*0\.[78].×\*\* ' $r || fail "libpmemobj next to libpmemobj-huge"
sed -n '/^### alloc, 1 thread/,/^Fences/p' $r >alloc
for floor in raw-logfree raw-log raw-redo; do
  grep -q "^| $floor  *| .* \*\*[0-9.]*×\*\* ([0-9.]*×) |" alloc || fail "no $floor next to the objects"
done

# Rows of the default that lose, with what explanations.md says: a heading is a name or the
# beginning of one.
sed -n '/^### Where the default is slower than libpmemobj-huge/,/^#/p' $r >slower
grep -q '^| hashmap get  *| map_get  *| hashmap.* 0\.6.× .* 1\.0.× |  *NOT EXPLAINED |$' slower || fail "hashmap get"
grep -q '^| free 4 KiB 2 threads  *| free  *| 4 KiB, 2 threads  *|  *0\.6.× |  *0\.7.× |  *|$' slower || fail "free of 4 KiB"
grep -q '^\*\*ycsb_a 100 B zipfian\*\*.*: Beads get stuck\.$' slower || fail "explanation of ycsb_a"
grep -q '^\*\*.*\*\*ctree insert\*\*, .*\*\*hashmap get\*\*, .*: NOT EXPLAINED$' slower || fail "what is not explained"
has slower '**free 4 KiB**, **free 4 KiB 2 threads**: The cause is unknown.'
! grep -q '^| \(hashmap insert\|free 64 B\) ' slower || fail "hashmap insert and free of 64 bytes are not slower"
has $r '**kv_put 8 threads**: Only one wire.'
grep -q '^\*\*.*\*\*maps\*\*, .*\*\*pow rbtree\*\*, .*\*\*run time\*\*: NOT EXPLAINED$' $r || fail "unexplained misses"
has err.txt 'NOT EXPLAINED: hashmap get'
! grep -q '^### Where the default is slower than libpmemobj$' $r || fail "rows that lose to libpmemobj-huge anyway"

# A heading without a text explains nothing, "free_" is no beginning of a word, and where there is
# no row of libpmemobj-huge the other one counts.
mkdir plain
grep -E '"work": "(alloc|free|edit_in_place|map_[a-z]*)"' raw/results.jsonl | grep -v libpmemobj-huge >plain/results.jsonl
printf '## free\n\n## edit\n\nSlow.\n\n## edit_in_place 4 KiB 2\n\nSlower.\n\n## edit_in_pl\n\nNo.\n' >plain/explanations.md
expect 0 "$python" "$tool" write plain
grep -q '^### Where the default is slower than libpmemobj$' plain/report.md || fail "slower than plain libpmemobj"
lacks plain/report.md '### Where the default is slower than libpmemobj-huge'
has plain/report.md '**free 4 KiB**, **free 4 KiB 2 threads**: NOT EXPLAINED'
has plain/report.md '**edit_in_place 4 KiB**: Slow.'
has plain/report.md '**edit_in_place 4 KiB 2 threads**: Slower.'
grep -q '^| hashmap insert .* not measured | .* 4\.98× |  *|$' plain/report.md || fail "nothing decides but libpmemobj-huge"
has plain/report.md 'of instructions 4 not measured; '

# The papers' numbers next to ours.
has $r '#### CodePM Figure 10'
grep -q '^| at 4 KiB, about | 33 %  | 50.0 % |' $r || fail "Figure 10"
grep -q '^| CodePM: share of parity, about half | 50 %  | 40.0 % |' $r || fail "Figure 11"
lacks $r 'not in this run'

grep -q '^| SpecSPMT over PMDK, average (ours: edits in micro-buffers, the faster form)  *| 5\.1×  *| [0-9.]*× (mean of 9); over libpmemobj [0-9.]*× (mean of 9)  *|' $r || fail "Figure 12"
grep -q "^| genome  *|  *1,000 |  *48\.5 |  *7 |  *15\.5 |  *2,489,218 |  *7\.2 |  *2\.9 |\$" $r || fail "Table 2 of SpecPMT"

# STAMP: the time of work put off stands next to the time where it is much.
sed -n '/^### stamp, 1 thread/,/^Fences/p' $r >stamp
grep -q '^| spec-none  *| 30[0-9] ns ±[0-9]*%, 90 ns deferred \*\*3\.' stamp || fail "what is put off"
[ "$(grep -c deferred stamp)" = 1 ] || fail "something put off that is not"

# Plots: every file that the report names is there, no other is, and each shows something.
grep -o '([a-z0-9-]*\.png)' $r | tr -d '()' | sort -u >named
(cd new && ls -- *.png) | sort >drawn
diff named drawn || fail "the report names other plots than there are"
"$python" - <<'PY' || fail "a plot is not what it should be"
import glob, sys
from PIL import Image
from matplotlib.image import imread
bad = []
for path in sorted(glob.glob("new/*.png")):
    pixels = imread(path)
    colors = len({tuple(c) for c in (pixels[::7, ::7, :3] * 255).astype(int).reshape(-1, 3)})
    if pixels.shape[1] < 600 or pixels.shape[0] < 250 or colors < 5 or not 0.01 < (pixels < 0.95).mean() < 0.7:
        bad.append(f"{path}: {pixels.shape}, {colors} colors, {(pixels < 0.95).mean():.3f} inked")
    texts = Image.open(path).text["Description"].split("\n")
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
           "libpmemobj", "libpmemobj-huge", "libpmemobj-elements", "lmdb", "sqlite", "rocksdb", "memcpy", "no-log",
           "volatile"]
assert len({palette.look(s).color for s in systems}) == len(systems)
assert palette.order(reversed(systems)) == systems
PY

# A terse run: three workloads, without the peer, without a machine. It replaces a report of more
# plots.
cp -r new terse
touch terse/mine.png
rm terse/machine.json
grep -E '"work": "(alloc|map_insert|ycsb_a)".*"logfree-mlpc"' raw/results.jsonl >terse/results.jsonl
expect 0 "$python" "$tool" write terse
has terse/report.md 'not in this run'
has terse/report.md 'not measured'
[ "$(cd terse && echo *.png)" = "mine.png objects-time-1t.png objects-time-2t.png ycsb-uniform.png ycsb-zipfian.png" ] ||
  fail "plots of the older report, or not those of the new: $(cd terse && echo *.png)"

# The same results give the same files.
mkdir again
cp terse/{results.jsonl,instructions.txt,explanations.md} again
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
