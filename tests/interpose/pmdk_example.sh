#!/usr/bin/env bash
# docs/internals/shield.md, "A program of PMDK": the program compiles, each command does what the
# comment next to it says, and the text is right about the result.
source "$(dirname "${BASH_SOURCE[0]}")/shown.bash"

follow shop.c items plum
[ "$(grep -c '^[0-9]* plum$' "$pools/printed")" -gt 10 ] || fail "it was killed before it had done anything"
