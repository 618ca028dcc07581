#!/usr/bin/env bash
# headers.sh SOURCE_DIR COMPILER [JOBS]
# Every header of include/ and src/ compiles alone: it includes what it uses. (What several files
# include on purpose, each with other macros, has the ending .inc.) Those that their own source
# includes first, the build compiles so.
set -euo pipefail

cd "$1"
compiler=$2 jobs=${3:-2}

one() {
  local output
  output=$("$1" -fsyntax-only -x c++ -std=c++20 -Iinclude -Isrc -include "$2" /dev/null 2>&1) && return
  printf '%s: does not compile alone\n%s\n' "$2" "$(grep -m 3 error <<<"$output")"
  return 1
}
export -f one

# x/y.hpp of src/, whose y.cpp begins with it.
is_first_of_its_source() {
  local source=${1%.hpp}.cpp
  [ "$source" != "$1" ] && [ -f "$source" ] &&
    [ "src/$(sed -n 's/^ *# *include *["<]\([^">]*\).*/\1/p;T;q' "$source")" = "$1" ]
}

all=$(find include src -name '*.h' -o -name '*.hpp' | sort)
[ -n "$all" ] || { echo "no headers in $1"; exit 1; }
headers=$(while read -r header; do is_first_of_its_source "$header" || echo "$header"; done <<<"$all")
if ! xargs -P "$jobs" -I{} bash -c 'one "$@"' _ "$compiler" {} <<<"$headers"; then
  echo "layout: not every header compiles alone"
  exit 1
fi
echo "layout: $(wc -l <<<"$headers") headers compile alone, and $(($(wc -l <<<"$all") - $(wc -l <<<"$headers"))) at the head of their sources"
