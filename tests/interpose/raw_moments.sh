#!/usr/bin/env bash
# A power failure at each flush and fence of programs that flush by their own instructions. The
# program stops itself there, and is killed with its supervisor, or alone. In the meantime an
# operation splits a node, grows the table or replaces an item. All reported operations are then in
# the file, and the structure is sound (SHIELD-2, SHIELD-3, SUPER-1).
source "$(dirname "${BASH_SOURCE[0]}")/raw/lib.bash"

base=$pools/base file=$pools/file

# prepare PROGRAM: writes `first`, operations that lead to a moment with much to do, and
# `operations`, which do it.
prepare() {
  case $1 in
    sorted_tree)
      seq 100 10 390 | sed 's/.*/put & &/' >first  # the root is a full leaf
      printf 'put 145 1\ndel 100\nput 100 2\nput 390 3\ndel 380\n' >operations
      ;;
    level_table)
      seq 74 | sed 's/.*/put k& v&/' >first
      # An update where the bucket is full, and as many new keys as it takes to grow.
      { seq 74 | sed 's/.*/put k& w&/'; seq 75 110 | sed 's/.*/put k& v&/'; printf 'del k80\ndel k3\n'; } >operations
      ;;
    item_server)
      seq 5 | sed 's/.*/set k& something of few words/' >first
      printf 'set k2 shorter\nset k6 %0300d\ndel k2\nset k3 the first of its class has gone\nset k2 again\n' 7 >operations
      ;;
  esac
}

# to_moment N: runs the program until it stops before its Nth flush or fence; false: it has ended
# before.
is_there() { # it has stopped, or the run is over
  ! gone "$run" || return 0
  child=$(child_of "$run")
  [ -n "$child" ] && grep -q '^State:.T' "/proc/$child/status" 2>/dev/null
}
to_moment() {
  RAW_STOP_AT=$1 "$scute" shield run -- "$raw/$program" "$file" "${more[@]}" <operations >answers 2>err &
  run=$!
  child=
  wait_until is_there
  ! gone "$run" || child=
  [ -z "$child" ] || return 0
  wait "$run" || fail "$program ends with $?, and does not stop"
  return 1
}

for program in sorted_tree level_table item_server; do
  workers=0 more=() step=$(budget 3 1)
  [ "$program" != item_server ] || { workers=1; more=(--workers 1); }
  [ "$program" != level_table ] || step=${SCUTE_TEST_STEP:-$(budget 27 9)}
  prepare "$program"
  make_file "$program" "$base"
  expect 0 "$(plain_of "$program")" "$base" <first
  state_of before "$(plain_of "$program")" "$base"
  moments=0
  for ((moment = 1; ; moment += step)); do
    rm -f "$file"*
    cp "$base" "$file"
    under_shield "$file"
    to_moment "$moment" || break
    moments=$((moments + 1))
    if [ $((moments % 3)) = 0 ]; then kill -9 "$child"; else power_failure "$run" "$child"; fi
    wait "$run" || true
    checked 0 "$file"
    shielded_state found "$program" "$file"
    model "$workers"
  done
  equal "$(wc -l <answers)" "$(wc -l <operations)"
  echo "$program: $moments moments"
  [ "$moments" -ge "$(budget 4 10)" ] || fail "only $moments moments"
done
