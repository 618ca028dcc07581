# SPDX-License-Identifier: BSD-3-Clause
# For the tests of scute-campaign, which source it: runs of the program, and what they have to
# print.
set -euo pipefail
campaign=${SCUTE_TEST_CAMPAIGN_EXE:?names scute-campaign}
# shellcheck source=tests/support/budget.bash
source "$SCUTE_SOURCE_DIR/tests/support/budget.bash"

fail() {
  echo "FAILED at line ${BASH_LINENO[-2]}: $*" >&2
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
