#!/usr/bin/env bash
# A libpmemobj program under the shield is killed while it runs, repeatedly. Every other time its
# supervisor is killed as well: for the program, that is a power failure. The file then holds every
# operation that the program had reported, and at most one that it had not reported yet (OBJ-1,
# BACKING-2).
# While the program runs, and between the runs, this test overwrites pages with data, loses them or
# flips bits in them. The list of repairs contains each of these injuries.
source "$SCUTE_SOURCE_DIR/tests/interpose/examples/lib.bash"

examples mapcli values
rounds=${SCUTE_TEST_ROUNDS:-4}
file=$pools/map

# Each run tries three of the maps; SCUTE_TEST_MAPS names them. (So far, none of the eight has lost
# an operation that it had reported, in a power failure either.) ctree takes no keys without values:
# another program tries it.
all=(btree ctree rtree rbtree skiplist hashmap_tx hashmap_atomic hashmap_rp)
read -ra maps <<<"${SCUTE_TEST_MAPS:-$(printf '%s\n' "${all[@]}" | shuf -n 3 --random-source=<(yes "$seed") | tr '\n' ' ')}"
echo "maps: ${maps[*]}"

# operations SEED: what the program is asked for. It then looks up each key and prints a line about
# it.
operations() {
  awk -v seed="$1" 'BEGIN {
    srand(seed)
    for (i = 0; i < 150000; i++) {
      k = 1 + int(rand() * 300)
      print (rand() < 0.6 ? "i " : "r ") k
      print "c " k
    }
  }'
}

# keys_of COMMAND...: the keys in the map of a program. (`values` prints the contents of the
# values.)
keys_of() { printf 'p\n' | "$@" | grep -v count | tr ' ' '\n' | { grep -E '^[0-9]+$' || true; } | sort -n; }

# model COUNT: the keys after COUNT of the operations, according to the same program on a copy of
# its file, without the shield. (A set of numbers would not do: hashmap_rp itself loses keys after
# many insertions and removals.)
model() {
  cp "$pools/before" "$pools/model"
  awk -v count="$1" '$1 != "c" && done++ < count' operations | "$bin/$program" "$map" "$pools/model" >/dev/null 2>&1 || fail "the model, $1 operations"
  keys_of "$bin/$program" "$map" "$pools/model"
}

reported=0 kills=0 powerless=0 injuries=0 strays=0
for map in "${maps[@]}"; do
  program=mapcli
  [ "$map" != ctree ] || program=values
  rm -f "$pools"/map*
  # (Some of them crash when an empty map is to lose a key.)
  printf 'i 1000\nq\n' | "$bin/$program" "$map" "$file" >begin.out
  "$scute" shield add "$file" --parity 2 >add.out || fail "shield add"
  layout_of "$file"
  for round in $(seq "$rounds"); do
    operations $((seed * 100 + round)) >operations
    : >answers
    cp "$file" "$pools/before"
    windows=pmemobj
    [ $((round / 2 % 2)) = 0 ] || windows=off
    feed operations
    stdbuf -oL "$scute" shield run --windows "$windows" -- "$bin/$program" "$map" "$file" <fed >answers 2>err &
    run=$!
    until_said '' answers "$run"
    # Damage under a running program: the program reads its view.
    some_page "$file"
    printf 'damage' | dd of="$file" bs=1 seek=$((4096 * page + 17)) conv=notrunc 2>/dev/null
    touch struck
    pause "0.$((RANDOM % 3))$((RANDOM % 10))"
    child=$(child_of "$run")
    status=0
    if [ -n "$child" ] && [ $((round % 2)) = 0 ]; then
      power_failure "$run" "$child"
      wait "$run" || status=$?
      [ "$status" != 137 ] || powerless=$((powerless + 1))
    else
      [ -z "$child" ] || kill -9 "$child" || true  # it may have ended
      wait "$run" || status=$?
      [ "$status" != 137 ] || kills=$((kills + 1))
    fi
    [[ " 0 137 " == *" $status "* ]] || fail "$map: status $status"
    n=$(wc -l <answers)
    reported=$((reported + n))
    checked "0 2" "$file" --repair
    checked 0 "$file"
    # The program may have overwritten the page before the shield examined it.
    ! was_repaired "$file" "$page" || strays=$((strays + 1))

    some_page "$file"
    case $((round % 3)) in
      0) kind=(--kind flip) ;;
      1) kind=(--kind lose-page) ;;
      2) kind=(--kind scribble --length 512) ;;
    esac
    "$scute" inject "$file.scute" "${kind[@]}" --offset $((payload + 4096 * page)) >inject.out 2>&1 || fail "$(cat inject.out)"
    keys_of "$scute" shield run -- "$bin/$program" "$map" "$file" >keys 2>err || fail "it does not open: $(cat err)"
    was_repaired "$file" "$page" || fail "$map, round $round: page $page was not repaired: $(tail -n 3 events.out)"
    injuries=$((injuries + 1))
    model "$n" >before
    model $((n + 1)) >after
    cmp -s keys before || cmp -s keys after ||
      fail "$map, round $round, --windows $windows, status $status, $n reported: the keys are neither those of the reported operations nor of one more: $(diff keys before | head -5)"
  done
  sound "$file"
done
echo "$kills kills, $powerless of program and supervisor, $reported operations reported, $injuries injuries repaired, $strays stray writes"
[ "$kills" -gt 0 ] || fail "nothing was killed"
[ "$powerless" -gt 0 ] || fail "no supervisor was killed"
[ "$reported" -gt 100 ] || fail "too few operations were reported"
[ "$injuries" = $((${#maps[@]} * rounds)) ] || fail "only $injuries injuries were repaired"
[ $((strays * 2)) -ge "$injuries" ] || fail "only $strays stray writes were repaired"
