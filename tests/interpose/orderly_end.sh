#!/usr/bin/env bash
# A program that ends in order is no crash, whatever the engine (LIFE-3). Damage that occurs
# meanwhile, in the columns of its changes, costs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

size=954782 at=650437 damaged=48383  # the last two in one column
works='import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(fd, 0)
print("ready\n", end="", flush=True)
sys.stdin.read(1)
memory[int(sys.argv[2]):int(sys.argv[2]) + 147] = b"A" * 147
memory.flush()'
mkfifo go
for engine in redo logfree spec; do
  file=$pools/$engine
  bytes_of $size >"$file"
  cp "$file" wanted
  "$scute" shield add "$file" --engine $engine --rows 20 --capacity 1254782 >add.out || fail "shield add"
  : >ready
  "$scute" shield run -- python3 -c "$works" "$file" $at <go >ready 2>err &
  run=$!
  exec 5>go
  until_said ready ready "$run"
  byte=$(od -An -tu1 -j $damaged -N 1 "$file")
  printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$file" bs=1 seek=$damaged conv=notrunc status=none
  echo >&5
  exec 5>&-
  wait $run || fail "$engine: the program ends with $?: $(cat err)"
  printf 'A%.0s' $(seq 147) | dd of=wanted bs=1 seek=$at conv=notrunc status=none
  "$scute" shield check "$file" --repair >check.out 2>&1 || grep -q '^lost  *0$' check.out || fail "$engine: $(cat check.out)"
  cmp "$file" wanted || fail "$engine: other bytes"
  sound "$file"
done
