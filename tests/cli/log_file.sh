#!/usr/bin/env bash
# A pool on a disk with engine spec has its log in a second file. After a kill it is opened with its
# own log and no other, by every command; after a close it needs none. Both files are moved and
# copied together.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pools=$PWD
export SCUTE_MEDIUM=file SCUTE_ENGINE=spec
pool=$pools/a.pool
records 60 >records.tsv
mkfifo feed
exec 9<>feed  # which the loader never sees the end of

# Leaves a pool whose loader was killed after a checkpoint, with its log.
killed_pool() { # POOL
  rm -f "$1" "$1.log"
  "$scute" create "$1" --size 4M >/dev/null
  local loader
  "$scute" kv load "$1" - --batch 7 --quiet <feed >/dev/null 2>&1 9>&- &
  loader=$!
  cat records.tsv >&9
  wait_until has_loaded "$1"
  kill -9 $loader
  wait $loader 2>/dev/null || true
  rm -f copy.pool*
}
has_loaded() {
  cp "$1" copy.pool && cp "$1.log" copy.pool.log &&
    [ "$("$scute" kv scan copy.pool 2>/dev/null | wc -l)" -ge 53 ] &&
    "$scute" info copy.pool --json 2>/dev/null | grep -q '"truncation_point": [1-9]'
}
loaded() { "$scute" kv scan "$1" | wc -l; }

# Every command refuses the pool, in one line that names the log, says what is wrong with it and
# what can be done; and neither file changes.
refused() { # STATUS WORDS
  local command before after
  before=$(md5sum "$pool"*)
  for command in "info $pool" "check $pool" "check $pool --repair" "scrub $pool" "stats $pool" \
    "dump $pool" "engine $pool" "engine $pool logfree" "kv get $pool key0000001" "kv put $pool k v"; do
    # shellcheck disable=SC2086
    expect "$1" "$scute" $command
    one_error_line
    in_err "^scute: $pool: its log $pool\.log $2\. "
    in_err 'Restore the log next to the pool'
    in_err 'Nothing was changed'
  done
  after=$(md5sum "$pool"*)
  equal "$before" "$after"
}

expect 0 "$scute" create "$pool" --size 4M
[ -f "$pool.log" ] || fail "no log was made"
expect 0 "$scute" info "$pool"
in_out "^log file  *$pool\.log ("
in_out '^log  *[0-9.]* [KMi]*B of [0-9.]* [KM]iB in use, void up to [0-9]'
expect 0 "$scute" stats "$pool"
in_out '^log  *[0-9.]* [KMi]*B of [0-9.]* [KM]iB in use, void up to [0-9]'
cp "$pool.log" closed.log
killed_pool "$pool"
killed_pool "$pools/other.pool"
cp "$pool" killed.pool
cp "$pool.log" killed.log
again() {
  rm -f "$pool"*
  cp killed.pool "$pool"
  cp killed.log "$pool.log"
}

# How full the log is, and how far it is void, is reported also for a pool whose writer was
# killed.
for command in info stats; do
  expect 0 "$scute" $command "$pool"
  in_out '^log  *[0-9.]* [KMi]*B of [0-9.]* [KM]iB in use, void up to [0-9]'
done
expect 0 "$scute" info "$pool" --json
valid_json
grep -q '"truncation_point": [1-9]' out || fail "nothing is void in the log: $(cat out)"
# With its log the pool is unchanged. That holds for a command that only reads it as well: such
# commands leave both files as they are.
expect 0 "$scute" check "$pool"
in_out '^result  *clean$'
n=$(loaded "$pool")
[ "$n" -ge 53 ] || fail "$n records are there"
cmp "$pool" killed.pool
cmp "$pool.log" killed.log

rm "$pool.log"
refused 3 "is missing"
cp "$pools/other.pool.log" "$pool.log"
refused 3 "is the log of another pool"
cp closed.log "$pool.log"
refused 3 "is the log of another pool"  # that of the pool that had the name before
head -c 100000 killed.log >"$pool.log"
refused 7 "was truncated"
: >"$pool.log"
refused 3 "is no log of a pool, or is damaged"
head -c 8192 /dev/zero | cat - <(tail -c +8193 killed.log) >"$pool.log"
refused 3 "is no log of a pool, or is damaged"

