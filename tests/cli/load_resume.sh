#!/usr/bin/env bash
# scute kv load continues where the last committed batch ended: after the end, SIGINT, SIGTERM
# and SIGKILL, from files and from standard input.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 20000 >records.tsv
new_pool() {
  rm -f "$pool"
  expect 0 "$scute" create "$pool" --size 96M
}
same_as_source() {
  "$scute" kv scan "$pool" | cmp - records.tsv || fail "the records differ"
  expect 0 "$scute" check "$pool"
}

# SIGKILL again and again.
new_pool
kills=0
for attempt in $(seq 200); do
  "$scute" kv load "$pool" records.tsv --batch 10 --quiet >out 2>err &
  loader=$!
  # Longer and longer, so that a slow build ends as well.
  ms=$((RANDOM % (90 + 5 * attempt)))
  pause "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
  kill -9 "$loader" 2>/dev/null || true
  status=0
  wait "$loader" 2>/dev/null || status=$?
  [ "$status" != 0 ] || break
  equal "$status" 137
  kills=$((kills + 1))
done
equal "$status" 0
echo "SIGKILL: $kills kills"
same_as_source

# A load of records that are loaded does nothing; a load of a longer file adds the new records;
# --restart replaces everything.
expect 0 "$scute" kv load "$pool" records.tsv --quiet --json
valid_json
equal "$(json resumed_at)" 20000
equal "$(json loaded)" 0
cp records.tsv grown.tsv
expect 0 "$scute" kv load "$pool" grown.tsv --name grown --quiet --json
equal "$(json replaced)" 20000
printf 'key9\tlast\n' >>grown.tsv
expect 0 "$scute" kv load "$pool" grown.tsv --name grown --quiet --json
equal "$(json resumed_at)" 20000
equal "$(json loaded)" 1
expect 0 "$scute" kv load "$pool" records.tsv --restart --quiet --json
equal "$(json loaded)" 20000
equal "$(json added)" 0
expect 0 "$scute" kv del "$pool" key9
same_as_source

# Another source under the same name is refused, and so is one whose last line has grown.
{ echo 'key0	first'; cat records.tsv; } >changed.tsv
expect 1 "$scute" kv load "$pool" changed.tsv --name grown --quiet
one_error_line
in_err '--restart'
head -n 10 records.tsv >short.tsv
expect 1 "$scute" kv load "$pool" short.tsv --name grown --quiet
printf 'a\tx' >tail.tsv
expect 0 "$scute" kv load "$pool" tail.tsv --quiet
expect 0 "$scute" kv load "$pool" tail.tsv --quiet --json
equal "$(json loaded)" 0
printf 'y\n' >>tail.tsv
expect 1 "$scute" kv load "$pool" tail.tsv --quiet
expect 0 "$scute" kv del "$pool" a

# Signals while waiting for input: everything that was read gets committed.
mkfifo feed
for signal in INT:130 TERM:143; do
  new_pool
  "$scute" kv load "$pool" - --name feed --batch 100 --quiet <feed >out 2>err &
  loader=$!
  exec 9>feed
  head -n 250 records.tsv >&9
  wait_until has_read_all "$loader" 9
  kill -s "${signal%:*}" "$loader"
  status=0
  wait "$loader" || status=$?
  exec 9>&-
  equal "$status" "${signal#*:}"
  in_err 'interrupted after 250 records; to continue there: scute kv load .* - --name feed'
  expect 0 "$scute" kv count "$pool"
  equal "$(cat out)" 250
  expect 0 "$scute" info "$pool" --json
  equal "$(json clean)" true
  # From a file under the same name, then again from standard input.
  expect 0 "$scute" kv load "$pool" - --name feed --quiet --json < <(head -n 1000 records.tsv)
  equal "$(json resumed_at)" 250
  equal "$(json loaded)" 750
  expect 0 "$scute" kv load "$pool" records.tsv --name feed --quiet --json
  equal "$(json resumed_at)" 1000
  equal "$(json loaded)" 19000
  same_as_source
done

# SIGKILL while reading standard input: whole batches are there.
new_pool
"$scute" kv load "$pool" - --name feed --batch 100 --quiet <feed >out 2>err &
loader=$!
exec 9>feed
head -n 250 records.tsv >&9
wait_until has_read_all "$loader" 9
kill -9 "$loader"
wait "$loader" 2>/dev/null || true
exec 9>&-
expect 0 "$scute" kv count "$pool"
equal "$(cat out)" 200
expect 0 "$scute" info "$pool"
in_out '^last session  *ended without closing'
expect 0 "$scute" kv load "$pool" - --name feed --quiet --json <records.tsv
equal "$(json resumed_at)" 200
same_as_source

# SIGINT in the middle of a file.
new_pool
"$scute" kv load "$pool" records.tsv --batch 10 --quiet >out 2>err &
loader=$!
pause 0.1
kill -s INT "$loader" 2>/dev/null || true  # it may be done already
status=0
wait "$loader" || status=$?
case $status in
  0 | 130) ;; # it may have been done already
  *) fail "status $status" ;;
esac
expect 0 "$scute" kv load "$pool" records.tsv --quiet
same_as_source

# Without --quiet there is a plain progress line now and then, never a control character.
expect 0 "$scute" kv load "$pool" records.tsv --restart
if grep -q $'[\r\033]' err; then fail "control characters in a file"; fi
