#!/usr/bin/env bash
# The library that users get has none of the switches of base/planted.hpp: neither a symbol of
# their namespace nor a text of the list. What is searched for is found where it belongs, in the
# planted core and in the test of the list; otherwise this test could not fail.
set -euo pipefail
export LC_ALL=C

source=$SCUTE_SOURCE_DIR/src build=$SCUTE_BINARY_DIR
list=$source/base/planted_bugs.inc
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }

# Every bug of the list has a switch. (A switch that is not in the list does not compile.)
sed -n 's/^SCUTE_BUG(\([a-z_]*\), ".*")$/\1/p' "$list" | sort >names
sed -n 's/^SCUTE_BUG([a-z_]*, "\(.*\)")$/\1/p' "$list" >texts
bugs=$(grep -c '^SCUTE_BUG(' "$list")
[ "$bugs" -gt 0 ] && [ "$(wc -l <names)" -eq "$bugs" ] && [ "$(wc -l <texts)" -eq "$bugs" ] ||
  complain "not every line of $list is SCUTE_BUG(name, \"text\")"
grep -rhoE --include='*.[ch]pp' 'SCUTE_PLANTED\([a-z_]+\)' "$source" |
  sed 's/SCUTE_PLANTED(\(.*\))/\1/' | sort -u >switches
comm -23 names switches | sed 's/$/: in the list, but nowhere a switch/' >unused
[ ! -s unused ] || complain "$(cat unused)"

# has_symbols FILE, has_texts FILE: true if one is in it.
has_symbols() {
  nm -C "$1" >symbols 2>/dev/null || true
  grep -qF 'scute::core::planted::' symbols
}
has_texts() { grep -qaFf texts "$1"; }

for name in libscute.so libscute.a libscute-testing.a; do
  file=$build/lib/$name
  [ -f "$file" ] || { complain "$file is missing: build first"; continue; }
  ! has_symbols "$file" || complain "$name has planted bugs: $(grep -F 'scute::core::planted::' symbols | head -3)"
  ! has_texts "$file" || complain "$name has a text of planted_bugs.inc"
done

control=$build/src/CMakeFiles/scute_core_planted.dir
found=0
for object in "$control"/engine/redo/redo.cpp.o "$control"/mend/repair.cpp.o; do
  if has_symbols "$object"; then found=$((found + 1)); fi
done
[ "$found" -eq 2 ] || complain "no switch was found in the planted core, so this test sees nothing"
while IFS= read -r text; do
  printf '%s\n' "$text" >texts
  has_texts "$build/tests/test-medium" ||
    complain "test-medium lacks a text, so this test would not find it: $text"
done < <(sed -n 's/^SCUTE_BUG([a-z_]*, "\(.*\)")$/\1/p' "$list")

[ "$failures" -eq 0 ] || exit 1
echo "$bugs planted bugs, none of them in the library"
