#!/usr/bin/env bash
# Pages of full pools overwritten, as many of each column as there are parities: everything
# survives, also when the process is killed while it repairs (ERASE-6).
. "${BASH_SOURCE[0]%/*}/lib.bash"

seed=$RANDOM
echo "seed $seed"
expect 0 overwrite --parity 1,2 --rows 20 --trials "$(budget 2 6)" --seed $seed
has '^result: everything survived'
[ "$(grep -cE '^ [1-2]  ' out)" = 8 ] || fail "not all kinds"
# Three or four pages of every column, others in each, can have more explanations than may be tried
# (docs/guides/recover.md).
expect 0 overwrite --parity 3,4 --rows 20 --shapes pages,table,rows --trials "$(budget 2 6)" --seed $seed
[ "$(grep -cE '^ [3-4]  ' out)" = 6 ] || fail "not all kinds"
# So can three whole rows of 100.
expect 0 overwrite --parity 2 --rows 100 --shapes pages,rows --trials "$(budget 1 3)" --seed $seed
expect 0 overwrite --parity 3 --rows 100 --shapes pages --trials "$(budget 1 3)" --seed $seed

expect 1 overwrite --parity 2 --rows 20 --shapes pages --trials 2 --seed 1 --drill greedy
has '^  trial [0-9]*: .*SCUTE_E_CORRUPT'
has '^  repeat: .*--campaign overwrite --seed 1 '
expect 1 overwrite --parity 2 --rows 20 --shapes pages --trials 1 --seed 1 --drill silent
has 'without an error'
expect 2 overwrite --parity 5
expect 2 overwrite --shapes circles
