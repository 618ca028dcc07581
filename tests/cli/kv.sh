#!/usr/bin/env bash
# scute kv put, get, del, scan, count.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
expect 0 "$scute" create "$pool" --size 8M

# An empty pool is an empty store.
expect 4 "$scute" kv get "$pool" k
in_err 'there is no key "k"'
expect 0 "$scute" kv count "$pool"
equal "$(cat out)" 0
expect 0 "$scute" kv scan "$pool"
[ ! -s out ] || fail "scan of an empty store printed something"
expect 4 "$scute" kv del "$pool" k

expect 0 "$scute" kv put "$pool" milk "2 litres"
silent
expect 0 "$scute" kv get "$pool" milk
equal "$(cat out)" "2 litres"
expect 0 "$scute" kv get "$pool" milk --raw
equal "$(wc -c <out)" 8
expect 0 "$scute" kv put "$pool" milk ""
expect 0 "$scute" kv get "$pool" milk --raw
equal "$(wc -c <out)" 0
expect 0 "$scute" kv put "$pool" -- -1 "minus one"
expect 0 "$scute" kv get "$pool" --json -- -1
valid_json lines
equal "$(cat out)" '{"key":"-1","value":"minus one"}'
expect 0 "$scute" kv del "$pool" -- -1
expect 4 "$scute" kv get "$pool" -- -1

# Any bytes, of any length, from standard input.
head -c 300000 /dev/urandom >blob
expect 0 "$scute" kv put "$pool" blob <blob
expect 0 "$scute" kv get "$pool" blob --raw
cmp out blob || fail "the value differs"
expect 0 "$scute" kv get "$pool" blob --json
in_out '"value_base64":"'
valid_json lines
printf 'tab\t newline\n null\0 return\r backslash\\ end' >odd
expect 0 "$scute" kv put "$pool" odd <odd
expect 0 "$scute" kv get "$pool" odd --raw
cmp out odd || fail "the value differs"
expect 0 "$scute" kv scan "$pool" --prefix odd
equal "$(cat out)" 'odd	tab\t newline\n null\0 return\r backslash\\ end'
expect 0 "$scute" kv del "$pool" blob
expect 0 "$scute" kv del "$pool" odd
expect 0 "$scute" kv del "$pool" milk
expect 0 "$scute" kv count "$pool"
equal "$(cat out)" 0

# Ranges.
for key in a ab abc b ba c; do expect 0 "$scute" kv put "$pool" "$key" "v$key"; done
keys() {
  expect 0 "$scute" kv scan "$pool" --keys "$@"
  tr '\n' ' ' <out
}
equal "$(keys)" "a ab abc b ba c "
equal "$(keys --reverse)" "c ba b abc ab a "
equal "$(keys --prefix ab)" "ab abc "
equal "$(keys --prefix b --reverse)" "ba b "
equal "$(keys --from ab)" "ab abc b ba c "
equal "$(keys --to b)" "a ab abc "
equal "$(keys --from ab --to ba --limit 2)" "ab abc "
equal "$(keys --from ab --to ba --limit 2 --reverse)" "b abc "
equal "$(keys --limit 0)" ""
equal "$(keys --from z)" ""
equal "$(keys --from c --to a)" ""
equal "$(keys --prefix a --from b)" ""
equal "$(keys --prefix b --to a)" ""
equal "$(keys --prefix zz --reverse)" ""
expect 0 "$scute" kv count "$pool" --prefix a
equal "$(cat out)" 3
expect 0 "$scute" kv count "$pool" --json
valid_json
equal "$(json records)" 6
expect 0 "$scute" kv scan "$pool" --json --limit 2
valid_json lines
equal "$(cat out)" '{"key":"a","value":"va"}
{"key":"ab","value":"vab"}'
