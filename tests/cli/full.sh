#!/usr/bin/env bash
# A pool that is full keeps what was committed and says so.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 5000 >records.tsv
expect 0 "$scute" create "$pool" --size 1M
expect 6 "$scute" kv load "$pool" records.tsv --batch 20 --quiet
one_error_line
in_err 'records of .*records.tsv are loaded'
said=$(sed 's/.*: \([0-9]*\) records of .*/\1/' err)
expect 0 "$scute" kv count "$pool"
equal "$(cat out)" "$said"
[ "$said" -gt 0 ] || fail "nothing was loaded at all"
expect 0 "$scute" kv scan "$pool"
head -n "$said" records.tsv | cmp - out || fail "the records differ"
expect 0 "$scute" check "$pool"

# A transaction that is too large alone: the message knows the way out.
expect 6 "$scute" kv load "$pools/batch.pool" records.tsv --create --size 1M --batch 1000000 --quiet
one_error_line
in_err '0 records of .* are loaded; a smaller --batch takes less room at a time'

# Room that is freed is used again.
expect 0 "$scute" kv del "$pool" key0000001
expect 0 "$scute" kv put "$pool" small x
head -c 3000000 /dev/zero >big
expect "1 6" "$scute" kv put "$pool" big <big
one_error_line
expect 0 "$scute" check "$pool"
