#!/usr/bin/env bash
# Views in huge pages (--huge-pages): they are huge where Linux grants that, whatever part of the
# file is a hole. All else is as without the option.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
# Prints what Linux grants this user's files in memory.
granted() {
  python3 -c 'import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
huge = 2 << 20
fd = os.memfd_create("probe")
os.ftruncate(fd, huge)
at = libc.mmap(None, ctypes.c_size_t(2 * huge), 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
at = (at + huge - 1) & -huge
got = libc.mmap(ctypes.c_void_p(at), ctypes.c_size_t(huge), mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | 0x10, fd, ctypes.c_long(0))
os.pwrite(fd, b"x", 0)
sys.exit(0 if got == at and libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(huge), 25) == 0 else 1)'
}

# The file has 3 MiB of bytes, a hole of 4 MiB, and 1.5 MiB and 5 bytes more. Prints how many KiB of
# its mapping are in huge pages.
use='import mmap, re, sys
with open(sys.argv[1], "r+b") as f:
    m = mmap.mmap(f.fileno(), 0)
    print(sum(m[i] for i in range(0, len(m), 4096)))
    for at in (0, 1 << 20, 4 << 20, 7 << 20, len(m) - 5): m[at:at + 5] = b"again"
    m.flush()
    smaps = open("/proc/self/smaps").read()
    print("huge", max((int(n) for n in re.findall(r"memfd:scute-view [^\n]*\n(?:[^\n]*\n)*?ShmemPmdMapped: *(\d+) kB", smaps)), default=0))'
make() {
  bytes_of 3145728 >"$1"
  truncate -s 7M "$1"
  bytes_of 1572869 >>"$1"
}
make "$pools/plain"
python3 -c "$use" "$pools/plain" >plain.out
make "$file"
"$scute" shield add "$file" >add.out
expect 0 "$scute" shield run --huge-pages -- python3 -c "$use" "$file"
[ "$(head -n 1 out)" = "$(head -n 1 plain.out)" ] || fail "other bytes are read"
if granted; then in_out '^huge 8192$'; else in_out '^huge 0$'; fi
cmp "$file" "$pools/plain" || fail "other bytes in the file"
sound "$file"

make "$file"
"$scute" shield add "$file" >add.out
expect 0 "$scute" shield run -- python3 -c "$use" "$file"
in_out '^huge 0$'
# As if Linux granted no huge pages.
SCUTE_HUGE_PAGES=never expect 0 "$scute" shield run --huge-pages -- python3 -c "$use" "$file"
in_out '^huge 0$'
# A limit counts holes.
expect 1 "$scute" shield run --huge-pages --max-memory 6M -- python3 -c "$use" "$file"
in_err 'memory'
expect 0 "$scute" shield run --max-memory 6M -- python3 -c "$use" "$file"

expect 1 "$scute" shield run --huge-pages --page-in -- true
in_err 'page-in'
expect 1 "$scute" shield run --huge-pages --view-dir "$pools" -- true
in_err 'view-dir'
sound "$file"
