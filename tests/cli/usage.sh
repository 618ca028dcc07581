#!/usr/bin/env bash
# Help, version and wrong usage.
. "${BASH_SOURCE[0]%/*}/lib.bash"

expect 0 "$scute" --help
in_out '^Exit status:'
in_out 'Examples:'
for code in 0 1 2 3 4 5 6 7 130 143; do in_out "^ *$code  "; done

for command in create info check scrub dump stats events inject kv "kv put" "kv get" "kv del" "kv scan" "kv load" \
  "kv count" completion version; do
  # shellcheck disable=SC2086
  expect 0 "$scute" $command --help
  in_out 'Examples\{0,1\}:'
  in_out "^  scute "
done

expect 0 "$scute" version
in_out '^scute [0-9]*\.[0-9]*\.[0-9]*$'
expect 0 "$scute" version --json
valid_json
expect 0 "$scute" --version

expect 1 "$scute"
in_err 'Try `scute --help`'
expect 1 "$scute" nonsense
expect 1 "$scute" create
in_err '^scute create: '
in_err 'Try `scute create --help`'
expect 1 "$scute" kv
expect 1 "$scute" kv get "$pools/x.pool"
expect 1 "$scute" info "$pools/x.pool" --nonsense
expect 1 "$scute" kv load "$pools/x.pool" - --batch 0
expect 1 "$scute" completion ksh
