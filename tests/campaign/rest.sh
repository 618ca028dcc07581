#!/usr/bin/env bash
# Errors on pools at rest: a small part of the grid, and that the campaign can fail. No wrong byte
# without an error (POOL-5).
. "${BASH_SOURCE[0]%/*}/lib.bash"

small="--size 4194304"
# shellcheck disable=SC2086
{
  rates=$(budget 1e-7,1e-5 1e-7,1e-6,1e-5,1e-4)
  expect 0 rest $small --trials "$(budget 1 2)" --rates "$rates" --json all.json --plot all.svg
  has '^result: all that had to survive did'
  grep -q '"silently_wrong": 0' all.json
  [ "$(grep -c '"protection"' all.json)" = "$(budget 120 240)" ] || fail "not all cells"
  grep -q '</svg>' all.svg
  # With one error at most everything comes back.
  expect 0 rest $small --trials 5 --levels mlpc --rates 1e-9
  ! grep -E '^  N ' out | grep -qv ' 100$' || fail "one error is too many"

  expect 1 rest $small --trials 1 --levels mlpc --rows 20 --bits 8 --rates 1e-6 --drill silent
  has '^FAILED mlpc/N20/8bit/1e-06 .*without an error'
  expect 1 rest $small --trials 1 --levels mlpc --rows 20 --bits 8 --rates 1e-4 --drill greedy
  has '^FAILED mlpc/N20/8bit/1e-04 .*had to survive'
  has '^  repeat: .*--only mlpc/N20/8bit/1e-04 --trial 0$'
  expect 1 rest $small --trials 1 --levels mlpc --rows 20 --bits 8 --rates 1e-7 --drill forgetful
  has '^FAILED mlpc/N20/8bit/1e-07 .*skips the object'
  expect 0 rest $small --only mlpc/N20/8bit/1e-04 --trial 1
  has '^mlpc  *1 '

  # A zone descriptor that decodes without a damaged row that counts: the zone is lost, the pool
  # opens.
  for level in mlp mlpc; do
    expect 0 rest --seed 9 --size 16777216 --chunk-size 65536 --only $level/N20/1bit/1e-04 --trial 1
  done

  # A file under the shield, with what protects it: every page is compared with what the file holds
  # by itself.
  expect 0 rest --shielded --size 1000001 --trials 2 --rows 20,100 --rates 1e-7,1e-6,1e-5 --json shielded.json
  has '^result: all that had to survive did'
  has '^the errors fell outside it'
  has '^damaged cells than parities every page came back in '
  grep -q '"errors_beside": [1-9]' shielded.json || fail "nothing fell into FILE.scute"
  grep -q '"shielded": true' shielded.json
  [ "$(grep -c '"protection": "mlpc"' shielded.json)" = 30 ] || fail "not all cells"
  ! grep -q '"silently_wrong": [1-9]' shielded.json || fail "silently wrong"
  expect 0 rest --shielded --size 2000000 --trials 3 --rows 20 --parity 3 --bits 64 --rates 1e-6
  has '^  N 20   64 bits  *100/100$'
  expect 0 rest --shielded --size 400000 --trials 2 --rows 20 --engine redo --bits 8 --rates 1e-6
  expect 1 rest --shielded --size 1000000 --trials 1 --rows 20 --bits 8 --rates 1e-6 --drill silent
  has '^FAILED mlpc/N20/8bit/1e-06 .*without an error'
  has '^  repeat: .* rest --shielded .*--only mlpc/N20/8bit/1e-06 --trial 0$'
  expect 1 rest --shielded --size 1000000 --trials 1 --rows 20 --bits 8 --rates 1e-4 --drill greedy
  has '^FAILED mlpc/N20/8bit/1e-04 .*had to survive'
  expect 2 rest --shielded --levels mlp

  expect 2 rest --only mlpc/N7/8bit/1e-04
  expect 2 rest --bits 3
  expect 2
}
