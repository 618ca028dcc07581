#!/usr/bin/env bash
# scute shield audit of flushes without a fence (AUDIT-6), of stores after the flush of their line
# (AUDIT-7), and of what programs leave when they are killed or replaced by exec (AUDIT-8). Each is
# reported, with exit status 2. For correct programs, nothing is reported.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

here=$SCUTE_SOURCE_DIR/tests/interpose
program=$PWD/left
cc=${CC:-cc}
"$cc" -std=gnu11 -O1 -Wall -Wextra -Werror -o "$program" "$here/left/left.c" -lpmem -lpthread || fail "the program does not build"
"$cc" -std=gnu11 -O1 -Wall -Wextra -Werror -o "$PWD/pooled" "$here/left/pooled.c" -lpmemobj || fail "the program does not build"

file=$pools/file
second=$pools/second
# fresh: creates files with bytes that no case stores.
fresh() {
  for one in "$file" "$second"; do
    rm -f "$one"*
    shielded "$one" 1048576
  done
}

# audited STATUS UNFLUSHED UNFENCED EARLY OPTIONS... -- CASE: the sums over all views.
audited() {
  local wanted=$1 unflushed=$2 unfenced=$3 early=$4
  shift 4
  expect "$wanted" "$scute" shield audit --json "${@:1:$#-1}" "$program" "${*: -1}" "$file" "$second"
  sed -n '/^{/,$p' out >document
  [ -s document ] || fail "${*: -1}: no report: $(cat err)"
  python3 - "$unflushed" "$unfenced" "$early" <<'PYTHON' || fail "${*: -1}: $(cat document)"
import json, sys
report = json.load(open('document'))
views = report['views']
sums = [sum(v[name] for v in views) for name in ('unflushed_lines', 'unfenced_lines', 'early_flushes')]
assert sums == [int(n) for n in sys.argv[1:4]], sums
assert (report['unflushed_lines'], report['unfenced_lines']) == tuple(sums[:2])
wanted = 'stores were never flushed' if sums[0] else 'lines were flushed and never fenced' if sums[1] else 'clean'
assert report['result'] == wanted, report['result']
kinds = [l['what'] for v in views for l in v['lines']]
assert kinds.count('flushed and never fenced') == sums[1] and kinds.count('never flushed since its last store') == sums[2], kinds
assert len(kinds) == sums[0] + sums[1], kinds
PYTHON
}

fresh
# Flushed, and no fence.
for one in unfenced unfenced_exit streamed unmapped closed last_thread; do audited 2 0 1 0 -- "$one"; done
# Of many lines only the last ones, after the commit of a full list.
fresh
expect 2 "$scute" shield audit "$program" streamed_much "$file" "$second"
in_out '^never fenced *[1-9][0-9]* lines$'
in_out '^result: lines were flushed and never fenced$'
audited 2 0 1 0 -- second_file
audited 2 0 1 0 --unflushed drop -- unfenced
# As text.
fresh
expect 2 "$scute" shield audit "$program" unfenced "$file" "$second"
in_out '^never fenced *1 lines$'
in_out '^  line 0x40: flushed and never fenced$'
in_out '^result: lines were flushed and never fenced$'
fresh
expect 0 "$scute" shield audit --fail-on unflushed "$program" unfenced "$file" "$second"
expect 2 "$scute" shield audit --fail-on unfenced "$program" unfenced_exit "$file" "$second"

# A store after the flush of its line.
fresh
audited 2 1 0 1 -- early
audited 2 1 0 1 --unflushed drop -- early_unmapped
audited 2 1 0 1 -- early_killed_softly
fresh
expect 2 "$scute" shield audit "$program" early "$file" "$second"
in_out '^never flushed *1 lines, 1 of them since their last flush$'
in_out '^  line 0x40: never flushed since its last store$'
# A line that was flushed and fenced, and then stored to again, counts once.
fresh
audited 2 1 0 0 -- stored_again

# Ends that the program does not see.
fresh
audited 137 1 0 0 -- killed
audited 137 0 1 0 -- killed_unfenced
audited 137 0 0 0 -- killed_clean
audited 2 1 0 0 -- becomes
audited 0 0 0 0 -- becomes_clean
audited 2 1 0 0 -- exits_at_once
fresh
audited 137 1 0 0 --unflushed drop -- killed
audited 2 1 0 0 --unflushed drop -- becomes
audited 134 1 0 0 -- aborts

# Correct programs, and lines that another thread or call makes correct.
fresh
for one in persists streams_and_drains synced synced_file early_synced early_flushed early_beside two_files threads unchanged; do audited 0 0 0 0 -- "$one"; done
for _ in $(seq 5); do audited 0 0 0 0 -- early_beside; done
if "$scute" shield run --page-in -- true 2>err && [ ! -s err ]; then
  fresh
  audited 0 0 0 0 --page-in -- early_flushed
  audited 2 1 0 1 --page-in -- early
  audited 2 0 1 0 --page-in -- unfenced
fi
sound "$file"
sound "$second"

# Pools of libpmemobj: the audit does not blame the program for lines that the library leaves.
pool=$pools/pool
pooled() {
  local wanted=$1
  rm -f "$pool"*
  "$PWD/pooled" make "$pool" || fail "no pool"
  "$scute" shield add "$pool" >add.out || fail "shield add"
  expect "$wanted" "$scute" shield audit "${@:3}" -- "$PWD/pooled" "$2" "$pool"
}
for windows in pmemobj off; do
  pooled 0 persists --windows $windows
  in_out '^result: clean$'
  pooled 2 unfenced --windows $windows
  in_out '^never fenced *1 lines'
  in_out '^result: lines were flushed and never fenced$'
  # After fences of the transaction that it never ends.
  pooled 0 inside --windows $windows
  in_out '^never fenced *0 lines$'
  # Killed, or ended without a close: the audit cannot tell whose the unflushed lines are.
  pooled 0 leaves --windows $windows
  in_out '^never flushed *[1-9][0-9]* lines; [1-9][0-9]* of them may be libpmemobj.s own'
  in_out "^result: clean, except for lines that may be libpmemobj's own"
  pooled 137 killed --windows $windows
  in_out "^result: clean, except for lines that may be libpmemobj's own"
done
sound "$pool"
