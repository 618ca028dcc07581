#!/usr/bin/env bash
# The benchmark of the model runs, briefly; its speed is not checked here.
set -euo pipefail

for machine in table1 here; do
  "$SCUTE_BINARY_DIR/sim/scute-sim-speed" "$SCUTE_SOURCE_DIR/sim/machines/$machine.machine" 200000 | tee lines
  [ "$(grep -c 'million references' lines)" = 4 ]
  if grep -q ' 0\.0 million' lines; then exit 1; fi
done
if "$SCUTE_BINARY_DIR/sim/scute-sim-speed" nowhere 2>errors; then exit 1; fi
grep -q 'cannot be read' errors
