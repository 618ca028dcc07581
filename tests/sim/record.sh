#!/usr/bin/env bash
# A program that the front end writes down, played again from the record: the same in every number.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
for name in stream-fence-load branches-pattern; do
  rm -f result
  qemu-x86_64 -cpu max -plugin "$plugin,machine=$machines/here.machine,scheme=none,work=$name,out=result,record=written" \
    "$SCUTE_BINARY_DIR/sim/scute-sim-kernels" "$name"
  [ "$(wc -l <written)" -gt 5000 ]
  "$SCUTE_BINARY_DIR/sim/scute-sim-replay" "$machines/here.machine" none written >again
  same() { sed -E 's/"(work|machine)": "[^"]*", //g' "$1"; }
  [ "$(same result)" = "$(same again)" ] || { printf 'not the same:\n%s\n%s\n' "$(cat result)" "$(cat again)"; exit 1; }
done
# A record that is broken off within a line is reported.
head -c "$(($(wc -c <written) - 3))" written >broken
echo "r 10" >>broken
if "$SCUTE_BINARY_DIR/sim/scute-sim-replay" "$machines/here.machine" none broken 2>errors; then echo "a broken record"; exit 1; fi
grep -q 'trace, line' errors
