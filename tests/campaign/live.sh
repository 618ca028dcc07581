#!/usr/bin/env bash
# Faults rain on a pool that threads work on: nothing is lost that need not be, nothing is wrong.
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
  "$campaign" "$@" --quiet >out 2>&1 || status=$?
  cat out
  [ "$status" = "$wanted" ] || fail "status $status instead of $wanted: $*"
}
has() { grep -q -e "$1" out || fail "the output lacks '$1'"; }

expect 0 live --size 8388608 --seconds 2 --seed $RANDOM
has '^result: all promises were kept'
expect 0 live --size 8388608 --seconds 2 --wild --levels mlpc --seed $RANDOM
expect 1 live --size 8388608 --seconds 0.2 --levels mlpc --drill silent
has 'nothing said so'
expect 2 live --levels most
