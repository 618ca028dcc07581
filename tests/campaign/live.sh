#!/usr/bin/env bash
# Faults rain on a pool that threads work on: nothing is lost that need not be, nothing is wrong.
. "${BASH_SOURCE[0]%/*}/lib.bash"

expect 0 live --size 8388608 --seconds "$(budget 1 2)" --seed $RANDOM
has '^result: all promises were kept'
expect 0 live --engine spec --size 8388608 --seconds "$(budget 1 2)" --seed $RANDOM
has '^result: all promises were kept'
expect 0 live --engine spec --size 8388608 --seconds 1 --wild --levels mlpc --seed $RANDOM
expect 0 live --size 8388608 --seconds "$(budget 1 2)" --wild --levels mlpc --seed $RANDOM
expect 1 live --size 8388608 --seconds 0.2 --levels mlpc --drill silent
has 'without an error'
expect 2 live --levels most
