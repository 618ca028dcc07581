#!/usr/bin/env bash
# kill -9 in the making of a pool: the same command continues, and nothing is left.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 40 >records.tsv

# micros COMMAND...: how long it takes, in microseconds, to choose moments of kills from.
micros() {
  local begin=${EPOCHREALTIME/[.,]/}
  expect 0 "$@"
  took=$((${EPOCHREALTIME/[.,]/} - begin))
}
# kill_within MICROSECONDS COMMAND...: kills it at a random moment of that time.
kill_within() {
  local moment=$((RANDOM * $1 / 32768))
  shift
  "$@" >/dev/null 2>&1 &
  local victim=$!
  pause "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
  kill -9 "$victim" 2>/dev/null || true
  wait "$victim" 2>/dev/null || true
}
only() { equal "$(ls "$pools")" "$*"; }

seed=${SCUTE_TEST_SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
micros "$scute" kv load "$pool" records.tsv --create --size 16M --quiet --batch 5
load=$took
rm -f "$pool"*
micros "$scute" create "$pool" --size 16M --preallocate
create=$took
# At least 25 rounds, and until five kills have met a load whose pool had its name.
half=0 round=0
while [ "$round" -lt 25 ] || [ "$half" -lt 5 ]; do
  round=$((round + 1))
  [ "$round" -le 300 ] || fail "only $half of 300 loads were killed after their pool had its name"
  rm -f "$pool"*
  kill_within "$load" "$scute" kv load "$pool" records.tsv --create --size 16M --quiet --batch 5
  [ ! -e "$pool" ] || half=$((half + 1))
  expect 0 "$scute" kv load "$pool" records.tsv --create --size 16M --quiet
  expect 0 "$scute" kv scan "$pool"
  cmp out records.tsv || fail "round $round: the records differ"
  only a.pool

  rm -f "$pool"
  kill_within "$create" "$scute" create "$pool" --size 16M --preallocate
  [ ! -e "$pool" ] || expect 0 "$scute" check "$pool"
  expect 0 "$scute" create "$pool" --size 16M --overwrite
  only a.pool

  # The old pool, or the new one.
  expect 0 "$scute" kv put "$pool" k v
  kill_within "$create" "$scute" create "$pool" --size 8M --overwrite
  expect "0 4" "$scute" kv get "$pool" k
  expect 0 "$scute" create "$pool" --size 4M --overwrite
  only a.pool
done
echo "$half of $round loads had made their pool"

# Other versions have left a file of zeros, of any length.
for size in 0 4096 16M; do
  rm -f "$pool"
  truncate -s "$size" "$pool"
  expect 0 "$scute" create "$pool" --size 4M --overwrite
  expect 0 "$scute" check "$pool"
done
# But not one with something in it.
truncate -s 16M "$pools/disk"
printf x | dd of="$pools/disk" bs=1 seek=9999999 conv=notrunc status=none
expect 1 "$scute" create "$pools/disk" --size 4M --overwrite
one_error_line

# A replacement that was whole when its maker died.
rm -f "$pool" "$pools/disk"
expect 0 "$scute" create "$pool" --size 4M
for command in 'kv put' 'create --size 4M --overwrite'; do
  cp "$pool" "$pool.scute-new"
  printf SCUTENEW >>"$pool.scute-new"
  # shellcheck disable=SC2086
  case $command in
    kv*) expect 0 "$scute" $command "$pool" k v ;;
    *) expect 0 "$scute" $command "$pool" ;;
  esac
  only a.pool
done
# A copy that its user made is no leftover.
cp "$pool" "$pool.scute-new"
expect 0 "$scute" kv put "$pool" k v
expect 1 "$scute" create "$pool" --size 4M --overwrite
grep -q "a.pool.scute-new" err || fail "it names another file: $(cat err)"
expect 0 "$scute" kv get "$pool" k
cmp -s "$pool" "$pool.scute-new" && fail "k was put into the copy"
only $'a.pool\na.pool.scute-new'
rm "$pool.scute-new"
# A file whose maker is running is left alone.
mkfifo feed
cp "$pool" "$pool.scute-new"
"$scute" kv load "$pool.scute-new" - --quiet <feed >/dev/null 2>maker.err &
maker=$!
exec 9>feed
is_open() { ls -l "/proc/$maker/fd" | grep -q 'scute-new$'; }
is_refused() {
  status=0
  "$scute" kv count "$pool.scute-new" >/dev/null 2>&1 || status=$?
  [ "$status" != 0 ]
}
wait_until is_open
wait_until is_refused  # by its lock
[ "$status" = 5 ] || fail "status $status: $(cat maker.err)"
expect 5 "$scute" create "$pool" --size 4M --overwrite
expect 0 "$scute" kv put "$pool" k v
[ -e "$pool.scute-new" ] || fail "a file in use was removed"
exec 9>&-
wait "$maker"
