#!/usr/bin/env bash
# check.sh SOURCE_DIR COMPILE_COMMANDS
# Holds the source tree to its layout and prints every violation as "file: what". The rules:
#   1. every source file is compiled by a target, every header is included by some other file
#   2. a folder of tests/ mirrors one of src/ or is listed in test_folders below
#   3. a public header includes no private one and no header of a library that users need not have
#   4. a room of src/ includes only itself and what tests/layout/arrows.txt allows, and calls no
#      function of the C interface that another room defines; no arrow there is unused, none makes a
#      circle, and docs/internals/architecture.md shows the same table
#   5. no file of the library or the tools is longer than lines_max
#   6. no unfinished work and no test that does not run: see the words below
#   7. the root has no files but root_files below, of those that are committed
#   8. a test waits for a condition, not for a time: nothing in tests/ sleeps but the helpers named
#      in waits below
set -euo pipefail
export LC_ALL=C

root=$1 compile_commands=$(realpath "$2") tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools" && pwd -P)

test_folders="install instructions layout compile_fail cli readme api containers demo bench report hostile support planted campaign workloads disk sim pass"
root_files=".clang-format .clang-tidy .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md LICENSE README.md SECURITY.md dev"
roots="src include tools sim tests fuzz bench examples workloads"
# Compiled by the tests themselves, at test time; and what is linked with Debian's examples when it
# is measured.
uncompiled='^(tests/(compile_fail|install|pass/programs|pass/refused|interpose/(sites|left))|bench/shield)/'
lines_max=450
waits='^tests/support/(wait\.(bash|h|hpp)|waiting\.py):'
# Calls of C, C++ and Python, system calls by number, commands of the shell; and what sleeps under
# another name.
sleeps='(^|[^A-Za-z0-9_.>])(u|nano|clock_nano)?sleep[[:space:]]*\(|sleep_(for|until)[[:space:]]*\(|SYS_(clock_)?nanosleep|time\.sleep'
sleeps+='|(^|[;&|({'"'"'"]|[[:space:]](do|then|else|until|while|!))[[:space:]]*sleep[[:space:]]+["$0-9.]'
sleeps+='|(^|[^A-Za-z0-9_])(poll[[:space:]]*\((NULL|nullptr),[[:space:]]*0,|select[[:space:]]*\(0,|read[[:space:]](-[a-z]+[[:space:]])*-t)'
words='(^|[^A-Za-z0-9_])(TODO|FIXME|GTEST_SKIP|DISABLED_)'

cd "$root"
[ -f "$compile_commands" ] || { echo "$compile_commands is missing: configure first"; exit 1; }
temp=$(mktemp -d "${TMPDIR:-/tmp}/scute-layout.XXXXXX")
trap 'rm -rf "$temp"' EXIT
violations=$temp/violations
: >"$violations"

arrows=tests/layout/arrows.txt
[ -f "$arrows" ] || { echo "$arrows is missing"; exit 1; }
grep -Ev '^(#|$)' "$arrows" | sed 's/  */ /g' >"$temp/arrows"

present=()
for dir in $roots; do [ ! -d "$dir" ] || present+=("$dir"); done
find "${present[@]}" -type f \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' \) |
  sort >"$temp/files"
[ -s "$temp/files" ] || { echo "no sources in $root"; exit 1; }

# Rule 1, sources.
python3 -B "$tools/compile_commands" "$compile_commands" | sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' | sed "s|^$(pwd -P)/||; s|^$PWD/||" |
  sort -u >"$temp/compiled"
grep -E '\.(c|cpp)$' "$temp/files" | grep -Ev "$uncompiled" | comm -23 - "$temp/compiled" |
  sed 's/$/: no target compiles this file/' >>"$violations" || true

# Rules 1 (headers), 3 and 4, from every #include that leads to a file of the project.
xargs -d '\n' grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' <"$temp/files" \
  >"$temp/includes" || true
# Definitions in src/c_api begin at the left margin; a call is any other mention with a parenthesis.
{ grep '^src/' "$temp/files" || true; } | xargs -r -d '\n' awk '
  {
    sub(/\/\/.*/, "")
    gsub(/"([^"\\]|\\.)*"/, "")
    defines = FILENAME ~ /^src\/c_api\// && /^[a-z].*[ *]scute_[a-z0-9_]+\(/
    for (line = $0; match(line, /scute_[a-z0-9_]+\(/); line = substr(line, RSTART + RLENGTH)) {
      name = substr(line, RSTART, RLENGTH - 1)
      before = RSTART > 1 ? substr(line, RSTART - 1, 1) : ""
      if (before ~ /[A-Za-z0-9_]/) continue
      print (defines ? "defines" : "calls"), name, FILENAME
    }
  }' >"$temp/calls"
