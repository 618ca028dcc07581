#!/usr/bin/env bash
# Pools that are missing, foreign, cut short, busy, read-only: one line that says so, and its
# status.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
expect 0 "$scute" create "$pool" --size 4M
expect 0 "$scute" kv put "$pool" k v

on_every_reader() {
  local status=$1 file=$2 command
  for command in info check dump stats "kv count" "kv scan"; do
    # shellcheck disable=SC2086
    expect "$status" "$scute" $command "$file"
    one_error_line
    in_err "^scute: $file: "
    equal "$(grep -o -F "${file##*/}" err | wc -l)" 1
  done
  expect "$status" "$scute" kv get "$file" k
  expect "$status" "$scute" kv put "$file" k v
  expect "$status" "$scute" kv del "$file" k
  one_error_line
}

on_every_reader 1 "$pools/missing.pool"
[ ! -e "$pools/missing.pool" ] || fail "a reader made a file"
expect 1 "$scute" kv load "$pools/missing.pool" /dev/null
[ ! -e "$pools/missing.pool" ] || fail "kv load without --create made a file"

head -c 4194304 /dev/urandom >"$pools/foreign.pool"
on_every_reader 7 "$pools/foreign.pool"
: >"$pools/empty.pool"
on_every_reader 7 "$pools/empty.pool"
head -c 2000000 "$pool" >"$pools/cut.pool"
on_every_reader 7 "$pools/cut.pool"
mkdir "$pools/folder"
expect "1 7" "$scute" info "$pools/folder"
one_error_line

# A name that is a word of the message, or has no slash in it: the line begins with it all the same.
(
  cd "$pools"
  head -c 300000 /dev/zero >pool
  expect 7 "$scute" info pool
  in_err '^scute: pool: this file is not a Scute pool'
  expect 1 "$scute" info none.pool
  in_err '^scute: none.pool: there is no pool; make one with '
)

# Read-only.
expect 1 env SCUTE_READONLY=1 "$scute" kv put "$pool" k w
one_error_line
equal "$(grep -o -F "$pool" err | wc -l)" 1
chmod 400 "$pool"
expect 0 "$scute" kv get "$pool" k
equal "$(cat out)" v
if [ "$(id -u)" != 0 ]; then
  expect 1 "$scute" kv put "$pool" k w
  one_error_line
fi
chmod 600 "$pool"

# Busy: a loader that waits for input keeps the pool open.
mkfifo feed
"$scute" kv load "$pool" - --name feed --quiet <feed >/dev/null 2>loader.err &
loader=$!
exec 9>feed
# Once it has mapped the pool it has locked it. (A command that tries by using the pool may lock
# the loader out.)
wait_until grep -q "$pool" "/proc/$loader/maps"
expect 5 "$scute" kv put "$pool" other x
one_error_line
expect 5 "$scute" check "$pool" --repair
printf 'fed\tyes\n' >&9
exec 9>&-
wait "$loader" || fail "the loader failed: $(cat loader.err)"
expect 0 "$scute" kv get "$pool" fed
equal "$(cat out)" yes
# Readers do not exclude one another.
"$scute" kv scan "$pool" >/dev/null &
reader=$!
expect 0 "$scute" kv count "$pool"
wait "$reader"

# Damage beyond repair is said once, with one way on.
records 5000 >many.tsv
for seed in 1 2 3; do
  rm -f "$pools/lost.pool"
  "$scute" kv load "$pools/lost.pool" many.tsv --create --size 6M --rows 4 --engine logfree --quiet >/dev/null
  expect 0 "$scute" inject "$pools/lost.pool" --kind scribble --count 300 --length 4000 --seed $seed
  expect "1 3 7" "$scute" kv scan "$pools/lost.pool"
  equal "$(grep -o 'scute check' err | wc -l)" 1
  equal "$(wc -l <err)" 1
done
