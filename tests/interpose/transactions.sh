#!/usr/bin/env bash
# Transactions of libpmemobj, in every way that they end (left_transactions.sh has those that do
# not). Under the shield, calls return what they do without it. The file holds what the same program
# leaves without it, after a close, a kill and a power failure. An aborted transaction leaves the
# earlier contents (SHIELD-9). Bytes that are made durable after it are durable when the call
# returns (OBJ-1, SHIELD-3).
source "$(dirname "${BASH_SOURCE[0]}")/transactions/lib.bash"

# Aborts leave the earlier contents: the program without the shield prints them.
"$actor" show "$pools/base" | sed '/^reported/d' >before
for case_name in ${SCUTE_TEST_CASES:-$("$actor" list one | grep -v '^left_')}; do
  case $case_name in
    commits | aborts | in_a_window | *_aborts) tried "$case_name" closes dies waits ;;
    *) tried "$case_name" dies waits ;;
  esac
  case $case_name in
    aborts | aborts_by_hand | aborts_what_is_durable | jumps | fails_to_* | *_aborts)
      sed '/^reported/d' plain | diff before - || fail "$case_name: it has changed something"
      ;;
    *) sed '/^reported/d' plain | cmp -s before - && fail "$case_name: it has changed nothing" ;;
  esac
done
[ -n "${SCUTE_TEST_CASES:-}" ] || [ "$count" -ge 33 ] || fail "only $count ends"
echo "$count ends of transactions"
