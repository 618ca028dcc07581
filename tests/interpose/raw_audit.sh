#!/usr/bin/env bash
# scute shield audit of programs that flush by their own instructions. It reports nothing about the
# correct ones. A program leaves out one flush on demand: the audit reports that flush, and a power
# failure then loses its line. One of the programs maps its file again, at another address (HOOK-8).
source "$(dirname "${BASH_SOURCE[0]}")/raw/lib.bash"

file=$pools/file

# audit STATUS ARGUMENTS...: the program under the audit. Its answers go to `answers`, and the
# report, one JSON document, to `out`.
audit() {
  expect "$1" "$scute" shield audit --json -- "$raw/$program" "$file" "${@:2}" <operations
  sed -n '/^{/,$p' out >document
  grep -v '^[{} ]' out >answers || true
  mv document out
  valid_json
}

# after_power_failure ARGUMENTS...: kills the program and its supervisor after the program has
# reported one operation.
after_power_failure() {
  rm -f feed
  mkfifo feed
  : >answers
  "$scute" shield run -- "$raw/$program" "$file" "$@" <feed >answers 2>err &
  local run=$!
  exec 7>feed
  echo "$one" >&7
  until_said '' answers "$run"
  power_failure "$run" "$(child_of "$run")"
  wait "$run" || true
  exec 7>&-
  checked 0 "$file"
  printf 'check\nlist\n' | "$scute" shield run -- "$raw/$program" "$file" >found 2>err || true
}

for program in sorted_tree level_table item_server; do
  case $program in
    item_server) one="set k1 precious" left="k1 precious" ;;
    level_table) one="put k1 precious" left="k1 precious" ;;
    sorted_tree) one="put 1 7777777" left="1 7777777" ;;
  esac
  make_file "$program" "$file"
  under_shield "$file"
  operations "$program" 3 3000 1000 >operations

  audit 0
  equal "$(json result)" clean
  equal "$(json unflushed_lines)" 0
  [ "$(json flushes)" -gt 3000 ] || fail "$program: $(json flushes) flushes were noticed"
  [ "$(json fences)" -gt 3000 ] || fail "$program: $(json fences) fences were noticed"
  equal "$(wc -l <answers)" 3000

  operations "$program" 4 200 100000 >operations
  audit 2 --forget-flush
  equal "$(json result)" "stores were never flushed"
  [ "$(json unflushed_lines)" -gt 0 ] || fail "$program: the audit is silent"
  equal "$(wc -l <answers)" 200
  sound "$file"

  # The same bug by a power failure, and its counterpart without the bug.
  make_file "$program" "$file"
  under_shield "$file"
  after_power_failure --forget-flush
  ! grep -q -x "$left" found || fail "$program: what was never flushed is there"
  make_file "$program" "$file"
  under_shield "$file"
  after_power_failure
  grep -q -x "$left" found || fail "$program: what was flushed is lost: $(cat found)"
  sound "$file"
done

# The same, compiled so that stores are reported: the audit blames no store, with threads or
# without. It names the unflushed line by the place that has stored to it.
raw=$PWD/telling
mkdir "$raw"
SCUTE_RAW_FLAGS=-fscute=detect bash "$here/build.sh" "$raw" "$pass/scute-cc" "$pass/scute-c++" || fail "the programs do not build"
for program in sorted_tree level_table item_server; do
  make_file "$program" "$file"
  under_shield "$file"
  operations "$program" 5 3000 1000 >operations
  audit 0
  equal "$(json result)" clean
  equal "$(json stray_lines)" 0
  operations "$program" 6 200 100000 >operations
  audit 2 --forget-flush
  equal "$(json result)" "stores were never flushed"
  python3 - "$here" <<'PYTHON' || fail "$program: no line that was never flushed has its place"
import json, os, sys
view = json.load(open('out'))['views'][0]
places = {(os.path.basename(l['stored_source']), l['stored_line']) for l in view['lines'] if l['what'] == 'never flushed'}
assert places, view['lines']
for source, line in places:  # a statement that stores is there
    text = open(os.path.join(sys.argv[1], source)).read().split('\n')[line - 1]
    assert '=' in text or 'mem' in text or 'str' in text or 'store' in text, (source, line, text)
assert sum(s['unflushed_lines'] for s in view['sites'] if s['line']) == view['unflushed_lines'], view
PYTHON
  sound "$file"
done
