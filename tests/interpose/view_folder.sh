#!/usr/bin/env bash
# Views in a folder: they need no memory and leave nothing there. If a program is killed, its stores
# are kept.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file other=$pools/other third=$pools/third
shielded "$file" 1200000
shielded "$other" 1200000
shielded "$third" 1200000
cp "$file" before
mkdir folder
works='import mmap, os, signal, sys
fd = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(fd, 1200000)
assert memory[:] == open("before", "rb").read(), "the view has other bytes"
memory[5000:5005] = b"stays"
memory.flush()
memory[1199990:1199995] = b"later"
os.pwrite(fd, b"written", 700000)
if "grow" in sys.argv: os.pwrite(fd, b"beyond", 1200000)
if "kill" in sys.argv: os.kill(os.getpid(), signal.SIGKILL)'
has() {  # FILE OFFSET TEXT
  [ "$(tail -c +$(($2 + 1)) "$1" | head -c ${#3})" = "$3" ] || fail "$1 has no '$3' at $2"
}

# Lines of a file on a disk are copied whole, or not at all.
if ! grep -qw avx512vl /proc/cpuinfo; then
  expect 1 "$scute" shield run --view-dir folder -- cat "$file"
  in_err 'AVX-512.*no --view-dir'
  exit 0
fi

expect 0 "$scute" shield run --max-memory 64K --view-dir folder -- python3 -c "$works" "$file" grow
expect 137 "$scute" shield run --max-memory 64K --view-dir folder -- python3 -c "$works" "$other" kill
for f in "$file" "$other"; do
  has "$f" 5000 stays
  has "$f" 1199990 later
  has "$f" 700000 written
  sound "$f"
done
has "$file" 1200000 beyond
[ "$(stat -c %s "$file")" = 1200006 ] || fail "$file has not grown"

# The program may go elsewhere before it opens anything.
expect 0 "$scute" shield run --max-memory 64K --view-dir folder -- sh -c "cd / && cat '$third' >/dev/null"
# Calls that would shift the file's bytes are refused, as for a file in memory. A hole reads as
# zeros, and has room for the next store.
expect 1 "$scute" shield run --view-dir folder -- fallocate --collapse-range -o 4096 -l 4096 "$third"
expect 0 "$scute" shield run --view-dir folder -- fallocate --punch-hole -o 8192 -l 4096 "$third"
cmp <(head -c 4096 /dev/zero) <(tail -c +8193 "$third" | head -c 4096) || fail "no zeros"
expect 1 "$scute" shield run --view-dir folder/none -- cat "$third"
expect 1 "$scute" shield run --view-dir /proc -- cat "$third"
in_err 'make a file without a name in /proc'
sound "$third"
[ -z "$(ls -A folder)" ] || fail "left in the folder: $(ls -A folder)"
