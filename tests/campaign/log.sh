#!/usr/bin/env bash
# Damage to the log of engine spec, at rest, under commits, and after a kill. Damage to one copy or
# track costs nothing. The losses from more damage are reported.
. "${BASH_SOURCE[0]%/*}/lib.bash"

trials=$(budget 4 12)
expect 0 log --trials "$trials" --seed $RANDOM
has '^result: all promises were kept'
has "^two-copies/crossing .* $trials trials"
has '^tracks/live '
expect 1 log --trials 1 --logs tracks --moments rest --drill silent
has 'without an error'
has '^  repeat: .*--logs tracks --moments rest --seed 1 --trial 0$'
# The drill requires that everything survives: it must fail.
expect 1 log --trials 40 --logs one-copy --moments crossing --drill greedy
expect 2 log --logs three-copies
