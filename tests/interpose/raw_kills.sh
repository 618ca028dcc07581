#!/usr/bin/env bash
# Programs that flush by their own instructions are killed while they run, repeatedly. Every other
# time their supervisor is killed first: for the programs, that is a power failure. Between the
# kills and during the runs, bits flip, bytes are overwritten and pages are lost. The file then
# holds all operations that the programs had reported, and at most one more of each of their threads
# (SHIELD-2, SHIELD-3, CRASHWB-1).
source "$(dirname "${BASH_SOURCE[0]}")/raw/lib.bash"

seed=${SCUTE_TEST_SEED:-$RANDOM}
rounds=${SCUTE_TEST_ROUNDS:-$(budget 2 6)}
echo "seed $seed: SCUTE_TEST_SEED=$seed repeats it"
RANDOM=$seed
file=$pools/file

killed=0 powerless=0 reported=0
for program in sorted_tree level_table item_server; do
  workers=0 more=()
  [ "$program" != item_server ] || { workers=4; more=(--workers 4); }
  make_file "$program" "$file"
  under_shield "$file"
  : >before
  for round in $(seq "$rounds"); do
    operations "$program" $((seed * 100 + round)) 50000 1500 >operations
    : >answers
    feed operations
    "$scute" shield run -- "$raw/$program" "$file" "${more[@]}" <fed >answers 2>err &
    run=$!
    until_said '' answers "$run"
    # Under the running program, which sees its view.
    pages=$(($(stat -c %s "$file") / 4096))
    page=$((RANDOM % pages))
    if [ $((RANDOM % 2)) = 0 ]; then
      printf 'damage' | dd of="$file" bs=1 seek=$((4096 * page + 17 * (RANDOM % 200))) conv=notrunc 2>/dev/null
    else
      dd if=/dev/urandom of="$file" bs=4096 count=1 seek="$page" conv=notrunc 2>/dev/null
    fi
    touch struck
    pause "0.$((RANDOM % 2))$((RANDOM % 10))$((RANDOM % 10))"
    child=$(child_of "$run")
    status=0
    if [ -n "$child" ] && [ $((round % 2)) = 0 ]; then
      power_failure "$run" "$child"
      wait "$run" || status=$?
      [ "$status" != 137 ] || powerless=$((powerless + 1))
    else
      [ -z "$child" ] || kill -9 "$child" || true
      wait "$run" || status=$?
      [ "$status" != 137 ] || killed=$((killed + 1))
    fi
    [[ " 0 137 " == *" $status "* ]] || fail "$program: status $status"
    whole "$file"
    case $((round % 3)) in
      0) kind=(--kind flip --count 2) ;;
      1) kind=(--kind lose-page --region object) ;;
      2) kind=(--kind scribble --region object --length 512) ;;
    esac
    "$scute" inject "$file.scute" "${kind[@]}" --seed $((seed + round)) >inject.out 2>&1 || fail "$(cat inject.out)"
    shielded_state found "$program" "$file"
    model "$workers"
    reported=$((reported + $(wc -l <answers)))
    mv found before
  done
  whole "$file"
  sound "$file"
  state_of found "$(plain_of "$program")" "$file"
  cmp found before || fail "$program: without the shield it holds something else"
done
echo "$killed kills, $powerless of program and supervisor, $reported operations reported"
[ "$killed" -gt 0 ] || fail "no program was killed"
[ "$powerless" -gt 0 ] || fail "no supervisor was killed"
[ "$reported" -gt 100 ] || fail "too few operations were reported"
