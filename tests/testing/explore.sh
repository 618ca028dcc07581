#!/usr/bin/env bash
# scute-explore: a budgeted run over all scenarios, with and without durable caches; and its
# manners. `./dev explore --states 1000000` runs for longer.
set -euo pipefail
explore=${SCUTE_TEST_EXPLORE_EXE:?names scute-explore}
# shellcheck source=tests/support/budget.bash
source "$SCUTE_SOURCE_DIR/tests/support/budget.bash"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# expect STATUS COMMAND...
expect() {
  local status=0
  "${@:2}" >out 2>err || status=$?
  [ "$status" = "$1" ] || { cat out err; fail "status $status, expected $1: ${*:2}"; }
}

# ThreadSanitizer is a hundred times slower; it looks for races, of which each run of a scenario
# shows all that it has.
states=$(budget 16000 110000) eadr_states=$(budget 4000 28000)
if [ -n "${SCUTE_TEST_SLOW:-}" ]; then states=$(budget 8000 60000) eadr_states=$(budget 2000 15000); fi
"$explore" --quiet --states "$states" || fail "a violation; its story is above"
"$explore" --quiet --states "$eadr_states" --seed 77 --eadr || fail "a violation; its story is above"

expect 0 "$explore" --list
[ "$(wc -l <out)" -gt 80 ] || fail "--list names only $(wc -l <out) scenarios"
expect 0 "$explore" 'overwrite/*' --each 300 --jobs 1
grep -q '^overwrite/mlpc .* sound$' out || { cat out; fail "no line about overwrite/mlpc"; }
grep -q 'no violation$' out || fail "no last line"

# A state that has a name can be verified alone; one that has none is an error.
expect 0 "$explore" overwrite/mlpc --only s1.i0.m3.v1
expect 1 "$explore" overwrite/mlpc --only s1.i0.m999999.v1
grep -q 'there is no moment' out || { cat out; fail "the wrong state is not explained"; }
expect 1 "$explore" overwrite/mlpc --only nonsense
grep -q 'no name of a crash state' out || { cat out; fail "the wrong name is not explained"; }

expect 2 "$explore" --only s1.i0.m3.v1
expect 2 "$explore" no-such-scenario
expect 2 "$explore" --no-such-option
expect 2 "$explore" --states nonsense
echo "scute-explore keeps its promises"
