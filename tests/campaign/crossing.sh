#!/usr/bin/env bash
# Damage and an unclean end together, and reads at once: everything comes back.
. "${BASH_SOURCE[0]%/*}/lib.bash"

expect 0 crossing --size 4194304 --trials "$(budget 4 12)" --seed $RANDOM
has '^result: all promises were kept'
has "^chunks of [0-9]* KiB$"
expect 0 crossing --size 4194304 --trials "$(budget 4 12)" --parity 2 --seed $RANDOM
# With engine spec objects that were not checkpointed may be refused, and are never wrong.
expect 0 crossing --engine spec --size 4194304 --trials 16 --seed $RANDOM
has '^result: all promises were kept'
has '^exposed: [1-9]'
expect 0 crossing --engine spec --size 4194304 --trials "$(budget 4 8)" --parity 2 --seed $RANDOM
expect 1 crossing --size 4194304 --trials 1 --drill silent
has 'without an error'
has '^  repeat: .*--trial 0$'
expect 2 crossing --parity 9
