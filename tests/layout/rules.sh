#!/usr/bin/env bash
# rules.sh SOURCE_DIR
# Holds the rules that files write down about themselves (docs/reference/invariants.md) to their
# names, and prints every violation as "where: what". A rule is named by the prefix of its book, 2
# to 8 capital letters, and a number. The requirements:
#   1. a rule is defined once: at the beginning of a comment line, or of a row of a table in docs/
#   2. whatever is cited, anywhere, is defined; no comment line begins with a rule that lacks the
#      prefix
#   3. the index of docs/reference/invariants.md has every rule, with the file that defines it, and
#      no others
#   4. a rule is named by a test, a scenario or a planted bug; or tests/layout/rules_by_argument.txt
#      says why none shows it broken, and then none names it
#   5. a rule in a comment has four lines at most: those after the first have a larger indentation.
#      Its argument stands below the rules, after "On" and the name of the rule
set -euo pipefail
export LC_ALL=C

root=$1

roots="src include tools sim tests fuzz bench examples workloads docs"
# The files of tests, scenarios and planted bugs, and files among them that are no tests.
naming='^(tests/|tools/explore/|src/base/fence_sites\.inc:)'
not_naming='^tests/(layout/|planted/without_switch\.txt)'
# Names that look like rules.
no_prefixes='UTF|AVX|CRC|CURRENT'
by_argument=tests/layout/rules_by_argument.txt
index=docs/reference/invariants.md

cd "$root"
temp=$(mktemp -d "${TMPDIR:-/tmp}/scute-rules.XXXXXX")
trap 'rm -rf "$temp"' EXIT
violations=$temp/violations
: >"$violations"

present=()
for dir in $roots; do [ ! -d "$dir" ] || present+=("$dir"); done
{
  find . -maxdepth 1 -type f -name '*.md' | sed 's|^\./||'
  find "${present[@]}" -type f -regextype posix-extended \
    -regex '.*\.(c|cpp|h|hpp|inc|sh|bash|txt|md|py|cmake)'
} | sort >"$temp/files"
[ -s "$temp/files" ] || { echo "no sources in $root"; exit 1; }
[ -f "$by_argument" ] || { echo "$by_argument is missing"; exit 1; }

# Rule 1: "RULE FILE", a line for each definition.
{
  xargs -d '\n' grep -HoP '^// {1,3}[A-Z]{2,}-[0-9]+(?= +[^ ])' <"$temp/files" || true
  grep '^docs/' "$temp/files" | xargs -r -d '\n' grep -HoP '^\| [A-Z]{2,}-[0-9]+(?= \|)' || true
} | sed -E 's/^([^:]*):(\/\/|\|) */\1 /' | awk '{ print $2, $1 }' | sort >"$temp/definitions"
[ -s "$temp/definitions" ] || { echo "no rules in $root"; exit 1; }
cut -d' ' -f1 "$temp/definitions" | sort -u >"$temp/defined"
awk '$1 == rule { print rule ": defined in " file " and in " $2 } { rule = $1; file = $2 }' \
  "$temp/definitions" >>"$violations"
awk -F- 'length($1) > 8 { print $0 ": a prefix has 8 letters at most" }' "$temp/defined" >>"$violations"

# Rule 2: "RULE FILE:LINE", a line for each mention.
xargs -d '\n' grep -HnoP '(?<![A-Za-z0-9_-])[A-Z]{2,}-[0-9]+(?![A-Za-z0-9_-])' <"$temp/files" |
  awk -F: '{ print $3, $1 ":" $2 }' | { grep -Ev "^($no_prefixes)-" || true; } | sort >"$temp/mentions"
awk 'FNR == NR { defined[$1] = 1; next }
     !($1 in defined) { print $2 ": " $1 " is defined nowhere" }' "$temp/defined" "$temp/mentions" >>"$violations"
