#!/usr/bin/env bash
# notices.sh SCUTE_FUZZ
# An instrument that cannot fail proves nothing: a lie, a bad store and an endless loop must each
# end the run with a saved input, and that input must fail again. Works in the current folder.
set -euo pipefail

fuzz=$1
failures=0
complain() { printf '%s\n' "$1"; failures=$((failures + 1)); }

# A sound pool of level mlpc with objects (image 16), not damaged at all.
printf '\020\000\000\000' >sound
"$fuzz" sound 2>log || { cat log; complain "the sound pool fails"; }

# expect BUG TEXT: the planted bug must be noticed with this message, and the input saved.
expect() {
  local bug=$1 text=$2 status=0 saved
  rm -f failure-*
  "$fuzz" --plant "$bug" --timeout 2 --save . sound >log 2>&1 || status=$?
  [ "$status" != 0 ] || complain "$bug was not noticed"
  grep -q -- "$text" log || { cat log; complain "$bug: the message lacks \"$text\""; }
  saved=$(ls failure-* 2>/dev/null || true)
  [ -n "$saved" ] || { complain "$bug: no input was saved"; return; }
  cmp -s sound "$saved" || complain "$bug: another input was saved"
  grep -q -- "$saved" log || complain "$bug: the message does not name the saved file"
  if "$fuzz" --plant "$bug" --timeout 2 --save . "$saved" >log 2>&1; then
    complain "$bug: the saved input does not fail again"
  fi
}
expect lie "was given out with other bytes than it had"
expect crash "an input failed"
expect hang "takes too long"

for wrong in "--runs" "--runs x" "--nonsense" "--plant nothing" "absent-file" ""; do
  status=0
  # shellcheck disable=SC2086
  "$fuzz" $wrong >log 2>&1 || status=$?
  [ "$status" = 2 ] || complain "wrong usage '$wrong' ends with status $status"
done

[ "$failures" = 0 ] || exit 1
echo "every planted bug was noticed"
