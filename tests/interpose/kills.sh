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
    for (i = 0; i < 20000; i++) {
      k = int(rand() * 300)
      print (rand() < 0.6 ? "i " : "r ") k
      print "c " k
    }
  }'
}

# model STATE COUNT: the keys after COUNT of the operations, from STATE on.
model() {
  awk -v count="$2" 'FNR == NR { has[$1] = 1; next }
    $1 != "c" && done++ < count { if ($1 == "i") has[$2] = 1; else delete has[$2] }
    END { for (k in has) print k }' "$1" operations | sort -n
}

told=0 kills=0
for map in hashmap_tx hashmap_atomic hashmap_rp; do
  rm -f "$pools"/map*
  printf 'i 1000\nq\n' | "$bin/mapcli" "$map" "$file" 7 >begin.out  # (some of them crash when an empty map is to lose a key)
  "$scute" shield add "$file" >add.out || fail "shield add"
  echo 1000 >state
  for round in $(seq "$rounds"); do
    operations $((seed * 100 + round)) >operations
    : >answers
    stdbuf -oL "$scute" shield run -- "$bin/mapcli" "$map" "$file" <operations >answers 2>err &
    run=$!
    for _ in $(seq 400); do [ -s answers ] && break; sleep 0.01; done
    # Damage under a running program: what it reads is its view.
    printf 'damage' | dd of="$file" bs=1 seek=$((4096 * (3000 + RANDOM % 1000) + 17)) conv=notrunc 2>/dev/null
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    child=$(ps -o pid= --ppid "$run" | tr -d ' ')
    [ -n "$child" ] && kill -9 "$child" || true
    status=0
    wait "$run" || status=$?
    [[ " 0 137 " == *" $status "* ]] || fail "$map: status $status"
    [ "$status" = 0 ] || kills=$((kills + 1))
    n=$(wc -l <answers)
    told=$((told + n))
    "$scute" check "$file.scute" >check.out || fail "$map, round $round: $(cat check.out)"
    case $((round % 3)) in
      1) "$scute" inject "$file.scute" --kind flip --count 3 --seed "$round" >inject.out 2>&1 || fail "$(cat inject.out)" ;;
      2) "$scute" inject "$file.scute" --kind lose-page --region object --seed "$round" >inject.out 2>&1 || fail "$(cat inject.out)" ;;
    esac
    printf 'p\n' | "$scute" shield run -- "$bin/mapcli" "$map" "$file" >out 2>err || fail "it does not open"
    grep -v 'count' out | tr ' ' '\n' | grep -E '^[0-9]+$' | sort -n >keys
    model state "$n" >before
    model state $((n + 1)) >after
    cmp -s keys before || cmp -s keys after ||
      fail "$map, round $round, $n told: the keys are neither what was told nor one more: $(diff keys before | head -5)"
    cp keys state
  done
  sound "$file"
done
echo "$kills kills, $told operations told of"
[ "$kills" -gt 0 ] || fail "nothing was killed"
[ "$told" -gt 100 ] || fail "too little was told"