xargs -d '\n' grep -HnoP '^ *// *[A-Z][0-9]{1,2}(?= +[A-Za-z`])' <"$temp/files" |
  sed -E 's/^([^:]*:[0-9]+): *\/\/ *(.*)/\1: \2 has no prefix/' >>"$violations" || true

# Rule 3: "RULE FILE" of the index, from rows as | WIN | windows |
# [pool/window.hpp](../../src/pool/window.hpp) | 1..5 |, where the last cell names the first rule
# and the last one, or the only one.
sed -nE 's/^\| ([A-Z]{2,8}) \| .* \| \[[^]]*\]\(([^)]*)\) \| \1-([0-9]+)(\.\.\1-([0-9]+))? \|$/\1 \2 \3 \5/p' "$index" |
  awk '{
    path = $2
    if (!sub(/^\.\.\/\.\.\//, "", path)) path = "docs/reference/" path
    last = NF > 3 ? $4 : $3
    for (i = $3; i <= last; i++) print $1 "-" i, path
  }' | sort >"$temp/indexed"
awk '$1 == rule { print index_file ": the index has " rule " twice" } { rule = $1 }' \
  index_file="$index" "$temp/indexed" >>"$violations"
sort -u -k1,1 "$temp/definitions" | join -a 1 -o 0,1.2,2.2 -e - - <(sort -u -k1,1 "$temp/indexed") |
  awk -v index_file="$index" '
    $3 == "-" { print index_file ": the index lacks " $1 " of " $2; next }
    $2 != $3 { print index_file ": the index has " $1 " in " $3 ", but it is in " $2 }' >>"$violations"
cut -d' ' -f1 "$temp/indexed" | sort -u | comm -13 "$temp/defined" - |
  sed "s|^\(.*\)|$index: the index has \1, which is defined nowhere|" >>"$violations"

# Rule 4.
awk '{ print $2, $1 }' "$temp/mentions" | { grep -E "$naming" || true; } | { grep -Ev "$not_naming" || true; } |
  awk '{ sub(/:[0-9]+$/, "", $1); print $2, $1 }' | sort -u -k1,1 >"$temp/named"
{ grep -Ev '^(#|$)' "$by_argument" || true; } >"$temp/argued"
awk -v file="$by_argument" 'NF < 4 { print file ": " $1 " has no reason" }' "$temp/argued" >>"$violations"
cut -d' ' -f1 "$temp/argued" | sort | uniq -d | sed "s|^\(.*\)|$by_argument: \1 is there twice|" >>"$violations"
cut -d' ' -f1 "$temp/argued" | sort -u >"$temp/argued_rules"
cut -d' ' -f1 "$temp/named" | sort -u - "$temp/argued_rules" | comm -23 "$temp/defined" - |
  sed 's/$/: no test, scenario or planted bug names it/' >>"$violations"
join "$temp/argued_rules" "$temp/named" |
  awk -v file="$by_argument" '{ print file ": " $1 " is named by " $2 }' >>"$violations"

# Rule 5.
xargs -d '\n' awk '
  function ended() {
    if (lines > 4) print at ": " rule " has " lines " lines, 4 are allowed"
    lines = 0
  }
  FNR == 1 { ended() }
  match($0, /^\/\/ +/) {
    indent = RLENGTH
    if (indent <= 5 && $2 ~ /^[A-Z][A-Z]+-[0-9]+$/ && NF > 2) {
      ended()
      at = FILENAME ":" FNR; rule = $2; edge = indent; lines = 1
      next
    }
    if (lines > 0 && indent > edge) { lines++; next }
  }
  { ended() }
  END { ended() }' <"$temp/files" >>"$violations"

if [ -s "$violations" ]; then
  cat "$violations"
  echo "rules: $(wc -l <"$violations") violation(s)"
  exit 1
fi
echo "rules: $(wc -l <"$temp/defined"), of which $(wc -l <"$temp/argued_rules") rest on an argument alone"