awk -v arrows="$temp/arrows" -v calls="$temp/calls" '
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
    n = split("include/|src/|tests/|bench/|sim/|fuzz/|tools/common/|tools/" parts[2] "/|", candidates, "|")
    if (quoted && ((path = normalize(dir "/" name)) in exists)) return path
    for (i = 1; i <= n; i++) if ((path = normalize(candidates[i] name)) in exists) return path
    return ""
  }
  # The room of a file is the innermost of its folders that has a line.
  function room_of(path,    room) {
    sub(/^src\//, "", path)
    sub(/\/[^\/]*$/, "", path)
    room = path
    while (!(room in rooms)) if (!sub(/\/[^\/]*$/, "", room)) return path
    return room
  }
  function arrow(from, to, what,    a, b) {
    a = room_of(from); b = room_of(to)
    if (a == b || !(a in rooms) || !(b in rooms)) return
    if (!((a " " b) in allowed)) print from ": src/" a " " what ", which tests/layout/arrows.txt does not allow"
    used[a " " b] = 1
  }
  BEGIN {
    while ((getline line < arrows) > 0) {
      n = split(line, names, " ")
      from = names[1]; sub(/:$/, "", from)
      rooms[from] = 1
      for (i = 2; i <= n; i++) allowed[from " " names[i]] = 1
    }
  }
  FNR == NR {
    exists[$0] = 1
    if (/^src\// && !(room_of($0) in rooms))
      print $0 ": src/" room_of($0) " is no room of tests/layout/arrows.txt"
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
    if (from ~ /^src\// && to ~ /^src\//) arrow(from, to, "includes " to)
  }
  END {
    while ((getline line < calls) > 0) {
      split(line, words, " ")
      if (words[1] == "defines") defined_in[words[2]] = words[3]
      else callers[words[2]] = callers[words[2]] " " words[3]
    }
    for (name in callers)
      if (name in defined_in) {
        n = split(callers[name], files_of, " ")
        for (i = 1; i <= n; i++) arrow(files_of[i], defined_in[name], "calls " name "() of " defined_in[name])
      }
    for (pair in allowed)
      if (!(pair in used)) print "tests/layout/arrows.txt: nothing uses the arrow " pair
    for (file in exists)
      if (file ~ /\.(h|hpp)$/ && !(file in included)) print file ": no file includes this header"
  }
' "$temp/files" "$temp/includes" | sort >>"$violations"

# Rule 4: no circle, one table.
awk '{ sub(/:/, "", $1); for (i = 2; i <= NF; i++) print $1, $i }' "$temp/arrows" >"$temp/pairs"
tsort "$temp/pairs" >/dev/null 2>"$temp/circle" ||
  { printf 'tests/layout/arrows.txt: a circle:'; sed 1d "$temp/circle" | sed 's/^tsort: / /' | tr -d '\n'; echo; } \
    >>"$violations"
sed -n '/^```arrows$/,/^```$/p' docs/internals/architecture.md 2>/dev/null | grep -v '^```' | sed 's/  */ /g' >"$temp/shown"
cmp -s "$temp/arrows" "$temp/shown" ||
  echo "docs/internals/architecture.md: its table of rooms is not that of tests/layout/arrows.txt" >>"$violations"

# Rule 2.
if [ -d tests ]; then
  find tests -mindepth 2 -type f | cut -d/ -f2 | sort -u | while IFS= read -r folder; do
    case " $test_folders " in *" $folder "*) continue ;; esac
    [ -n "$(find src -type d -name "$folder" -print -quit)" ] || echo "tests/$folder: mirrors no folder of src/"
  done >>"$violations"
fi

# Rule 5.
{ grep -E '^(src|include|tools|sim)/' "$temp/files" || true; } | xargs -r -d '\n' awk -v max="$lines_max" '
  FNR == max + 1 { print FILENAME ": longer than " max " lines" }' >>"$violations"

# Rule 6.
xargs -d '\n' grep -nHE "$words" <"$temp/files" |
  sed -E 's/^([^:]*:[0-9]+):.*[^A-Za-z0-9_]?(TODO|FIXME|GTEST_SKIP|DISABLED_).*/\1: contains \2/' \
  >>"$violations" || true

# Rule 8.
if [ -d tests ]; then
  find tests -type f \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.sh' -o -name '*.bash' -o -name '*.py' \) \
    -exec grep -HnE "$sleeps" {} + >"$temp/sleeps" || true  # grep's 1: nothing does
  { grep -Ev "$waits" "$temp/sleeps" || true; } |
    sed -E 's/^([^:]*:[0-9]+):.*/\1: sleeps, and a test waits for a condition (tests\/support\/wait.hpp)/' | sort >>"$violations"
fi

# Rule 7. Without git there are files of the user's own as well.
if git ls-files --error-unmatch dev >"$temp/dev" 2>&1; then
  git ls-files | { grep -v / || true; } | sort | comm -23 - <(tr ' ' '\n' <<<"$root_files" | sort) |
    sed 's/$/: a file that does not belong in the root/' >>"$violations"
fi

if [ -s "$violations" ]; then
  cat "$violations"
  echo "layout: $(wc -l <"$violations") violation(s)"
  exit 1
fi
echo "layout: $(wc -l <"$temp/files") files keep the rules"
