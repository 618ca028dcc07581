#!/usr/bin/env bash
# scute shield audit: what a program never made durable, as text and JSON, and by its exit status.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

actor=$programs/scute-actor
file=$pools/file
shielded "$file" 262144

# Two pages were stored to and never flushed, on either side of a munmap().
expect 2 "$scute" shield audit -- "$actor" two_mappings "$file"
in_out '^never flushed *1[0-9] lines'
equal "$(grep -c '^never flushed' out)" 1  # one view, and so one account (SUPER-1)
in_out '^result: stores were never flushed'

# The same a second time changes nothing, so nothing must be flushed.
expect 0 "$scute" shield audit --json -- "$actor" two_mappings "$file"
sed -n '/^{/,$p' out >document && mv document out
valid_json
equal "$(json result)" clean
equal "$(json unflushed_lines)" 0

# The program's status comes first, and a killed one is counted as well.
expect 3 "$scute" shield audit -- "$actor" exits "$file"
expect 137 "$scute" shield audit -- "$actor" is_killed "$file"
expect 1 "$scute" shield audit -- true
in_out 'no shielded file was opened'

# The report goes to a file, and standard output is the program's own.
echo "of another run, and longer than it" >report
printf 'what the program says\n' >said
expect 0 "$scute" shield audit --output report -- cat said "$file"
cat said "$file" | cmp - out || fail "standard output has more than the program's"
[ ! -s err ] || fail "something was said"
equal "$(head -n 1 report | tr -s ' ')" "file $file"
equal "$(tail -n 1 report)" 'result: clean'
! grep -q 'another run' report || fail "the report was appended to another one"
expect 0 "$scute" shield audit --json --output report -- cat said "$file"
cat said "$file" | cmp - out || fail "standard output has more than the program's"
mv report out
valid_json
equal "$(json result)" clean
expect 3 "$scute" shield audit --output report -- "$actor" exits "$file"
grep -q '^result: ' report || fail "a program with a status has no report"
# If the report cannot be created, the program is not begun. If not all of it can be written, that
# is an error, whatever the program's status.
for wrong in "$pools/no/report" "$pools" "$file" ''; do
  expect 1 "$scute" shield audit --output "$wrong" -- touch begun
  [ ! -e begun ] || fail "begun without a place for the report: $wrong"
done
expect 1 "$scute" shield audit --output "$file" -- true
in_err "^scute: $file: it is shielded; choose another file for the report\$"
# No report is written over files that protect a file or hold objects, either.
"$scute" create "$pools/pool" --size 8M --medium file --engine spec >created || fail "create"
ln -s "$file.scute" "$pools/link"
for own in "$file.scute" "$pools/link" "$pools/pool" "$pools/pool.log" "$pools/gone.scute" "$pools/gone.scute.log"; do
  before=$(cksum "$own" 2>/dev/null) || before=
  expect 1 "$scute" shield audit --output "$own" -- touch begun
  [ ! -e begun ] || fail "begun without a place for the report: $own"
  in_err "^scute: $own: it is a file of Scute's, or has the name of one; choose another file for the report\$"
  equal "$(cksum "$own" 2>/dev/null || true)" "$before"
done
for json in '' --json; do
  for status in 0 9; do
    # shellcheck disable=SC2086
    expect 1 "$scute" shield audit $json --output /dev/full -- bash -c "echo said; cat '$file' >/dev/null; exit $status"
    equal "$(cat out)" said
    equal "$(cat err)" 'scute: /dev/full: cannot write the report: No space left on device'
  done
done
# Only the command has it open.
# shellcheck disable=SC2016  # (Of the inner shell.)
expect 1 "$scute" shield audit --output report -- bash -c 'ls -l /proc/self/fd | grep report'
sound "$file"
