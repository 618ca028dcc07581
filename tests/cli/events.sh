#!/usr/bin/env bash
# scute events: what was repaired can be read later, filtered, and as JSON; info shows the last one.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 500 >records.tsv
"$scute" kv load "$pool" records.tsv --create --size 16M --quiet >/dev/null

expect 0 "$scute" events "$pool"
equal "$(cat out)" 'no events'
expect 0 "$scute" events "$pool" --json
valid_json
expect 0 "$scute" info "$pool"
in_out '^events  *none$'
in_out '^policy  *default$'

noise() { # OFFSET LENGTH
  head -c "$2" /dev/urandom |
    dd of="$pool" bs=1 seek="$1" conv=notrunc status=none iflag=fullblock
}
object=$("$scute" dump "$pool" --type scute.string | sed -n 's/^  \(0x[0-9a-f]*\).*/\1/p' | sed -n 1p)

# Found by a read-only check: recorded nowhere, for the file stays as it is.
noise "$((object))" 16
expect 2 "$scute" check "$pool" --quiet
expect 0 "$scute" events "$pool"
equal "$(cat out)" 'no events'

# Repaired: an object by check, a superblock copy by opening.
noise 4096 100
before=$(date '+%Y-%m-%d %H:%M:%S')
expect 2 "$scute" check "$pool" --repair --quiet
after=$(date '+%Y-%m-%d %H:%M:%S')
expect 0 "$scute" events "$pool"
in_out '^time  *kind  *outcome  *found by  *place  *object  *count$'
in_out '  superblock  *repaired  *open  *0x000000001000 +512  *-  *1$'
in_out "  object  *repaired  *check  *0x[0-9a-f]* +[0-9]*  *$object  *1\$"
equal "$(wc -l <out)" 3
time=$(sed -n '2s/^\([-0-9]* [:0-9]*\) .*/\1/p' out)
[[ ! "$time" < "$before" && ! "$time" > "$after" ]] || fail "$time is not from $before to $after"

expect 0 "$scute" events "$pool" --kind object
equal "$(wc -l <out)" 2
expect 0 "$scute" events "$pool" --kind parity
equal "$(cat out)" 'no events'
expect 0 "$scute" events "$pool" --since 1h
equal "$(wc -l <out)" 3
# Until they are older.
none_since() {
  expect 0 "$scute" events "$pool" --since "$1"
  [ "$(cat out)" = 'no events' ]
}
wait_until none_since 1s

expect 0 "$scute" events "$pool" --json --kind superblock
valid_json
equal "$(json found_by)" open
equal "$(json outcome)" repaired
equal "$(json offset)" 4096
equal "$(json sequence)" 1
equal "$(json object)" null

expect 0 "$scute" info "$pool"
in_out '^events  *2 kept; the last at .*: object at 0x[0-9a-f]* repaired'
expect 0 "$scute" info "$pool" --json
valid_json
equal "$(json events)" 2
expect 0 "$scute" stats "$pool"
for counter in unverified_bytes unverified_max scrubs pages_repaired; do in_out "^  $counter "; done

# A policy for one command.
noise "$((object))" 16
expect 0 env SCUTE_POLICY=conservative "$scute" info "$pool"
in_out '^policy  *conservative$'
expect 0 "$scute" info "$pool" --policy scrub:1000
in_out '^policy  *scrub:1000$'
expect 1 "$scute" info "$pool" --policy scrub:0
one_error_line
expect 1 env SCUTE_POLICY=careful "$scute" info "$pool"
one_error_line

for wrong in --since\ 5 --since\ h --since\ 1w --kind\ thing; do
  # shellcheck disable=SC2086
  expect 1 "$scute" events "$pool" $wrong
done
expect 1 "$scute" events "$pools/none.pool"
one_error_line
