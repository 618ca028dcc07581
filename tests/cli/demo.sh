#!/usr/bin/env bash
# The demo, small, in memory (if there is a place) and on a disk.
. "${BASH_SOURCE[0]%/*}/lib.bash"
demo=${SCUTE_TEST_DEMO_EXE:?names scute-demo}
export SCUTE_EXE=$scute

mkdir here
for medium in auto file; do
  expect 0 "$demo" --records 300 --kills 5 --medium "$medium" --dir here
  cat out
  in_out 'loader killed (SIGKILL) *5 times'
  in_out '^  lost  *0$'
  in_out '^  differing bytes  *0$'
  equal "$(ls here)" ""
done
for medium in auto file; do
  expect 0 "$demo" --pow --records 300 --kills 5 --medium "$medium" --dir here
  cat out
  in_out 'loader killed (SIGKILL) *5 times'
  in_out '^  lost  *0$'
  in_out '^  differing bytes  *0$'
  equal "$(ls here)" ""
done
expect 0 "$demo" --help
expect 1 "$demo" --medium tape
expect 1 "$demo" --dir here/missing
