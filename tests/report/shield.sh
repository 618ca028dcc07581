#!/usr/bin/env bash
# The report of an invented run of the shield: ratios, goals, parts, the paper's numbers, plots, the
# index, and mistakes.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

mkdir raw
"$python" "$SCUTE_SOURCE_DIR/tests/report/shield_rows.py" raw/results.jsonl
echo '{"medium": "beads", "clock": "sand"}' >raw/machine.json
reports=$PWD/reports
expect 0 "$python" "$tool" --reports "$reports" shield "$reports/shield/abacus" --adopt raw --seconds 90 --ran './dev bench --shield'
here=$reports/shield/abacus r=$reports/shield/abacus/report.md
cmp raw/results.jsonl "$here/results.jsonl"
has "$r" 'libpmemobj 1.'
lacks "$r" 'lmdb'
has "$r" '| measuring took '
has "$here/machine.json" '"medium": "beads"'

# Rounds that are slow as a whole change no ratio.
grep -q '^| btree  *|  *150\.00 µs | 1\.10 ±0% (least 1\.10) | 1\.40 ±0% (least 1\.40) | 2\.40 ±0% (least 2\.40) |$' "$r" || fail "ratios of btree"
grep -q '^| btree  *|  *300\.00 µs | 1\.10 ±0% ' "$r" || fail "wall time"
grep -q '^| geometric mean  *|  *|  *1\.10 |  *1\.71 |  *2\.40 |$' "$r" || fail "mean of ctree and rtree"
grep -q '^| mapcli btree | windows  *| *30\.00 | *2\.00 | *1\.00 | *5\.00 | *0\.50 | *1\.00 | *20\.00 | *20\.0 |$' "$r" || fail "counters"
grep -q '^| values  *| per-fence  *|  *160 MiB |  *40 ms |  *400 ms |  *4 ms |$' "$r" || fail "opening"

# Goals: met and missed.
grep -q '^| maps, windows  *| geometric mean  *|  *≤ 1\.5× |  *1\.40× |  *met |$' "$r" || fail "goal of the maps"
grep -q '^| maps in pages of 2 MiB, per fence  *| geometric mean  *|  *≤ 2\.5× |  *2\.40× |  *met |$' "$r" || fail "goal of pages of 2 MiB"
has "$r" 'Of each file at least 90 % was in pages of 2 MiB.'
grep -q '^| maps with values of 256 bytes, windows  *| the worst of them  *|  *≤ 2× |  *2\.10× |  *\*\*missed\*\* |$' "$r" || fail "the worst map"
grep -q '^| server over a socket  *| wall time of its clients  *|  *≤ 1\.15× |  *1\.10× |  *met |$' "$r" || fail "goal of the server"
grep -q '^| look-ups when warm  *| geometric mean  *|  *≤ 1\.05× |  *1\.40× |  *\*\*missed\*\* |$' "$r" || fail "goal of warm look-ups"
grep -q '^### A server over a socket$' "$r" || fail "no table of the server"
grep -q '^| space  *| of files from 512 MiB on, N = 100, P = 1  *|  *≤ 2\.5 % |  *2\.59 % |  *\*\*missed\*\* |$' "$r" || fail "goal of space"

grep -q '^| faults  *| trials that came back, of those that the geometry permits |  *≥ 95 % |  *95\.83 % |  *met |$' "$r" ||
  fail "goal of survival"
grep -q '^| N = 100, P = 1 | *8 | 100 (100) | 100 (90) | 40 (50) |$' "$r" || fail "Figure 12"
grep -q '^| all of 100 trials recover at error rates up to *| 1e-8 *| 1e-07 (N = 100, P = 1, 8 bits) ' "$r" || fail "Figure 12 next to ours"

# Parts of the breakdown are differences.
grep -q '^| parity  *|  *0\.25 |  *|$' "$r" || fail "parity"
grep -q '^| second copy of the log  *|  *0\.20 |  *|$' "$r" || fail "second copy"
grep -q '^| together  *|  *2\.00 |  *1\.40 |$' "$r" || fail "parts together"