# The one file of an earlier moment, the other of a later one.
again
expect 0 "$scute" kv put "$pool" one 1
cp "$pool" later.pool
cp "$pool.log" later.log
cp killed.pool "$pool"
refused 3 "is newer than the pool ([^.]*)"
again
killed_again() { # leaves a kill in a later session
  local loader
  "$scute" kv load "$pool" - --batch 7 --quiet <feed >/dev/null 2>&1 9>&- &
  loader=$!
  cat records.tsv >&9
  wait_until has_read_all "$loader" 9
  kill -9 $loader
  wait $loader 2>/dev/null || true
}
killed_again
cp killed.log "$pool.log"
refused 3 "is older than the pool ([^.]*)"

# The right one helps whenever it comes. Both under another name are the pool.
again
mv "$pool.log" elsewhere
refused 3 "is missing"
mv elsewhere "$pool.log"
mv "$pool" "$pools/b.pool"
mv "$pool.log" "$pools/b.pool.log"
equal "$(loaded "$pools/b.pool")" "$n"
expect 0 "$scute" kv get "$pools/b.pool" key0000001
expect 0 "$scute" kv put "$pools/b.pool" one 1
expect 0 "$scute" check "$pools/b.pool"
in_out '^result  *clean$'

# One file of a pool that was closed: a reader needs no log; a writer gets a new log.
expect 0 "$scute" kv get "$pools/b.pool" one
cp "$pools/b.pool" "$pools/c.pool"
expect 0 "$scute" kv get "$pools/c.pool" one
equal "$(cat out)" 1
expect 0 "$scute" check "$pools/c.pool"
expect 0 "$scute" info "$pools/c.pool"
[ ! -e "$pools/c.pool.log" ] || fail "a reader made a log"
expect 0 "$scute" kv put "$pools/c.pool" two 2
[ -f "$pools/c.pool.log" ] || fail "no log was made"
expect 0 "$scute" kv get "$pools/c.pool" two
# A file of another program in the log's place is moved aside.
head -c 5000 /dev/urandom >noise
cp noise "$pools/c.pool.log"
expect 0 "$scute" kv put "$pools/c.pool" three 3
cmp noise "$pools/c.pool.log.foreign"
equal "$(loaded "$pools/c.pool")" "$((n + 3))"

# Engines, also of a pool whose writer was killed: recovery comes first.
again
expect 0 "$scute" engine "$pool"
in_out '^spec$'
expect 0 "$scute" engine "$pool" logfree
in_out '^logfree (was spec)$'
[ ! -e "$pool.log" ] || fail "the log stays"
equal "$(loaded "$pool")" "$n"
expect 0 "$scute" engine "$pool" spec
[ -f "$pool.log" ] || fail "no log was made"
equal "$(loaded "$pool")" "$n"
expect 0 "$scute" check "$pool"
in_out '^result  *clean$'

# Without a log and without a backup: what the log alone had is given up, if that is asked for. (The
# process was killed and the power did not fail, so all of it is in the pool.)
again
rm "$pool.log"
expect 1 "$scute" check "$pool" --without-log
in_err 'without-log requires --repair'
refused 3 "is missing"
in_err "\`scute check $pool --repair --without-log\`"
expect 3 "$scute" check "$pool" --repair --without-log
in_out '^given up with the log: '
in_out '^lost log  *opened without it 2.*, after session'
in_out '^may be missing  *commits since 2'
in_out '^log records lost  *1$'
in_out '^lost  *0$'
[ -f "$pool.log" ] || fail "no log was made"
expect 0 "$scute" check "$pool"
in_out '^result  *clean$'
equal "$(loaded "$pool")" "$n"
expect 0 "$scute" events "$pool"
in_out 'log.*lost'
# The mark stays.
expect 0 "$scute" info "$pool"
in_out '^lost log  *opened without it 2.*, after session'
in_out '^may be missing  *commits since 2'
expect 0 "$scute" check "$pool" --json
in_out '"since_ns": [1-9]'
expect 0 "$scute" info "$pool" --json
in_out '"times": 1'
# One that fits is used.
again
expect 0 "$scute" check "$pool" --repair --without-log
equal "$(loaded "$pool")" "$n"
