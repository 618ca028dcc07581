#!/usr/bin/env bash
# scute inject: hits the places that the options name, the same places with the same seed, and
# check repairs them.
. "${BASH_SOURCE[0]%/*}/lib.bash"
records 2000 >records.tsv
for engine in redo logfree spec; do
  SCUTE_ENGINE=$engine "$scute" kv load $engine.pool records.tsv --create --size 16M --quiet >/dev/null
done
cp redo.pool fresh.pool
pool=$pools/a.pool
fresh() { cp fresh.pool "$pool"; }

# One flip: one byte of the data differs (the superblocks and their pages change at every opening).
fresh
expect 0 "$scute" inject "$pool" --kind flip --region object --seed 5
in_out '^flip at 0x[0-9a-f]*, 1 bytes, object$'
in_out '^1 injury$'
cp out first.out
zones() { cmp -l fresh.pool "$pool" | awk -v low=$((2 * 4096)) -v high=$((16 * 1024 * 1024 - 4096)) '$1 > low && $1 <= high'; }
equal "$(zones | wc -l)" 1
fresh
expect 0 "$scute" inject "$pool" --kind flip --region object --seed 5
cmp out first.out || fail "the same seed hits another place"
expect 0 "$scute" inject "$pool" --kind flip --region object --seed 6
! cmp -s out first.out || fail "another seed hits the same place"

# A check finds each kind and region of damage, and repairs it.
is_repaired() { # ARGUMENTS of inject
  fresh
  expect 0 "$scute" inject "$pool" "$@" --json
  valid_json
  expect "0 2" "$scute" check "$pool" --repair
  expect 0 "$scute" check "$pool"
  "$scute" kv scan "$pool" | cmp - records.tsv || fail "the records differ after $*"
}
for engine in redo logfree spec; do
  cp $engine.pool fresh.pool
  for region in superblock lane zone-header chunk-header object free parity notes; do
    is_repaired --kind flip --region "$region" --bits 8
    is_repaired --kind scribble --region "$region" --length 200
    is_repaired --kind lose-page --region "$region"
  done
  is_repaired --kind scribble --offset 0x100000 --length 4096
  is_repaired --kind scribble --offset 1048576 --length 4K
  fresh
  expect 0 "$scute" inject "$pool" --kind flip --region object --count 3 --bits 64
  in_out '^3 injuries$'
  # The pool is left as by a crash. Data that recovery restores is damage all the same, and
  # reported.
  for how in "" --repair; do
    expect 2 "$scute" check "$pool" $how
    [ -z "$how" ] && in_out '^damaged: object at 0x' || in_out '^repaired: object at 0x'
    in_out '^result  *\(damaged, repairable with --repair\|repaired\)$'
    [ $engine != logfree ] || in_out '^repaired by opening  *3$'
  done
  expect 0 "$scute" events "$pool"
  in_out '^.*  object  *repaired  *\(open\|check\)  '
  expect 0 "$scute" check "$pool"
done

# By rate: 16 MiB at one in a million bits are some 130 flips.
fresh
expect 0 "$scute" inject "$pool" --kind flip --rate 1e-6
n=$(grep -c '^flip at' out)
[ "$n" -gt 80 ] && [ "$n" -lt 200 ] || fail "$n flips"

# The example of the page on fault tolerance: a scribble of 100 KiB.
fresh
expect 0 "$scute" inject "$pool" --kind scribble --length 100K --offset 0x100000
in_out '^scribble at 0x100000, 102400 bytes'

# Without parity no page of the zones can be lost.
"$scute" create "$pools/ml.pool" --size 4M --protection ml >/dev/null
expect 1 "$scute" inject "$pools/ml.pool" --kind lose-page --region object
expect 1 "$scute" inject "$pools/ml.pool" --kind lose-page --offset 0x100000
in_err 'no parity'
one_error_line
expect 0 "$scute" inject "$pools/ml.pool" --kind lose-page --region superblock

# Of so many pages some lie in one column, beyond one parity. Where objects have no checksums the
# check and the scrub that lose them count what was in them; those after them cannot tell.
records 10000 >many.tsv
for engine in redo spec; do
  "$scute" create "$pools/mlp.pool" --overwrite --size 12M --rows 4 --protection mlp --engine $engine >/dev/null
  "$scute" kv load "$pools/mlp.pool" many.tsv --quiet >/dev/null
  cp "$pools/mlp.pool" sound.pool
  for command in check "check --repair" scrub; do
    cp sound.pool "$pools/mlp.pool"
    expect 0 "$scute" inject "$pools/mlp.pool" --kind lose-page --region object --count 40
    read -r verb flag <<<"$command"
    expect 3 "$scute" "$verb" "$pools/mlp.pool" $flag
    in_out '^lost with pages  *[1-9]'
    in_out '^result  *data is lost$'
    [ "$command" != check ] || continue
    expect 0 "$scute" events "$pools/mlp.pool"
    in_out '^.*  object  *lost  '
  done
done

# A drill that hits nothing fails, and leaves no trace of a crash.
cp redo.pool fresh.pool
rm -f "$pool".log*
fresh
expect 1 "$scute" inject "$pool" --kind flip --rate 1e-15
in_err 'nothing was injured'
one_error_line
expect 0 "$scute" info "$pool"
in_out '^last session *closed properly$'
# The same scribble again is damage again, and one over two regions names both.
for i in 1 2; do
  cp "$pool" before.pool
  expect 0 "$scute" inject "$pool" --kind scribble --offset 0x1ff0 --length 32 --json
  ! cmp -s <(tail -c +8177 before.pool | head -c 32) <(tail -c +8177 "$pool" | head -c 32) || fail "scribble $i changed nothing"
done
equal "$(json region) $(json last_region)" "notes lane"
fresh
expect 0 "$scute" inject "$pool" --kind scribble --region free
in_out 'free$'
in_out 'no injured byte is in use'

# Wrong usage.
expect 1 "$scute" inject "$pool"
expect 1 "$scute" inject "$pool" --kind burn
expect 1 "$scute" inject "$pool" --kind flip --bits 3
expect 1 "$scute" inject "$pool" --kind flip --region moon
expect 1 "$scute" inject "$pool" --kind flip --count 2 --rate 0.5
expect 1 "$scute" inject "$pool" --kind flip --offset 999999999999
expect 0 "$scute" info "$pool"
in_out '^last session *closed properly$'
expect 1 "$scute" inject "$pool" --kind scribble --length 0
expect 1 "$scute" inject "$pools/none.pool" --kind flip
in_err 'none.pool'
