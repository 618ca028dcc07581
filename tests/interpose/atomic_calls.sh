#!/usr/bin/env bash
# Lists and atomic allocations of libpmemobj, as transactions.sh has it for transactions. A
# constructor may fail, or the program may end in it. If it leaves by longjmp(), the next
# transaction finds no window of it (OBJ-2).
source "$(dirname "${BASH_SOURCE[0]}")/transactions/lib.bash"

for case_name in ${SCUTE_TEST_CASES:-$("$actor" list atomic)}; do
  case $case_name in
    # (pmemobj_close() ends a program that has left a constructor so.)
    in_the_middle* | constructor_jumps*) tried "$case_name" exits dies waits ;;
    *) tried "$case_name" closes dies waits ;;
  esac
done
[ -n "${SCUTE_TEST_CASES:-}" ] || [ "$count" -ge 30 ] || fail "only $count ends"
echo "$count ends of atomic calls"
