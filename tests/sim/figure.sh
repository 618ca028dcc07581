#!/usr/bin/env bash
# Figures on two cores leave out applications that run on one thread only, and say so; tables have
# the paper's numbers.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
python3 "$SCUTE_SOURCE_DIR/sim/tool" --build "$SCUTE_BINARY_DIR" --figure 14 --threads 2 --scale tiny --jobs 2 \
  --json lines >table
cat table
grep -q '^On two cores, without genome, labyrinth and yada' table
[ "$(grep -c '"threads": 2' lines)" = 30 ]
grep -q '^| ssca2 |' table
if grep -q '^| genome |' table; then echo "genome on two cores"; exit 1; fi
grep -q '^| \*paper\* | 1.23 |' table
