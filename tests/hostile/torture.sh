#!/usr/bin/env bash
# Runs scute-torture for a short while: in memory (if there is a place) and on a disk, at several
# levels. Runs that are spoilt on purpose must fail. `scute-torture --seconds 3600` runs for longer.
set -euo pipefail
torture=${SCUTE_TEST_TORTURE_EXE:?names scute-torture}
# shellcheck source=tests/support/budget.bash
source "$SCUTE_SOURCE_DIR/tests/support/budget.bash"

memory=$PWD
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
  memory=$(mktemp -d /dev/shm/scute-torture-test.XXXXXX)
  trap 'rm -rf "$memory"' EXIT
fi

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# It keeps the pool of a failed run in a folder that goes with this test, so the run's own words
# and the command to repeat it have to do.
survives() {
  [ "$3" != --seconds ] || set -- "$1" "$2" "$3" "$(budget 0.5 "$4")" "${@:5}"
  "$torture" --quiet "$@" || fail "status $?: scute-torture $*"
}
survives --dir "$memory" --seconds 4
survives --dir "$memory" --seconds 1.5 --workload churn --size 1M --threads 6 --lanes 2 --protection ml
survives --dir "$memory" --seconds 1.5 --workload objects --protection none --threads 1 --lanes 2
survives --dir "$memory" --seconds 1.5 --workload containers --protection mlp
survives --dir "$memory" --seconds 1.5 --medium file --threads 6 --lanes 3
survives --dir "$memory" --seconds 1.5 --engine redo
survives --dir "$memory" --seconds 1.5 --workload crowd --protection mlp
survives --dir "$memory" --seconds 2 --workload crowd --engine logfree --threads 3
survives --dir "$memory" --seconds 2 --workload crowd --engine redo --threads 3
survives --dir "$memory" --seconds 2 --engine spec
survives --dir "$memory" --seconds 1.5 --engine spec --workload objects --protection none --threads 1 --lanes 2
survives --dir "$memory" --seconds 2 --workload crowd --engine spec --threads 3
survives --dir "$memory" --seconds 1.5 --engine spec --parity 2
survives --dir "$memory" --seconds 1.5 --engine spec --parity 4 --workload churn
survives --dir "$memory" --seconds 1.5 --engine spec --protection ml --workload churn --size 2M --threads 6 --lanes 2
survives --dir "$memory" --seconds 1.5 --engine spec --protection mlp --workload containers
survives --dir "$memory" --seconds 1 --engine spec --parity 3 --workload objects
survives --dir "$memory" --seconds 1.5 --medium file --engine spec --threads 6 --lanes 3
survives --dir "$memory" --seconds 1.5 --parity 2
survives --dir "$memory" --seconds 1.5 --parity 4 --workload churn
survives --dir "$PWD" --seconds 6
survives --dir "$PWD" --seconds 3 --engine spec
survives --dir "$memory" --seconds 3 --workload pow
survives --dir "$memory" --seconds 2 --workload pow --protection none --threads 6
survives --dir "$PWD" --seconds 4 --workload pow --medium file --threads 3
survives --dir "$memory" --seconds 3 --workload pow --protection sealed --threads 3
# All column blocks on eight locks, as in pools of many gigabytes.
export SCUTE_STRIPES=8
survives --dir "$memory" --seconds 2
survives --dir "$memory" --seconds 1.5 --engine redo
survives --dir "$memory" --seconds 1.5 --engine spec
survives --dir "$PWD" --seconds 1.5 --medium file
unset SCUTE_STRIPES

# Every kill it counts was one, and recoveries were met.
for engine in redo logfree spec; do
  "$torture" --quiet --dir "$memory" --kills 60 --threads 2 --engine $engine >out
  grep -q '^  kills  *6[0-9] ' out || fail "not 60 kills, engine $engine: $(cat out)"
  grep -q '^  recoveries .* of which [1-9]' out ||
    fail "no recovery had anything to do, engine $engine: $(cat out)"
done
[ -z "$(ls "$memory")" ] || fail "files are left: $(ls "$memory")"

# Each spoilt run must find damage.
declare -A sees=(
  [stale]='was committed, but the pool has only those up to'
  [byte]='damaged structures'
  [column]='damaged structures'
  # Of a small pool the victim may be the table of a writer, whose first byte is one of an oid.
  [write]='\(byte 0 of .* is 0x.*, not 0x\|it cannot be read: .* is no object\)'
  [extra]='nothing refers to it'
  [hoard]='space is lost'
  [lock]='is open in another process'
)
engines=(redo logfree spec) turn=0
for drill in "${!sees[@]}"; do
  # One for each drill, or all.
  for engine in $(budget "${engines[turn++ % 3]}" "${engines[*]}"); do
    status=0
    "$torture" --quiet --dir "$memory" --kills 40 --threads 3 --engine $engine --drill "$drill" \
      >out 2>&1 || status=$?
    said="--engine $engine --drill $drill: $(cat out)"
    [ $status = 1 ] || fail "status $status instead of 1 with $said"
    grep -q "^FAILED: .*${sees[$drill]}" out || fail "not explained: $said"
    pool=$(sed -n 's/^  the pool  *//p' out)
    [ -s "$pool" ] || fail "the pool of a failed run is gone: $said"
    grep -q "^  repeat .*--seed .*--engine $engine.* --chunk-size [1-9]" out || fail "no command to repeat: $said"
  done
done

status=0
"$torture" --quiet --dir "$memory" --kills 200 --threads 3 --workload pow --drill stale >out 2>&1 || status=$?
[ $status = 1 ] || fail "status $status instead of 1 with a stale file: $(cat out)"
grep -q '^FAILED: .*were confirmed and' out || fail "not explained: $(cat out)"

for usage in "--workload dancing" "--threads 0" "--size 1Q" "--dir /nowhere/at/all" "--medium dax"; do
  status=0
  # shellcheck disable=SC2086
  "$torture" --kills 1 $usage >out 2>&1 || status=$?
  [ $status = 2 ] || fail "status $status instead of 2 with $usage: $(cat out)"
done
"$torture" --help >out
grep -q '^Exit status' out
