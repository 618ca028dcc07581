#!/usr/bin/env bash
# A file system that gets full under a pool: status 6 and one line, never a signal. The present
# records can still be changed, freed and read. On a simulated small disk (tests/disk), and on a
# small tmpfs where one may be mounted.
. "${BASH_SOURCE[0]%/*}/lib.bash"
simulated=${SCUTE_BINARY_DIR:?names the build folder}/tests/small-disk.so
[ -e "$simulated" ] || fail "$simulated is missing: build first"
records 9000 >records.tsv

# drill FOLDER, with `run` to start the command there and `leave PAGES` to let the disk have no
# more.
drill() {
  local pool=$1/a.pool said
  # There is no room for all of it.
  leave 300
  expect 6 run create "$pool" --size 64M --preallocate
  one_error_line
  equal "$(ls "$1")" ""
  # Nor for a log: it is the disk that is full, not the pool.
  leave 300
  expect 6 run create "$pool" --size 64M --lanes 4 --engine spec
  one_error_line
  in_err 'file system\|No space left on device'
  ! grep -q 'larger pool' err || fail "a full disk is reported as a full pool: $(cat err)"
  equal "$(ls -A "$1" | grep -v '^\.others$')" ""
  # The pool is larger than the disk.
  leave 1200
  expect 0 run create "$pool" --size 16M --lanes 4
  expect 6 run kv load "$pool" records.tsv --batch 20 --quiet
  one_error_line
  in_err 'the file system of .* has no room'
  said=$(sed 's/.*: \([0-9]*\) records of .*/\1/' err)
  [ "$said" -gt 0 ] || fail "nothing was loaded at all"
  leave 0
  expect 0 run kv count "$pool"
  equal "$(cat out)" "$said"
  expect 0 run check "$pool"
  expect 0 run scrub "$pool"
  expect 0 run dump "$pool" --objects
  expect 0 run stats "$pool"
  head -c 400000 /dev/zero >big
  expect 6 run kv put "$pool" big <big
  one_error_line
  # Changing and freeing need no room, and what is freed is used again.
  for i in 1 5 9 30; do
    expect 0 run kv put "$pool" "key000000$i" ""
    expect 0 run kv put "$pool" "key000000$i" small
    expect 0 run kv del "$pool" "key000000$i"
    expect 0 run kv put "$pool" "key000000$i" again
  done
  expect 0 run check "$pool"
  expect 0 run kv get "$pool" key0000005
  equal "$(cat out)" again
  # With more room the load continues.
  leave 3000
  expect "0 6" run kv load "$pool" records.tsv --batch 20 --quiet
  expect 0 run check "$pool"
}

echo "on a simulated disk"
mkdir "$pools/simulated"
head -c 16 /dev/zero >disk
run() {
  # A sanitizer would rather be loaded first, and does without.
  SCUTE_TEST_SMALL_DISK=$PWD/disk LD_PRELOAD=$simulated \
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" "$scute" "$@"
}
leave() { printf "\\x$(printf %02x $(($1 % 256)))\\x$(printf %02x $(($1 / 256)))" | dd of=disk conv=notrunc status=none; }
drill "$pools/simulated"

# In a namespace of its own, or as root; where neither is allowed the simulated disk has to do.
small=$PWD/small
mkdir "$small"
real() {
  run() { "$scute" "$@"; }
  # Another file takes the room that the pool is not to have.
  leave() {
    local free
    rm -f "$small/.others"
    free=$(($(stat -f -c %a "$small") - $1))
    [ "$free" -le 0 ] || head -c $((free * 4096)) /dev/zero >"$small/.others"
  }
  drill "$small"
  # The structure of a pool can be too large by far; no block is taken one after the other.
  leave 1200
  expect 6 run create "$small/large.pool" --size 64T
  one_error_line
  in_err 'has [0-9]* bytes free, and the structure of a pool of that size takes [0-9]*; make room'
  [ ! -e "$small/large.pool" ] || fail "a refused pool was left"
}
mount_small='mount -t tmpfs -o size=16m,huge=never none "$small"'
if unshare -Urm true 2>/dev/null && (export small; unshare -Urm bash -c "$mount_small") 2>/dev/null; then
  echo "on a small tmpfs"
  export -f drill real run leave fail expect in_out in_err equal one_error_line
  export scute small pools
  unshare -Urm bash -c "set -euo pipefail; export LC_ALL=C; $mount_small; real"
else
  echo "a small tmpfs cannot be mounted here"
fi
