#!/usr/bin/env bash
# Pages of full pools overwritten, as many of each column as there are parities: everything survives.
set -euo pipefail
campaign=${SCUTE_TEST_CAMPAIGN_EXE:?names scute-campaign}

fail() {
  echo "FAILED at line ${BASH_LINENO[0]}: $*" >&2
  cat out >&2
  exit 1
}
expect() { # STATUS ARGUMENT...
  local wanted=$1 status=0
  shift
  "$campaign" overwrite "$@" --quiet >out 2>&1 || status=$?
  cat out
  [ "$status" = "$wanted" ] || fail "status $status instead of $wanted: $*"
}
has() { grep -q -e "$1" out || fail "the output lacks '$1'"; }

seed=$RANDOM
echo "seed $seed"
expect 0 --parity 1,2,3 --rows 20 --trials 6 --seed $seed
has '^result: everything survived'
[ "$(grep -cE '^ [1-3]  ' out)" = 12 ] || fail "not all kinds"
# Four pages of every column, others in each, have more explanations than may be tried.
expect 0 --parity 4 --rows 20 --shapes pages,table,rows --trials 6 --seed $seed
[ "$(grep -cE '^ 4  ' out)" = 3 ] || fail "not all kinds"
expect 0 --parity 2,3 --rows 100 --shapes pages,rows --trials 3 --seed $seed

expect 1 --parity 2 --rows 20 --shapes pages --trials 2 --seed 1 --drill greedy
has '^  trial [0-9]*: .*SCUTE_E_CORRUPT'
has '^  repeat: .*--campaign overwrite --seed 1 '
expect 1 --parity 2 --rows 20 --shapes pages --trials 1 --seed 1 --drill silent
has 'nothing said so'
expect 2 --parity 5
expect 2 --shapes circles
