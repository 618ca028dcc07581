#!/usr/bin/env bash
# Pool options from the environment: each does what its flag does, and a flag wins; SCUTE_READONLY=1
# keeps every command from changing a pool.
. "${BASH_SOURCE[0]%/*}/lib.bash"

same() { # VARIABLE FLAG VALUE MEMBER of info --json
  rm -f "$pools/by-env.pool" "$pools/by-flag.pool"
  expect 0 env "$1=$3" "$scute" create "$pools/by-env.pool" --json
  local by_env
  by_env=$(json "$4")
  expect 0 "$scute" create "$pools/by-flag.pool" "$2" "$3" --json
  equal "$by_env" "$(json "$4")"
  [ -n "$by_env" ] || fail "create --json has no '$4'"
  expect 0 "$scute" create "$pools/plain.pool" --overwrite --json
  [ "$by_env" != "$(json "$4")" ] || fail "$1=$3 changes nothing"
}
same SCUTE_SIZE --size 3M size
same SCUTE_LAYOUT --layout orders layout
same SCUTE_ENGINE --engine redo engine
same SCUTE_PROTECTION --protection ml protection
same SCUTE_CHECKSUM --checksum adler32 checksum
same SCUTE_ROWS --rows 7 rows
same SCUTE_PARITY --parity 2 parity
same SCUTE_LANES --lanes 5 lanes
same SCUTE_CHUNK_SIZE --chunk-size 32K chunk_size
# The size of the log that engine spec has, and no other: in memory, and on a disk in a file of its
# own.
cap() { # POOL
  expect 0 "$scute" info "$1" --json
  sed -n 's/.*"cap": \([0-9]*\).*/\1/p' out
}
for medium in auto file; do
  new=("$scute" create --medium $medium --size 32M --engine spec)
  expect 0 "${new[@]}" "$pools/cap-$medium.pool" --log-cap 2M
  equal "$(cap "$pools/cap-$medium.pool")" $((2 << 20))
  expect 0 env SCUTE_LOG_CAP=3M "${new[@]}" "$pools/by-env-$medium.pool"
  equal "$(cap "$pools/by-env-$medium.pool")" $((3 << 20))
  expect 0 "$scute" engine "$pools/cap-$medium.pool" spec --log-cap 4M --medium $medium
  equal "$(cap "$pools/cap-$medium.pool")" $((4 << 20))
  expect 0 "$scute" check "$pools/cap-$medium.pool"
done
expect 1 "$scute" create "$pools/no-log.pool" --engine redo --log-cap 2M
one_error_line
in_err 'log-cap is an option of engine spec'
[ ! -e "$pools/no-log.pool" ] || fail "there is a file"
expect 1 "$scute" engine "$pools/cap-auto.pool" logfree --log-cap 2M
in_err 'log-cap is an option of engine spec'
expect 0 env SCUTE_ROWS=7 "$scute" create "$pools/both.pool" --rows 9 --json
equal "$(json rows)" 9
expect 0 env SCUTE_MODE=0640 "$scute" create "$pools/mode.pool"
equal "$(stat -c %a "$pools/mode.pool")" 640
expect 1 env SCUTE_ROWS=many "$scute" create "$pools/wrong.pool"
one_error_line
[ ! -e "$pools/wrong.pool" ] || fail "there is a file"

# Options of the environment that are for new pools are not asked of those that exist.
before=$(stat -c %s "$pools/plain.pool")
for of_new in SIZE=8M ENGINE=spec PROTECTION=none CHECKSUM=adler32 ROWS=9 LANES=3 MODE=0640 OVERWRITE=1 PREALLOCATE=1; do
  expect 0 env "SCUTE_$of_new" "$scute" kv put "$pools/plain.pool" k v
  expect 0 env "SCUTE_$of_new" "$scute" info "$pools/plain.pool"
done
equal "$(stat -c %s "$pools/plain.pool")" "$before"

# A layout that is asked for must be the pool's.
expect 0 "$scute" info "$pools/by-flag.pool"
expect 7 "$scute" info "$pools/both.pool" --layout other
expect 7 env SCUTE_LAYOUT=other "$scute" kv get "$pools/both.pool" k

# Bytes that are read untested are counted on demand only.
pool=$pools/a.pool
expect 0 "$scute" create "$pool" --size 4M
expect 0 "$scute" kv put "$pool" k v
expect 0 "$scute" stats "$pool" --json
grep -q '"unverified_bytes": 0' out || fail "unverified bytes are counted unasked"
expect 0 "$scute" stats "$pool" --account --json
valid_json

cp "$pool" before.pool
for command in "create $pool --overwrite" "check $pool --repair" "scrub $pool" "inject $pool --kind flip" \
  "kv put $pool k w" "kv del $pool k" "kv load $pool records.tsv"; do
  printf 'x\ty\n' >records.tsv
  # shellcheck disable=SC2086
  expect 1 env SCUTE_READONLY=1 "$scute" $command
  one_error_line
  cmp "$pool" before.pool || fail "SCUTE_READONLY=1 scute $command changed the pool"
done
for command in "info" "check" "dump" "stats" "events" "kv count" "kv scan"; do
  # shellcheck disable=SC2086
  expect 0 env SCUTE_READONLY=1 "$scute" $command "$pool"
  # shellcheck disable=SC2086
  expect 0 "$scute" $command "$pool" --json
  [ "$command" = "kv scan" ] || valid_json
  cmp "$pool" before.pool || fail "$command changed the pool"
done

# The kernels that SCUTE_CPU can request, and those that the pool reports.
expect 0 env SCUTE_CPU=portable "$scute" info "$pool"
grep -q '^kernels  *portable$' out || fail "not portable: $(cat out)"
expect 0 env SCUTE_CPU=portable "$scute" check "$pool"
