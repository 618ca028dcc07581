#!/usr/bin/env bash
# Loops of a few instructions, in the emulator on the model of this machine. Each takes the time
# that the machine itself takes (docs/internals/simulator.md), within the loop's bound. That time
# was measured with scute-sim-kernels NAME --clock.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
bad=0
while read -r name least most; do
  step=
  case $name in flush* | forward*) step=-singlestep ;; esac
  rm -f result
  # shellcheck disable=SC2086
  rounds=$(qemu-x86_64 -cpu max $step -plugin "$plugin,machine=$machines/here.machine,scheme=none,work=$name,out=result" \
    "$SCUTE_BINARY_DIR/sim/scute-sim-kernels" "$name")
  ns=$(sed -E 's/.*"ns": ([0-9.e+]+).*/\1/' result)
  awk -v name="$name" -v ns="$ns" -v rounds="$rounds" -v least="$least" -v most="$most" 'BEGIN {
    each = ns / rounds
    printf "%s: %.2f ns, %s to %s\n", name, each, least, most
    exit each < least || each > most }' || bad=1
done <<'KERNELS'
adds 5 6
computes 110 135
branches-random 3 4.3
branches-pattern 0.4 1
chase-8k 1 1.3
chase-256k 3.5 4.2
chase-96m 135 165
misses 13 20
read-1024 205 285
read-4096 380 490
write-4096 400 520
forward-cold 150 240
stream-fence 80 100
stream-fence-load 260 350
flush-fence 140 170
flush-fence-lock 200 280
flush-then-load 240 300
KERNELS
exit $bad
