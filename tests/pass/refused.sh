#!/usr/bin/env bash
# refused.sh SOURCE
# Tests that a program of refused/ is not compiled: the error names the statement that ends with the
# comment "// refused: TEXT", with that text in it. The same program with CONTROL defined compiles.
set -euo pipefail

source=$1
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
# The statement begins where its keyword stands; the comment is at its end.
line=$(awk '/__asm__/ { begin = FNR } /\/\/ refused: / { print begin; exit }' "$source")
text=$(sed -n 's|.*// refused: ||p' "$source" | head -n 1)
[ -n "$text" ] || fail "$source expects nothing"
options=$(sed -n 's|^// options: ||p' "$source")
for level in -O0 -O2; do
  compile=("$SCUTE_PASS_BIN/scute-cc" "$level" -mclwb "-fscute=${options:-flush}" -c -o object.o)
  if "${compile[@]}" "$source" 2>output; then fail "$level: it compiles"; fi
  grep -F "$text" output >found || { cat output; fail "$level: no such error: $text"; }
  # An error about the file as a whole has no line.
  case $text in
    *'at file scope'*) ;;
    *) grep -q "^$source:$line:" found || { cat output; fail "$level: the error does not name line $line"; } ;;
  esac
  "${compile[@]}" -DCONTROL "$source" || fail "$level: the correct program does not compile"
done
echo "refused: $text"
