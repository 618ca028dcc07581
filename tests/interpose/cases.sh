#!/usr/bin/env bash
# A program does the same to a shielded file as to a plain one: the results of its calls, how it
# ends, and the file's contents afterwards (SHIELD-7, GUARD-1, GUARD-2, GUARD-3, GUARD-4, DESC-1,
# DESC-2, DESC-3, MAPS-3, MEM-1, LENGTH-1, GROW-1, GROW-2, CRIT-2, OWN-1, OWN-2, LIFE-2, LIFE-3,
# SUPER-1, WIRE-2, CRASHWB-1, CRASHWB-3, END-1, END-2). After an end by its own fault (SIGSEGV,
# SIGABRT), its unflushed stores are in FILE.scute-unflushed instead (CRASHWB-2). SCUTE_TEST_CASES
# names some of the cases.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

actor=$programs/scute-actor
count=0
for folder in "$pools" "$PWD"; do
  for case_name in ${SCUTE_TEST_CASES:-$("$actor" list)}; do
    plain=$folder/plain guarded=$folder/guarded
    rm -f "$folder"/plain* "$folder"/guarded*
    bytes_of 262144 >"$plain"
    shielded "$guarded" 262144
    chmod 644 "$plain" "$guarded"
    status=0 shielded_status=0
    (cd "$folder" && "$actor" "$case_name" "$plain") >plain.out 2>plain.err || status=$?
    (cd "$folder" && "$scute" shield run "${run_with[@]}" -- "$actor" "$case_name" "$guarded") >out 2>err || shielded_status=$?
    [ "$status" -lt 98 ] || [ "$status" -gt 128 ] || fail "$case_name: the actor itself: $(cat plain.err)"
    equal "$shielded_status" "$status"
    diff plain.out out || fail "$case_name: calls have other results"
    case $case_name in
      faults | aborts)
        cmp -s "$plain" "$guarded" && fail "$case_name: what was not flushed has reached the file"
        [ -s "$guarded.scute-unflushed" ] || fail "$case_name: no $guarded.scute-unflushed"
        in_err 'never flushed'
        cp "$guarded" patched
        "$actor" patch patched "$guarded.scute-unflushed"
        cmp "$plain" patched || fail "$case_name: the file and what was not flushed are not what was stored"
        ;;
      *)
        cmp "$plain" "$guarded" || fail "$case_name: other bytes in the file"
        [ ! -e "$guarded.scute-unflushed" ] || fail "$case_name: something was dropped"
        ;;
    esac
    sound "$guarded"
    count=$((count + 1))
  done
done
[ -n "${SCUTE_TEST_CASES:-}" ] || [ "$count" -ge 60 ] || fail "only $count cases"
echo "$count cases"
