#!/usr/bin/env bash
# Code that was compiled with -fscute=loads finds stray stores before it uses them (AUDIT-5),
# flushed or not. It never takes a correctly stored line for a stray store, whatever other threads
# and commit sets do. This also holds in pages that are loaded and evicted.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

source=$SCUTE_SOURCE_DIR/tests/interpose/sites/loads.c
compiler=$SCUTE_BINARY_DIR/tools/pass/bin/scute-cc
file=$pools/file
line_of() { grep -n "/\* $1 \*/" "$source" | cut -d: -f1; }
large() { rm -f "$file"*; shielded "$file" 262144; }
# strays of the document, at the line of a comment, or in all
at_line() {
  sed -n '/^{/,$p' out >document
  python3 -c 'import json, sys
v = json.load(open("document"))["views"][0]
print(v["stray_lines"], sum(s["stray_lines"] for s in v["sites"] if s["line"] == int(sys.argv[1])),
      [(l["what"], l["loaded_line"]) for l in v["lines"] if "loaded_line" in l])' "$(line_of "$1")"
}

for level in -O0 -O2; do
  "$compiler" -std=gnu11 $level -Wall -Wextra -Werror -mclwb -fscute=loads -o loads "$source" -lpthread
  large
  for way in clean together copies; do
    expect 0 "$scute" shield audit --fail-on strays ./loads "$way" "$file"
    ! grep 'stray store' out || fail "$way: a stray store that is none"
    expect 0 "$scute" shield run --strays stop ./loads "$way" "$file"
    [ ! -s err ] || fail "$way: $(cat err)"
  done
  expect 2 "$scute" shield audit --json -- ./loads loaded "$file"
  equal "$(at_line loaded)" "1 1 [('stray', $(line_of loaded))]"
  expect 2 "$scute" shield audit --json -- ./loads flushed "$file"
  equal "$(at_line first)" "1 1 [('stray', $(line_of first))]"
done

# A file whose last line is not whole. No rule applies to the bytes after its end in the page.
rm -f "$file"*
shielded "$file" 100007
expect 0 "$scute" shield run --strays stop ./loads ends "$file"
[ ! -s err ] || fail "$(cat err)"
large

# As text, and by `run`, which continues, or has options not to look or not to continue.
expect 2 "$scute" shield audit ./loads loaded "$file"
in_out "line 0x5000: a stray store, loaded at .*loads\.c:$(line_of loaded)$"
expect 0 "$scute" shield run ./loads loaded "$file"
in_err "stray store: the 64 bytes at 0x5000 changed.*loaded at .*loads\.c:$(line_of loaded) (loaded)"
[ "$(grep -c '0x5000' err)" = 1 ] || fail "reported more than once: $(cat err)"
in_out 'made use of 1'
expect 0 "$scute" shield run --strays ignore ./loads loaded "$file"
[ ! -s err ] || fail "it was to be ignored: $(cat err)"
for way in "" --page-in; do
  cp "$file" before
  # shellcheck disable=SC2086
  expect 134 "$scute" shield run $way --strays stop ./loads loaded "$file"
  in_err 'loaded at .*loads\.c:'
  in_err 'the program is stopped before the stray store reaches the file'
  ! grep -q 'made use' out || fail "the program has made use of a stray store"
  cmp <(tail -c +20481 "$file" | head -c 64) <(tail -c +20481 before | head -c 64) || fail "the stray store has reached the file"
  cmp -s <(head -c 6400 "$file") <(head -c 6400 before) && fail "what was committed before the stray is gone"
  [ -s "$file.scute-unflushed" ] || fail "what was stored since is nowhere"
  rm "$file.scute-unflushed"
done
sound "$file"

# Pages that come and go while lines are looked at.
numbered "$file" 2048
for way in "--page-in" "--page-in --max-memory 1M"; do
  # shellcheck disable=SC2086
  expect 0 "$scute" shield run $way --strays stop ./loads walks "$file"
  grep -q 'pages cannot be loaded on demand' err || [ ! -s err ] || fail "$way: $(cat err)"
done
sound "$file"
echo "loads find strays, and nothing else"
