#!/usr/bin/env bash
# check.sh SOURCE_DIR COMPILE_COMMANDS
# Holds the source tree to its layout and prints every violation as "file: what". The rules:
#   1. every source file is compiled by a target, every header is included by some other file
#   2. a folder of tests/ mirrors one of src/ or is listed in test_folders below
#   3. a public header includes no private one and no header of a library that users need not have
#   4. a folder of src/ includes only itself and folders before it in src_order below
#   5. no file of the library or the tools is longer than lines_max
#   6. no unfinished work and no test that does not run: see the words below
set -euo pipefail
export LC_ALL=C

root=$1 compile_commands=$2

src_order="codec medium pool heap tx engine heal capi testing"
test_folders="install layout compile_fail cli readme api containers demo bench report hostile support planted campaign workloads disk"
roots="src include tools tests fuzz bench examples workloads"
# Compiled by the tests themselves, at test time.
uncompiled='^tests/(compile_fail|install)/'
lines_max=450
words='(^|[^A-Za-z0-9_])(TODO|FIXME|GTEST_SKIP|DISABLED_)'

cd "$root"
[ -f "$compile_commands" ] || { echo "$compile_commands is missing: configure first"; exit 1; }
temp=$(mktemp -d "${TMPDIR:-/tmp}/scute-layout.XXXXXX")
trap 'rm -rf "$temp"' EXIT
violations=$temp/violations
: >"$violations"

present=()
for dir in $roots; do [ ! -d "$dir" ] || present+=("$dir"); done
find "${present[@]}" -type f \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' \) |
  sort >"$temp/files"
[ -s "$temp/files" ] || { echo "no sources in $root"; exit 1; }

# Rule 1, sources.
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$compile_commands" | sed "s|^$(pwd -P)/||; s|^$PWD/||" |
  sort -u >"$temp/compiled"
grep -E '\.(c|cpp)$' "$temp/files" | grep -Ev "$uncompiled" | comm -23 - "$temp/compiled" |
  sed 's/$/: no target compiles this file/' >>"$violations" || true

# Rules 1 (headers), 3 and 4, from every #include that leads to a file of the project.
xargs -d '\n' grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' <"$temp/files" \
  >"$temp/includes" || true
awk -v order="$src_order" '
  function normalize(path,    n, parts, i, out, depth) {
    n = split(path, parts, "/"); depth = 0
    for (i = 1; i <= n; i++) {
      if (parts[i] == "" || parts[i] == ".") continue
      if (parts[i] == ".." && depth > 0) { depth--; continue }
      stack[++depth] = parts[i]
    }
    out = stack[1]
    for (i = 2; i <= depth; i++) out = out "/" stack[i]
    return out
  }
  function resolve(from, name, quoted,    dir, parts, candidates, n, i, path) {
    dir = from; sub(/\/[^\/]*$/, "", dir)
    split(from, parts, "/")
    n = split("include/|src/|tests/|bench/|tools/" parts[2] "/|", candidates, "|")
    if (quoted && ((path = normalize(dir "/" name)) in exists)) return path
    for (i = 1; i <= n; i++) if ((path = normalize(candidates[i] name)) in exists) return path
    return ""
  }
  BEGIN {
    n = split(order, names, " ")
    for (i = 1; i <= n; i++) rank[names[i]] = i
  }
  FNR == NR {
    exists[$0] = 1
    split($0, parts, "/")
    if (parts[1] == "src" && !(parts[2] in rank))
      print $0 ": src/" parts[2] " has no place in src_order of tests/layout/check.sh"
    next
  }
  {
    from = $0; sub(/:.*/, "", from)
    name = $0; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*/, "", name)
    quoted = ($0 ~ /include[ \t]*"/)
    to = resolve(from, name, quoted)
    if (to != "" && to != from) included[to] = 1
    if (from ~ /^include\//) {
      if (to != "" && to !~ /^include\//) print from ": public header includes private " to
      if (to == "" && quoted) print from ": public header includes \"" name "\", which is not there"
      if (to == "" && name ~ /^(isa-l|fmt\/|nlohmann\/|CLI\/|gtest\/|gmock\/|libpmem)/)
        print from ": public header includes <" name ">, a library that users need not have"
    }
    if (from ~ /^src\// && to ~ /^src\//) {
      split(from, a, "/"); split(to, b, "/")
      if ((a[2] in rank) && (b[2] in rank) && rank[b[2]] > rank[a[2]])
        print from ": src/" a[2] " includes " to ", of a folder above it"
    }
  }
  END {
    for (file in exists)
      if (file ~ /\.(h|hpp)$/ && !(file in included)) print file ": nobody includes this header"
  }
' "$temp/files" "$temp/includes" | sort >>"$violations"

# Rule 2.
if [ -d tests ]; then
  find tests -mindepth 2 -type f | cut -d/ -f2 | sort -u | while IFS= read -r folder; do
    case " $test_folders " in *" $folder "*) continue ;; esac
    [ -d "src/$folder" ] || echo "tests/$folder: mirrors no folder of src/"
  done >>"$violations"
fi

# Rule 5.
{ grep -E '^(src|include|tools)/' "$temp/files" || true; } | xargs -r -d '\n' awk -v max="$lines_max" '
  FNR == max + 1 { print FILENAME ": longer than " max " lines" }' >>"$violations"

# Rule 6.
xargs -d '\n' grep -nHE "$words" <"$temp/files" |
  sed -E 's/^([^:]*:[0-9]+):.*[^A-Za-z0-9_]?(TODO|FIXME|GTEST_SKIP|DISABLED_).*/\1: contains \2/' \
  >>"$violations" || true

if [ -s "$violations" ]; then
  cat "$violations"
  echo "layout: $(wc -l <"$violations") violation(s)"
  exit 1
fi
echo "layout: $(wc -l <"$temp/files") files keep the rules"
