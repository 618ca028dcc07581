#!/usr/bin/env bash
# One report per kind of processor: what a processor is called, which folder a run goes to, the
# index of the kinds, and pages with tables from their reports.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

# kind MODEL: what the line "model name" of /proc/cpuinfo gives.
kind() {
  printf 'processor\t: 0\nmodel name\t: %s\nflags\t\t: fpu epyc xeon\n' "$1" >cpuinfo
  "$python" "$tool" kind --cpuinfo cpuinfo
}
arch=$(uname -m)
while IFS='|' read -r model wanted; do
  [ "$(kind "$model")" = "$wanted" ] || fail "'$model' is of kind $(kind "$model") instead of $wanted"
done <<END
Intel(R) Xeon(R) Processor|intel-xeon
Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz|intel-xeon
INTEL(R) XEON(R) GOLD 6530|intel-xeon
12th Gen Intel(R) Core(TM) i7-1260P|intel-core
Intel(R) Core(TM) Ultra 7 155H|intel-core
Intel(R) Atom(TM) CPU C3758 @ 2.20GHz|intel-atom
AMD EPYC|amd-epyc
AMD EPYC 9B45 128-Core Processor|amd-epyc
AMD EPYC-Milan Processor|amd-epyc
AMD Ryzen 9 7950X 16-Core Processor|amd-ryzen
Neoverse-V2|arm-neoverse
QEMU Virtual CPU version 2.5+|other-$arch
Xeonic Epycure|other-$arch
|other-$arch
END
[ "$("$python" "$tool" kind --cpuinfo missing)" = "other-$arch" ] || fail "a processor without a description"
printf 'CPU implementer\t: 0x41\n' >cpuinfo
[ "$("$python" "$tool" kind --cpuinfo cpuinfo)" = "other-$arch" ] || fail "a processor without a name"

# A tree with reports of two kinds, and its ./dev.
mkdir -p tree/tools tree/bench/report/amd-epyc tree/bench/report/abacus tree/tests/instructions
cp "$SCUTE_SOURCE_DIR/dev" tree/
cp -r "$tool" tree/tools/
cp "$SCUTE_SOURCE_DIR/tests/instructions/golden.txt" tree/tests/instructions/
"$python" "$synthetic" all.jsonl
grep -E '"size": (64|4096),' all.jsonl >rows.jsonl
grep -E '"work": "(alloc|free)"' rows.jsonl >tree/bench/report/abacus/results.jsonl
grep '"work": "free"' rows.jsonl >tree/bench/report/amd-epyc/results.jsonl
echo '{"processor": "Abacus 9", "cpus": 2, "kernel": "Linux 6 wood", "commit": "0123456789abcdef", "date": "2026-01-02"}' \
  >tree/bench/report/abacus/machine.json
echo '{"processor": "AMD EPYC", "cpus": 64}' >tree/bench/report/amd-epyc/machine.json
printf '## free 4 KiB\n\nOf this kind alone.\n' >tree/bench/report/amd-epyc/explanations.md

# All are redrawn, each with its own explanations, and the index has them.
dev=tree/dev reports=tree/bench/report
expect 0 "$dev" bench --redraw
has $reports/amd-epyc/report.md 'Of this kind alone.'
lacks $reports/abacus/report.md 'Of this kind alone.'
has $reports/abacus/report.md '**free 4 KiB**, **free 4 KiB 2 threads**: NOT EXPLAINED'
index=$reports/README.md
grep -q '^| \[abacus\](abacus/report.md)  *| Abacus 9, 2 CPUs  *| 2026-01-02 | 0123456789ab | ' $index || fail "abacus in the index"
grep -q '^| \[amd-epyc\](amd-epyc/report.md)  *| AMD EPYC, 64 CPUs .* not measured |  *2 |$' $index || fail "amd-epyc in the index"
grep -q '^| \[abacus\].*, [0-9]* not explained |$' $index || fail "what is not explained in the index"

# A smaller run on the same kind takes the kind's explanations; its folder is no kind.
mkdir -p tree/build/quick
cp $reports/amd-epyc/{results.jsonl,machine.json} tree/build/quick/
expect 0 "$dev" bench --redraw tree/build/quick
has tree/build/quick/report.md 'Of this kind alone.'
lacks $index quick

# One kind, and what does not go together.
rm $reports/*/report.md
expect 0 "$dev" bench --redraw --kind abacus
[ -f $reports/abacus/report.md ] && [ ! -f $reports/amd-epyc/report.md ] || fail "--kind redraws another kind"
expect 2 "$dev" bench --redraw tree/build/quick --kind abacus
expect 2 "$dev" bench --kind ../abacus
expect 2 "$dev" bench --kind abacus --quick
expect 2 "$dev" bench --kind

# Comparing takes the kind of this machine, or the one that is named.
cp $reports/abacus/results.jsonl old.jsonl
expect 0 "$dev" bench --compare old.jsonl --kind abacus
has out.txt 'No row changed.'
mine=$("$python" "$tool" kind)
rm -rf "${reports:?}/$mine"
expect 2 "$dev" bench --compare old.jsonl
has err.txt "bench/report/$mine/results.jsonl"
cp -r $reports/abacus "$reports/$mine"
expect 0 "$dev" bench --compare old.jsonl
has out.txt 'No row changed.'
rm -rf "${reports:?}/$mine"

# A run that is adopted into a kind's folder brings the index up to date, and the date.
mkdir raw
cp old.jsonl raw/results.jsonl
echo '{"processor": "Abacus 10", "cpus": 1}' >raw/machine.json
own=tree/tools/report
expect 0 "$python" $own adopt raw $reports/abacus-10
has $index '[abacus-10](abacus-10/report.md)'
grep -qE '"date": "20[0-9]{2}-[0-9]{2}-[0-9]{2}"' $reports/abacus-10/machine.json || fail "no date"
[ -f $reports/abacus-10/instructions.txt ] || fail "the counts of instructions are not kept"

# Pages with a report's table: the right one, wrong ones, none. And an index that is old.
{
  printf 'Fast.\n\n<!-- table: abacus -->\n'
  sed -n '/^## In short/,/^## Targets/p' $reports/abacus/report.md | grep '^|'
  printf '\nOn Abacus 9.\n'
} >page.md
expect 0 "$python" $own check page.md
grep -v '^| free' page.md >short.md
expect 1 "$python" $own check page.md short.md
has err.txt 'short.md: the table of abacus is not that of its report'
lacks err.txt 'page.md: '
sed 's/-- table: abacus --/-- table --/' page.md >unmarked.md
expect 1 "$python" $own check unmarked.md
sed 's/table: abacus /table: none /' page.md >none.md
expect 2 "$python" $own check none.md
rm -r $reports/abacus-10
expect 1 "$python" $own check page.md
has err.txt 'README.md is not current'
rm -r $reports
expect 2 "$dev" bench --redraw
