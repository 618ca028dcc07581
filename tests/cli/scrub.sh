#!/usr/bin/env bash
# scute scrub: finds and repairs damage, reports losses, and continues where it was stopped.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 4000 >records.tsv
"$scute" kv load "$pool" records.tsv --create --size 32M --quiet >/dev/null

expect 0 "$scute" scrub "$pool"
in_out '^result  *clean'
in_out '^zone 0: .* read, .* objects, no damage'
expect 0 "$scute" scrub "$pool" --threads 2 --json
valid_json
equal "$(json result)" clean
equal "$(json complete)" true
expect 0 "$scute" info "$pool" --json
valid_json

noise() { # OFFSET LENGTH
  head -c "$2" /dev/urandom |
    dd of="$pool" bs=1 seek="$1" conv=notrunc status=none iflag=fullblock
}
object_offset() { # N: file offset of the Nth text in an object of its own
  "$scute" dump "$pool" --type scute.string | grep '^  0x' | sed -n "$1s/^  \(0x[0-9a-f]*\).*/\1/p"
}
region_offsets() { # REGION: "OFFSET LENGTH" lines
  "$scute" dump "$pool" --regions | awk -v r="$1" '$3 == r { print $1, $2 }'
}

# An object and a parity page.
first=$(($(object_offset 700)))
read -r parity _ < <(region_offsets parity | head -n 1)
noise "$first" 16
noise "$((parity + 8192))" 4096
expect 2 "$scute" scrub "$pool" --quiet
silent
in_out '^repaired: object at .*, object 0x'
in_out '^repaired: parity at'
in_out '^result  *repaired'
expect 0 "$scute" check "$pool"
"$scute" kv scan "$pool" | cmp - records.tsv || fail "the records differ"

# Slowly, and stopped: the next scrub continues there, and --restart begins at the start. One that
# is stopped before its first step has nothing to continue, so later attempts let it run longer.
for attempt in $(seq 20); do
  "$scute" scrub "$pool" --rate 4M --threads 1 --quiet >out 2>err &
  scrubber=$!
  pause "0.$((attempt * 4 + 10))"
  kill -INT "$scrubber"
  status=0
  wait "$scrubber" || status=$?
  [ "$status" = 130 ] || continue
  in_out '^result  *stopped'
  in_out 'continues from here'
  expect 0 "$scute" scrub "$pool" --json
  valid_json
  equal "$(json result)" clean
  [ "$(json resumed_at)" = 0 ] || break
done
[ "$status" = 130 ] && [ "$(json resumed_at)" -gt 0 ] || fail "no scrub continued where another one was stopped"
expect 0 "$scute" scrub "$pool" --json
equal "$(json resumed_at)" 0

# Without a terminal plain lines report the progress, one every 5 seconds.
"$scute" scrub "$pool" --rate "$(($(json bytes) / 7))" --restart >out 2>err
in_err '^scrub  *[0-9]*%  .*/s  ETA'

# An object and all parity: that object is lost, and named.
noise "$first" 16
while read -r offset length; do
  head -c "$length" /dev/urandom |
    dd of="$pool" bs=4096 seek="$((offset / 4096))" conv=notrunc status=none iflag=fullblock
done < <(region_offsets parity)
expect 3 "$scute" scrub "$pool"
in_out '^lost: object'
in_out '^result  *data is lost'
expect 1 "$scute" scrub "$pool" --rate fast
