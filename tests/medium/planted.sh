#!/usr/bin/env bash
# The library that users get has none of the switches of planted/planted.hpp: neither a symbol of
# their namespace nor a text of the list. The search finds them where they belong, in the planted
# core and in the test of the list; otherwise this test could not fail.
set -euo pipefail
export LC_ALL=C

source=$SCUTE_SOURCE_DIR/src build=$SCUTE_BINARY_DIR
planted=$SCUTE_SOURCE_DIR/tests/planted
lists=("$planted"/planted_bugs.inc "$source"/base/fence_sites.inc)
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }

# Every bug of the list has a switch in a copy, none in a source. (A switch that is not in the list
# does not compile.)
sed -n 's/^SCUTE_BUG(\([a-z_]*\), ".*")$/\1/p' "${lists[@]}" | sort >names
sed -nE 's/^SCUTE_(FENCE|FENCE_KEPT)\(([a-z_]*), ".*"\)$/\2/p' "${lists[@]}" | sort >sites
sed -nE 's/^SCUTE_(BUG|FENCE)\([a-z_]*, "(.*)"\)$/\2/p' "${lists[@]}" >texts
lines=$(grep -h '^SCUTE_' "${lists[@]}" | wc -l) kept=$(grep -h '^SCUTE_FENCE_KEPT(' "${lists[@]}" | wc -l)
[ -s names ] && [ -s sites ] && [ "$(cat names sites | wc -l)" -eq "$lines" ] &&
  [ "$(wc -l <texts)" -eq "$((lines - kept))" ] ||
  complain "not every line of ${lists[*]} is SCUTE_BUG, SCUTE_FENCE or SCUTE_FENCE_KEPT(name, \"text\")"
grep -hoE '^\+.*' "$planted"/sites/*.txt | grep -oE 'SCUTE_PLANTED\([a-z_]+\)' |
  sed 's/SCUTE_PLANTED(\(.*\))/\1/' | sort -u >switches
comm -23 names switches | sed 's/$/: in the list, but nowhere a switch/' >unused
# One site, one fence: of a writer, or of a log whose lane is named before the site.
grep -rhoE --include='*.[ch]pp' '\bfence\(([a-z_.]+(\(\))?, )*fence_site::[a-z_]+\)' "$source" |
  sed 's/.*:\(.*\))/\1/' | sort >fences
comm -3 sites fences | sed 's/$/: not exactly one fence in src has this site/' >>unused
[ ! -s unused ] || complain "$(cat unused)"

# has_symbols FILE, has_texts FILE: true if one is in it.
has_symbols() {
  nm -C "$1" >symbols 2>/dev/null || true
  grep -qF 'scute::core::planted::' symbols
}
has_texts() { grep -qaFf texts "$1"; }

for name in libscute.so libscute.a libscute-testing.a libscute-shield.so; do
  file=$build/lib/$name
  # Sanitized builds have no runtime of the shield.
  [ -f "$file" ] || [ "$name" != libscute-shield.so ] || continue
  [ -f "$file" ] || { complain "$file is missing: build first"; continue; }
  ! has_symbols "$file" || complain "$name has planted bugs: $(grep -F 'scute::core::planted::' symbols | head -3)"
  ! has_texts "$file" || complain "$name has a text of the lists"
done

control=$build/src/CMakeFiles/scute_core_planted.dir
found=0
while IFS= read -r object; do
  if has_symbols "$object"; then found=$((found + 1)); fi
done < <(find "$control" -name '*.o')
[ "$found" -ge 2 ] || complain "no switch was found in the planted core, so this test sees nothing"
while IFS= read -r text; do
  printf '%s\n' "$text" >texts
  has_texts "$build/tests/test-medium" ||
    complain "test-medium lacks a text, so this test would not find it: $text"
done < <(sed -nE 's/^SCUTE_(BUG|FENCE)\([a-z_]*, "(.*)"\)$/\2/p' "${lists[@]}")

[ "$failures" -eq 0 ] || exit 1
echo "$((lines - kept)) planted bugs, none of them in the library"
