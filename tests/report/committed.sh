#!/usr/bin/env bash
# The committed reports: their index is current, every row that loses is explained, and the README
# has the table and a plot of one of them, and says of which processor.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

cd "$SCUTE_SOURCE_DIR"
"$python" "$tool" check README.md || fail "the index or the README's table"
for folder in bench/report/*/; do
  [ "$folder" != bench/report/shield/ ] || continue
  for file in report.md results.jsonl machine.json explanations.md; do
    [ -f "$folder$file" ] || fail "$folder has no $file"
  done
  ! sed -n '/^### Where the default is slower/,/^### Other/p' "${folder}report.md" | grep 'NOT EXPLAINED' ||
    fail "${folder}explanations.md does not say why these rows are slower (then: ./dev bench --redraw)"
done
for folder in bench/report/shield/*/; do
  [ -d "$folder" ] || continue
  for file in report.md results.jsonl machine.json; do
    [ -f "$folder$file" ] || fail "$folder has no $file"
  done
done

kind=$(sed -n 's/^<!-- table: \(.*\) -->$/\1/p' README.md)
grep -q "](bench/report/$kind/[a-z0-9-]*\.png)" README.md || fail "README.md has no plot of $kind"
! grep -o 'bench/report/[a-z0-9_-]*/' README.md | grep -v "^bench/report/$kind/$" || fail "README.md mixes kinds"
name=$("$python" -c 'import json, re, sys
words = re.sub(r"\((R|TM)\)", "", json.load(open(sys.argv[1]))["processor"]).split()
print(" ".join(words[:2]))' "bench/report/$kind/machine.json")
grep -qF "$name" README.md || fail "README.md does not say that its numbers are of an $name"
