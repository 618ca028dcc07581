#!/usr/bin/env bash
# ./dev COMMAND --help: the command's own part of the help, with nothing installed, configured,
# built or removed.
set -euo pipefail
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
mkdir -p tree tools
mkdir -p tree/sim
cp "$SCUTE_SOURCE_DIR/dev" tree/
cp -r "$SCUTE_SOURCE_DIR/sim/tool" tree/sim/
for tool in cmake ninja ctest apt-get dpkg-query sudo clang-format-19; do
  printf '#!/bin/sh\necho "$0" >>"%s/called"\nexit 1\n' "$PWD" >"tools/$tool"
  chmod +x "tools/$tool"
done
PATH=$PWD/tools:$PATH
commands=$(tree/dev help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\)\( .*\|$\)/\1/p' | sort -u)
[ "$(wc -w <<<"$commands")" -ge 11 ] || fail "the help names these commands only: $commands"
for command in $commands; do
  for flag in --help -h "--some-option --help"; do
    # shellcheck disable=SC2086
    tree/dev "$command" $flag >out 2>err </dev/null || fail "$command $flag: status $?: $(cat err)"
    [ ! -s err ] || fail "$command $flag: $(cat err)"
    [ "$command" = help ] || grep -q "^Usage: ./dev $command" out || fail "$command $flag does not say how it is used: $(cat out)"
    grep -q "^  $command " out || fail "$command $flag does not say what it does: $(cat out)"
    [ "$command" = help ] || [ "$(sed '/^Presets/,/^$/d' out | grep -c '^  [a-z]')" = 1 ] ||
      fail "$command $flag has parts of others: $(cat out)"
    sed -n '/^Examples$/,/^$/p' out | grep -qE "^  \./dev $command( |$)" || fail "$command $flag has no example: $(cat out)"
    # A part refers to nothing outside of the same help.
    ! grep 'see below' out || fail "$command $flag refers to what it does not show"
  done
done
[ ! -e called ] || fail "called: $(sort -u called)"
[ "$(LC_ALL=C ls -A tree)" = "dev
sim" ] || fail "made: $(ls -A tree)"
grep -q 'not built yet' <(tree/dev torture --help) || fail "the program is not there, and that is not said"
# A program that was built names its arguments.
mkdir -p tree/build/release/tools/torture
printf '#!/bin/sh\necho "the arguments: $*"\n' >tree/build/release/tools/torture/scute-torture
chmod +x tree/build/release/tools/torture/scute-torture
grep -q '^the arguments: --help$' <(tree/dev torture --help) || fail "the arguments of the program are missing"
[ ! -e called ] || fail "called: $(sort -u called)"
tree/dev clean --help >out
[ -e tree/build/release ] || fail "clean --help removed the build"
