#!/usr/bin/env bash
# check.sh PAGE
# Compiles and runs the programs that a page in Markdown shows, so that they cannot rot. Marks in the
# file, each on a line of its own before a fenced block (blank lines may lie between):
#
#   <!-- example: NAME.cpp -->  (or NAME.c)  the block is a program. If examples/NAME.cpp exists, the
#                               block must be a run of consecutive lines of it, and the file is what
#                               gets compiled; otherwise the block must be complete.
#   <!-- output: NAME.cpp -->   the block is what the program prints.
#
# A program gets the path for a pool file as its only argument. Runs in an empty folder; takes the
# library and the compilers from the environment (CMakeLists.txt).
set -euo pipefail
export LC_ALL=C

page=$1
examples=$SCUTE_SOURCE_DIR/examples
failures=0
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }

[ -f "$page" ] || { echo "$page does not exist, so it shows no example to test"; exit 1; }

# Writes the blocks to example/NAME and output/NAME, and what is wrong with the marks to errors.
mkdir example output
: >errors
awk '
  function note(text) { print "line " NR ": " text >"errors" }
  inside && /^```[ \t]*$/ { close(target); inside = 0; target = ""; next }
  inside { if (target != "") print >target; next }
  /^<!-- *(example|output): *[^ ]+ *-->[ \t]*$/ {
    if (mark != "") note("no code block follows the mark before this one")
    kind = ($0 ~ /^<!-- *example:/) ? "example" : "output"
    mark = $0; sub(/^<!-- *[a-z]+: */, "", mark); sub(/ *-->.*$/, "", mark)
    if (mark !~ /^[A-Za-z0-9_.-]+$/) note("\"" mark "\" is not a plain file name")
    next
  }
  /^<!-- *(example|output)/ { note("this mark is not understood: " $0); next }
  /^```/ {
    inside = 1
    language = $0; sub(/^```[ \t]*/, "", language)
    if (mark != "") {
      if (kind == "example" && !(mark ~ /\.cpp$/ && language == "cpp") &&
          !(mark ~ /\.c$/ && language == "c"))
        note(mark " is in a block of language \"" language "\"")
      target = kind "/" mark
      if (target in seen) note("a second " kind " " mark)
      seen[target] = 1
      printf "" >target
    }
    mark = ""
    next
  }
  mark != "" && NF { note("no code block follows the mark of " mark); mark = "" }
  END {
    if (inside) note("the last code block has no end")
    if (mark != "") note("no code block follows the mark of " mark)
  }
' "$page"
while IFS= read -r error; do fail "$error"; done <errors

# is_excerpt BLOCK FILE: whether the lines of BLOCK occur one after the other in FILE.
is_excerpt() {
  awk '
    FNR == NR { block[++n] = $0; next }
    { file[++m] = $0 }
    END {
      for (start = 1; start + n - 1 <= m; start++) {
        for (i = 1; i <= n && file[start + i - 1] == block[i]; i++) ;
        if (i > n) exit 0
      }
      exit 1
    }' "$1" "$2"
}

read -ra cflags <<<"${CFLAGS:-}"
read -ra cxxflags <<<"${CXXFLAGS:-}"
libdir=${SCUTE_LIBRARY%/*}
common=(-Wall -Wextra -Werror "-I$SCUTE_SOURCE_DIR/include")
link=("-L$libdir" "-Wl,-rpath,$libdir" -lscute -pthread)

count=0
for block in example/*; do
  [ -f "$block" ] || { fail "$page marks no example"; break; }
  name=${block#example/}
  count=$((count + 1))
  source=$block
  if [ -f "$examples/$name" ]; then
    source=$examples/$name
    if ! is_excerpt "$block" "$source"; then
      fail "$name: the block is not part of examples/$name"
      diff "$source" "$block" || true
    fi
  fi
  case $name in
    *.c) compile=("$CC" -std=c11 "${cflags[@]}") ;;
    *) compile=("$CXX" -std=c++20 "${cxxflags[@]}") ;;
  esac
  if ! "${compile[@]}" "${common[@]}" "$source" -o "program-$name" "${link[@]}" >log 2>&1; then
    fail "$name: does not compile"
    cat log
    continue
  fi
  mkdir "run-$name"
  if ! (cd "run-$name" && "../program-$name" "$PWD/example.pool") >"printed-$name" 2>log </dev/null; then
    fail "$name: ends with an error"
    cat "printed-$name" log
    continue
  fi
  if [ -f "output/$name" ] && ! diff "output/$name" "printed-$name" >log; then
    fail "$name: prints something else (< the page, > the program)"
    cat log
  fi
done
for block in output/*; do
  [ ! -f "$block" ] || [ -f "example/${block#output/}" ] ||
    fail "the output of ${block#output/} is shown, but there is no such example"
done

[ "$failures" = 0 ] || { echo "$page: $failures error(s)"; exit 1; }
echo "$page: $count example(s) compiled, ran and printed what is shown"
