#!/usr/bin/env bash
# A libpmemobj program under the shield is killed in the middle of its work, again and again: the file then holds what the program
# had told of, and at most the one operation that it had not told of yet (OBJ-1, BACKING-2). Between the kills bits flip and pages get lost.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bin=$PWD/bin
mkdir "$bin"
bash "$SCUTE_SOURCE_DIR/tests/interpose/examples/build.sh" "$bin" || fail "the examples do not build"
file=$pools/map
seed=${SCUTE_TEST_SEED:-$RANDOM}
rounds=${SCUTE_TEST_ROUNDS:-6}
echo "seed $seed: SCUTE_TEST_SEED=$seed repeats it"

# operations SEED: what the program is asked for. Each is looked up afterwards, which it answers by a line.
operations() {
  awk -v seed="$1" 'BEGIN {
    srand(seed)
    for (i = 0; i < 150000; i++) {
      k = int(rand() * 300)
      print (rand() < 0.6 ? "i " : "r ") k
      print "c " k
    }
  }'
}

# keys_of COMMAND...: the keys that the map of a program has.
keys_of() { printf 'p\n' | "$@" | grep -v count | tr ' ' '\n' | { grep -E '^[0-9]+$' || true; } | sort -n; }

# model COUNT: the keys after COUNT of the operations, says the same program on a copy of its file and without the shield. (A set of
# numbers would not do: hashmap_rp itself loses keys when many have come and gone.)
model() {
  cp "$pools/before" "$pools/model"
  awk -v count="$1" '$1 != "c" && done++ < count' operations | "$bin/mapcli" "$map" "$pools/model" >/dev/null 2>&1 || fail "the model, $1 operations"
  keys_of "$bin/mapcli" "$map" "$pools/model"
}

told=0 kills=0
for map in hashmap_tx hashmap_atomic hashmap_rp; do
  rm -f "$pools"/map*
  printf 'i 1000\nq\n' | "$bin/mapcli" "$map" "$file" 7 >begin.out  # (some of them crash when an empty map is to lose a key)
  "$scute" shield add "$file" >add.out || fail "shield add"
  for round in $(seq "$rounds"); do
    operations $((seed * 100 + round)) >operations
    : >answers
    "$scute" check "$file.scute" >check.out || fail "$map, before round $round: $(cat check.out)"  # and what was injected is repaired
    cp "$file" "$pools/before"
    stdbuf -oL "$scute" shield run -- "$bin/mapcli" "$map" "$file" <operations >answers 2>err &
    run=$!
    for _ in $(seq 400); do [ -s answers ] && break; sleep 0.01; done
    # Damage under a running program: what it reads is its view.
    printf 'damage' | dd of="$file" bs=1 seek=$((4096 * (3000 + RANDOM % 1000) + 17)) conv=notrunc 2>/dev/null
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    child=$(ps -o pid= --ppid "$run" | tr -d ' ') || true  # it may have come to its end
    [ -n "$child" ] && kill -9 "$child" || true
    status=0
    wait "$run" || status=$?
    [[ " 0 137 " == *" $status "* ]] || fail "$map: status $status"
    [ "$status" = 0 ] || kills=$((kills + 1))
    n=$(wc -l <answers)
    told=$((told + n))
    # A program that has come to its end leaves damage that its view never met to the next look.
    [ "$status" = 137 ] || "$scute" check --repair "$file.scute" >check.out || true
    "$scute" check "$file.scute" >check.out || fail "$map, round $round: $(cat check.out)"
    case $((round % 3)) in
      1) "$scute" inject "$file.scute" --kind flip --count 3 --seed "$round" >inject.out 2>&1 || fail "$(cat inject.out)" ;;
      2) "$scute" inject "$file.scute" --kind lose-page --region object --seed "$round" >inject.out 2>&1 || fail "$(cat inject.out)" ;;
    esac
    keys_of "$scute" shield run -- "$bin/mapcli" "$map" "$file" >keys 2>err || fail "it does not open: $(cat err)"
    model "$n" >before
    model $((n + 1)) >after
    cmp -s keys before || cmp -s keys after ||
      fail "$map, round $round, $n told: the keys are neither what was told nor one more: $(diff keys before | head -5)"
  done
  sound "$file"
done
echo "$kills kills, $told operations told of"
[ "$kills" -gt 0 ] || fail "nothing was killed"
[ "$told" -gt 100 ] || fail "too little was told"
