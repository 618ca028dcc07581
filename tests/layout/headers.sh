#!/usr/bin/env bash
# headers.sh SOURCE_DIR COMPILER [TENTH]
# Every header of include/ and src/ compiles alone: it includes what it uses. (What several files
# include on purpose, each with other macros, has the ending .inc.) With TENTH, 0 to 9, each tenth
# header.
set -euo pipefail

cd "$1"
compiler=$2 tenth=${3:-}

one() {
  local output
  output=$("$1" -fsyntax-only -x c++ -std=c++20 -Iinclude -Isrc -include "$2" /dev/null 2>&1) && return
  printf '%s: does not compile alone\n%s\n' "$2" "$(grep -m 3 error <<<"$output")"
  return 1
}
export -f one

all=$(find include src -name '*.h' -o -name '*.hpp' | LC_ALL=C sort)
[ -n "$all" ] || { echo "no headers in $1"; exit 1; }
headers=$(awk -v tenth="$tenth" 'tenth == "" || NR % 10 == tenth' <<<"$all")
[ -n "$headers" ] || { echo "layout: no header is of tenth $tenth"; exit 0; }
if ! xargs -d '\n' -I{} bash -c 'one "$@"' _ "$compiler" {} <<<"$headers"; then
  echo "layout: not every header compiles alone"
  exit 1
fi
echo "layout: $(grep -c . <<<"$headers") of $(wc -l <<<"$all") headers compile alone"
