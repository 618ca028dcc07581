#!/usr/bin/env bash
# A program ends in the middle of a transaction of libpmemobj, of an inner one, of an abort, of one
# whose half work another thread has made durable, or between two. It ends by exit(), by SIGKILL, or
# by a power failure. Opened again, under the shield or without, the file holds what it held before
# the transaction (SHIELD-2, SHIELD-9, CRASHWB-1, LIFE-3).
source "$(dirname "${BASH_SOURCE[0]}")/transactions/lib.bash"

"$actor" show "$pools/base" | sed '/^reported/d' >before
for case_name in ${SCUTE_TEST_CASES:-$("$actor" list one | grep '^left_')}; do
  tried "$case_name" exits dies waits
  [ "$case_name" = left_between ] || sed '/^reported/d' plain | diff before - || fail "$case_name: it has changed something"
done
[ -n "${SCUTE_TEST_CASES:-}" ] || [ "$count" -ge 15 ] || fail "only $count ends"
echo "$count transactions left"
