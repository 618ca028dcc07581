#!/usr/bin/env bash
# docs/internals/shield.md, "A program that flushes by itself": the program compiles, each command
# does what the comment next to it says, and the text is right about the result.
source "$(dirname "${BASH_SOURCE[0]}")/shown.bash"

follow guests.c guests eve
[ "$(wc -c <"$pools/book")" -gt 6000000 ] || fail "the file is short"

# The text's statement about a missing persist.
sed '/the name is durable/d' "$pools/guests.c" >"$pools/forgetful.c"
(cd "$pools" && scute-cc -O2 -mclwb -o forgetful forgetful.c && rm book && echo ada | ./guests book && scute shield add book) >out 2>err ||
  fail "the example without a persist does not start"
work=$PWD
cd "$pools"
status=0
echo bob | scute shield audit ./forgetful book >"$work/out" 2>"$work/err" || status=$?
cd "$work"
equal "$status" 2
in_out '^result: stores were never flushed$'
