#!/usr/bin/env bash
# The demonstration of the shield (./dev demo --shield) prints how its programs ended: killed, or at
# their own end before that.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
demo=$SCUTE_SOURCE_DIR/tools/demo/shield.sh

# shown OPERATIONS: as many programs are reported as killed as rounds say so, and the others have
# done all their operations.
shown() {
  expect 0 bash "$demo" "$scute" "$1"
  silent
  killed=$(grep -c '^round [1-5]: killed after ' out || true)
  ended=$(grep -c "^round [1-5]: ended by itself after $1 operations, before it was killed; " out || true)
  equal $((killed + ended)) 5
  in_out "^The same [0-9]* keys\\. $killed of 5 programs were killed; nothing lost\\.\$"
}
shown 40
equal "$killed" 0
shown 80000
