#!/usr/bin/env bash
# scute dump, scute stats.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 500 >records.tsv
make_pool() {
  "$scute" kv load "$1" records.tsv --create --size 8M --quiet --name source >/dev/null
  head -c 300000 /dev/zero | "$scute" kv put "$1" zeros
}
make_pool "$pool"
before=$(cksum <"$pool")

expect 0 "$scute" dump "$pool"
in_out '^pool$'
in_out '^  uuid '
in_out '^chunks$'
in_out ' run '
in_out ' span '
in_out '^objects$'
expect 0 "$scute" dump "$pool" --json
valid_json
expect 0 "$scute" dump "$pool" --chunks
if grep -q '^objects$' out; then fail "--chunks shows objects"; fi
expect 0 "$scute" dump "$pool" --regions
in_out ' superblock '
in_out ' parity '
expect 0 "$scute" dump "$pool" --regions --json
valid_json
expect 0 "$scute" dump "$pool" --objects --json
valid_json

# Types by number and by name; bytes.
expect 0 "$scute" dump "$pool" --type scute.kv.root --hex
equal "$(grep -c '^  0x' out)" 1
in_out 'scutekv1'
type=$(sed -n 's/^  0x[0-9a-f]*  \(0x[0-9a-f]*\) .*/\1/p' out)
cp out by_name
expect 0 "$scute" dump "$pool" --type "$type" --hex
cmp out by_name || fail "the type's number shows something else than its name"
expect 0 "$scute" dump "$pool" --type "$((type))" --hex --json
valid_json
expect 0 "$scute" dump "$pool" --type no.such.type
equal "$(grep -c '^  0x' out || true)" 0
expect 0 "$scute" dump "$pool" --type scute.string --hex
in_out '^    \*$'

# Two pools made alike look alike.
make_pool "$pools/b.pool"
"$scute" dump "$pool" --stable >a.dump
"$scute" dump "$pools/b.pool" --stable >b.dump
cmp a.dump b.dump || fail "--stable dumps of equal pools differ"

expect 0 "$scute" stats "$pool"
in_out '^objects by type'
in_out '^objects by size'
in_out '^slot classes'
in_out '^counters of this open'
in_out '^  logged '
in_out '^  drains '
expect 0 "$scute" stats "$pool" --json
valid_json
[ "$(json objects)" -ge 400 ] || fail "too few objects"
[ "$(json spans)" -ge 1 ] || fail "no large object"
equal "$(cksum <"$pool")" "$before"
