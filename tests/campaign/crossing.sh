#!/usr/bin/env bash
# Damage and an unclean end together, and reads at once: everything comes back.
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

expect 0 crossing --size 4194304 --trials 12 --seed $RANDOM
has '^result: all promises were kept'
expect 0 crossing --size 4194304 --trials 12 --parity 2 --seed $RANDOM
expect 1 crossing --size 4194304 --trials 1 --drill silent
has 'nothing said so'
has '^  repeat: .*--trial 0$'
expect 2 crossing --parity 9
