#!/usr/bin/env bash
# scute/shield_view.h: commits of a program that knows the shield, alone and in a window (DUR-1).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
shielded "$file" 65536
for run in "" "$scute shield run --"; do
  # shellcheck disable=SC2086
  expect 0 $run "$programs/scute-own-windows" "$file"
  in_out '^alone: 10$'
  in_out '^in a window: 1$'
  in_out '^outside: -[0-9]* -[0-9]*$'
  [ "$(dd if="$file" bs=1 skip=36864 count=1 2>/dev/null)" = J ] || fail "the last commit is not in the file"
  [ "$(dd if="$file" bs=1 skip=40000 count=1 2>/dev/null)" = x ] || fail "what was not committed is lost"
done
rm "$file.scute"
expect 1 "$programs/scute-own-windows" "$file"
in_err 'not shielded'
