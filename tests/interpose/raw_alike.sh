#!/usr/bin/env bash
# Programs that flush by their own instructions, compiled by scute-cc, do on shielded files what
# they do on plain ones, with each of the instructions. The bytes are the same. Programs of other
# compilers get no shielded file. They continue after the shield is removed (SCAN-1).
source "$(dirname "${BASH_SOURCE[0]}")/raw/lib.bash"

ordinary=$pools/ordinary guarded=$pools/guarded
instructions=(clflush)
for name in clflushopt clwb; do ! grep -qw "$name" /proc/cpuinfo || instructions+=("$name"); done

# both ARGUMENTS...: runs the same commands by the ordinary program on its file, and by the one
# under the shield.
both() {
  expect 0 "$(plain_of "$program")" "$ordinary" "$@" <operations
  mv out plain.out
  expect 0 "$scute" shield run -- "$raw/$program" "$guarded" "$@" <operations
}

for program in sorted_tree level_table item_server; do
  one=()
  [ "$program" != item_server ] || one=(--workers 1)
  make_file "$program" "$ordinary"
  rm -f "$guarded"*
  cp "$ordinary" "$guarded"
  under_shield "$guarded"

  # Programs with flushes that the shield cannot intercept are refused, and change nothing.
  for compilers in "clang-19 clang++-19" ours; do
    object=$(plain_of "$program")
    if [ "$compilers" != ours ]; then
      mkdir -p uninstrumented
      # shellcheck disable=SC2086
      bash "$here/build.sh" uninstrumented $compilers || fail "the programs do not build with $compilers"
      object=$PWD/uninstrumented/$program
    fi
    expect 2 "$scute" shield run -- "$object" "$guarded" </dev/null
    in_err "$object flushes cache lines by instructions of its own"
    in_err 'mmap: Operation not permitted'
    cmp "$ordinary" "$guarded" || fail "a refused mapping has changed the file"
  done

  seed=0
  for instruction in "${instructions[@]}"; do
    seed=$((seed + 1))
    # So many keys that the table grows, and the tree by a level.
    { operations "$program" "$seed" 1500 $((seed * 900)); printf 'check\nlist\n'; } >operations
    both --flush "$instruction" "${one[@]}"
    diff plain.out out >diff.out || fail "$program, $instruction: other answers: $(head -n 5 diff.out)"
    grep -q '^sound, [1-9][0-9][0-9]' out || fail "$program: few keys"
    cmp "$ordinary" "$guarded" || fail "$program, $instruction: other bytes"
  done
  if [ "$program" = item_server ]; then
    { operations "$program" 9 2000 2000; printf 'check\nlist\n'; } >operations
    both --workers 4
    diff <(sort plain.out) <(sort out) >diff.out || fail "$program, 4 workers: other answers: $(head -n 5 diff.out)"
  fi

  # Without the shield.
  sound "$guarded"
  { operations "$program" 7 800 500; printf 'check\nlist\n'; } >operations
  expect 0 "$(plain_of "$program")" "$ordinary" "${one[@]}" <operations
  mv out plain.out
  cp "$guarded" "$guarded.again"
  expect 0 "$(plain_of "$program")" "$guarded" "${one[@]}" <operations
  diff <(sort plain.out) <(sort out) >diff.out || fail "$program, without the shield: $(head -n 5 diff.out)"
  # So does the program that scute-cc has made: alone, it is any program.
  expect 0 "$raw/$program" "$guarded.again" "${one[@]}" <operations
  cmp "$guarded" "$guarded.again" || fail "$program: scute-cc has made another program of it"
done
