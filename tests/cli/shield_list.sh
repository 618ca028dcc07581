#!/usr/bin/env bash
# scute shield list: each state that a shielded file may be in, as a table and as JSON, and what the
# next opening then makes of it (OUTLOOK-1).
. "${BASH_SOURCE[0]%/*}/lib.bash"
cd "$pools"
mkdir -p data/deep

new_file() {
  head -c 300001 /dev/urandom >"$1"
  "$scute" shield add "$1" --quiet >/dev/null || fail "shield add $1"
}
# state FILE STATE
state() { grep -q "^$2 .* $1\$" out || fail "$1 is not $2: $(cat out)"; }
# A session that is killed: a program under the shield whose supervisor dies with it.
kill_session() {
  mkfifo "$1.never"
  "$scute" shield run -- bash -c 'exec {fd}<>"$1"; echo >"$1".open; read -r line <"$1".never' - "$1" 2>/dev/null &
  local run=$!
  wait_until test -s "$1.open"
  kill -9 "$run" $(ps -o pid= --ppid "$run")
  wait "$run" 2>/dev/null || true
  rm "$1.open" "$1.never"
  wait_until is_free "$1"
}
is_free() { ! "$scute" shield list "$1" | grep -q '^in use'; }

expect 0 "$scute" shield list data
[ ! -s out ] || fail "there is nothing to list"
expect 0 "$scute" shield list data --json
valid_json
for name in clean touched grown cut missing other deep/guarded broken; do new_file data/$name; done
new_file data/sound
"$scute" shield remove data/deep/guarded
"$scute" shield add data/deep/guarded --guard --quiet >/dev/null
"$scute" create data/own.scute --size 2M >/dev/null
expect 0 "$scute" shield list data
equal "$(tail -n +2 out | grep -c '^clean ')" 9
! grep -q data/own out || fail "a pool of its own is listed"
state data/deep/guarded clean
cp data/clean before && cp data/clean.scute before.scute

touch data/touched
printf x >>data/grown
truncate -s 100 data/cut
mv data/missing gone
head -c 100000 /dev/zero >data/broken.scute
chmod 644 data/deep/guarded
expect 2 "$scute" shield list data
state data/clean clean
state data/touched touched
state data/grown changed
state data/cut changed
state data/missing missing
state data/deep/guarded clean  # IDENT-1: of a guarded file the time of change says nothing
grep -q '^unreadable .* data/broken$' out || fail "$(cat out)"
in_err '^scute: data/broken: .*not a Scute pool'

expect 2 "$scute" shield list data --json
cp out list.json
valid_json
equal "$(grep -c '"file"' list.json)" 9
grep -A1 '"data/broken"' list.json | grep -q unreadable || fail "$(cat list.json)"
grep -A5 '"data/deep/guarded"' list.json | grep -q '"guarded": true' || fail "$(cat list.json)"

# The files that it has looked at are unchanged.
cmp before data/clean && cmp before.scute data/clean.scute || fail "the list has changed something"

# The next opening agrees.
for name in clean touched deep/guarded; do expect 0 "$scute" shield check data/$name --quiet; done
for name in grown cut missing broken; do expect '1 7' "$scute" shield check data/$name --quiet; done

# Some folders, or a file; here.
expect 0 "$scute" shield list data/deep data/clean
equal "$(tail -n +2 out | wc -l)" 2
(cd data/deep && expect 0 "$scute" shield list && state ./guarded clean)
expect 1 "$scute" shield list data/nothing
one_error_line

if [ -e "$SCUTE_BINARY_DIR/lib/libscute-shield.so" ]; then
  mkfifo go
  "$scute" shield run -- bash -c 'exec {fd}<>"$1"; echo >open; read -r line <go' - data/clean &
  run=$!
  wait_until test -s open
  expect 0 "$scute" shield list data/clean
  state data/clean 'in use'
  echo >go
  wait "$run"
  expect 0 "$scute" shield list data/clean
  state data/clean clean

  kill_session data/sound
  expect 0 "$scute" shield list data/sound
  state data/sound unclean
  kill_session data/other
  cp data/other copy && mv copy data/other
  expect 2 "$scute" shield list data/other
  state data/other changed
  expect 1 "$scute" shield check data/other
  expect 0 "$scute" shield check data/sound --repair --quiet
  expect 0 "$scute" shield list data/sound
  state data/sound clean
fi
