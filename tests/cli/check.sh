#!/usr/bin/env bash
# scute check: finds damage, leaves the file alone without --repair, repairs, and says what is lost.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 2000 >records.tsv
"$scute" kv load "$pool" records.tsv --create --size 16M --quiet >/dev/null

expect 0 "$scute" check "$pool"
in_out '^result  *clean'
in_out '^damaged  *0'
expect 0 "$scute" check "$pool" --json
valid_json
equal "$(json result)" clean
expect 0 "$scute" check "$pool" --repair

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

# An object, a superblock copy and a parity page, one after the other.
damage_and_repair() {
  cp "$pool" damaged.pool
  expect 2 "$scute" check "$pool" --quiet
  silent
  in_out '^result  *damaged, repairable with --repair'
  cmp "$pool" damaged.pool || fail "check without --repair changed the file"
  expect 2 "$scute" check "$pool" --repair --json
  valid_json
  equal "$(json result)" repaired
  equal "$(json lost)" 0
  expect 0 "$scute" check "$pool" --repair --json
  equal "$(json damaged)" 0
  expect 0 "$scute" check "$pool"
  "$scute" kv scan "$pool" | cmp - records.tsv || fail "the records differ"
}
noise "$(($(object_offset 700)))" 16
damage_and_repair
read -r offset length < <(region_offsets superblock | tail -n 1)
noise "$((offset))" 4096
damage_and_repair
read -r offset length < <(region_offsets parity | head -n 1)
noise "$((offset + 8192))" 4096
damage_and_repair

# A read repairs in private memory: right bytes, untouched file.
noise "$(($(object_offset 900)))" 16
cp "$pool" damaged.pool
"$scute" kv scan "$pool" | cmp - records.tsv || fail "a read gave damaged bytes"
cmp "$pool" damaged.pool || fail "a read changed the file"
expect 2 "$scute" check "$pool" --repair

# An object and all parity: that object is lost, and named; the rest is there.
at=$(($(object_offset 800)))
noise "$at" 16
while read -r offset length; do
  head -c "$length" /dev/urandom |
    dd of="$pool" bs=4096 seek="$((offset / 4096))" conv=notrunc status=none iflag=fullblock
done < <(region_offsets parity)
expect 3 "$scute" check "$pool"
in_out '^result  *data is lost'
expect 3 "$scute" check "$pool" --repair --json
valid_json
[ "$(json lost)" -ge 1 ] || fail "nothing lost?"
lost=$(json lost)
# It has gone on until nothing more can be repaired.
expect 3 "$scute" check "$pool" --repair --json
equal "$(json repaired)" 0
equal "$(json lost)" "$lost"