# The paper's numbers next to ours, each figure with the differences.
for figure in 11 12 13 14 15 16 17; do
  grep -q "^## .*(Figure $figure)\$" "$r" || fail "no section of Figure $figure"
  grep -q "^Pavise Figure $figure, " "$r" || fail "nothing of the paper's Figure $figure"
done
[ "$(grep -c '^Differences: ' "$r")" = 7 ] || fail "a figure without its differences"
grep -q '^| Pavise with its ignore-list, PMDK benchmarks, mean *| 2\.16× *| maps 1\.40× (of 2); maps in pages of 2 MiB 1\.40× (of 1); maps with values of 256 bytes 1\.71× (of 2) ' "$r" ||
  fail "Figure 11 next to ours"
grep -q '^| run time at N = 1, over that at 100 *| higher *| N = 1: 1\.14× ' "$r" || fail "Figure 13 next to ours"
has "$r" 'rtree 2.10×, '
grep -q '^| main source of the overhead .*| parity: 25 % of the added time ' "$r" || fail "Figure 15 next to ours"
grep -q '^| 512 MiB | *2\.59 % | *6\.59 % | *3\.59 % |$' "$r" || fail "space"
lacks "$r" 'not in this run'

# All plots are there, and no others.
grep -o '([a-z0-9-]*\.png)' "$r" | tr -d '()' | sort -u >named
(cd "$here" && ls -- *.png) | sort >drawn
diff named drawn || fail "the report names other plots than there are"
[ "$(wc -l <drawn)" = 6 ] || fail "there are $(wc -l <drawn) files of plots"

# The index has it next to the kinds.
grep -q '^| \[abacus\](shield/abacus/report.md) .*|  *1\.40 |  *2\.40 |  *10 of 14 |$' "$reports/README.md" || fail "the index"
expect 0 "$python" "$tool" --reports "$reports" check
sed -i '$d' "$reports/README.md"
expect 1 "$python" "$tool" --reports "$reports" check

# The median and half the interquartile range; of two rounds their middle, of one no spread.
PYTHONPATH=$tool "$python" - <<'PY' || fail "median and spread"
from shield_rows import spread
assert (spread([9, 1, 2, 3, 2.5]).value, spread([9, 1, 2, 3, 2.5]).half) == (2.5, 0.5)
assert (spread([4.0]).value, spread([4.0]).half) == (4.0, 0.0)
assert spread([1.0, 2.0]).value == 1.5
PY

# A run that was cut short has what it has, and no plots of a longer one before it; the same results
# give the same files.
cp -r "$here" short
grep '"set": "overhead"' raw/results.jsonl >short/results.jsonl
expect 0 "$python" "$tool" --reports "$reports" shield short
has short/report.md 'not measured'
lacks short/report.md '(Figure 17)'
[ "$(cd short && echo *.png)" = "fragments.png overhead.png" ] || fail "plots of unmeasured quantities: $(cd short && echo *.png)"
mkdir again
cp short/{results.jsonl,machine.json} again
expect 0 "$python" "$tool" --reports "$reports" shield again
for file in again/*; do cmp "$file" "short/${file#again/}" || fail "$file is another one the second time"; done

# Mistakes.
for line in '{"set": "overhead"}' '[]' 'x' '{"set": "overhead", "program": "p", "map": "m", "config": "plain", "operations": 10, "pool_bytes": 1, "cpu_ms": [1, 2],
  "wall_ms": [1], "open_cpu_ms": [1], "open_wall_ms": [1], "close_cpu_ms": [1]}' \
  '{"set": "overhead", "program": "p", "map": "m", "config": "plain", "operations": 10, "pool_bytes": 1, "cpu_ms": [0], "wall_ms": [1], "open_cpu_ms": [1],
  "open_wall_ms": [1], "close_cpu_ms": [1]}'; do
  tr -d '\n' <<<"$line" >short/results.jsonl
  expect 2 "$python" "$tool" --reports "$reports" shield short
  has err.txt 'results.jsonl:1: no result of bench/shield'
done
: >short/results.jsonl
expect 2 "$python" "$tool" --reports "$reports" shield short
has err.txt 'holds no results'
expect 2 "$python" "$tool" --reports "$PWD/none" shield
