# SPDX-License-Identifier: BSD-3-Clause
# For the tests that run programs in the emulator: where the front end is. Ends the test, as passed,
# in builds that cannot have one. shellcheck shell=bash disable=SC2034

build=$SCUTE_BINARY_DIR/sim
guest=$build/scute-sim-guest plugin=$build/scute-sim-plugin.so
if [ ! -f "$plugin" ]; then
  # Builds with sanitizers have none.
  grep -q -- '-fsanitize' "$SCUTE_BINARY_DIR/CMakeCache.txt" || { echo "there is no $plugin"; exit 1; }
  echo "no front end in this build"
  exit 0
fi
machines=$SCUTE_SOURCE_DIR/sim/machines
