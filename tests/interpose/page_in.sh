#!/usr/bin/env bash
# Pages are loaded when they are touched (--page-in). The shield reads little, repairs damage when
# it reaches it, and reports losses. A kill loses nothing. If an unintercepted call writes to a
# page, the program ends (PAGEIN-1, PAGEIN-3, PAGEIN-4, PAGEIN-5, PAGEIN-6, MEM-3).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
run=("$scute" shield run --page-in --)
large() { numbered "$1" 1024; }
touches='import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(fd, 4 << 20)
def page(i): return memory[i << 12:(i << 12) + 16] == b"%015d\n" % i
def rss(): return sum(int(part.split("Rss:")[1].split()[0]) for part in open("/proc/self/smaps").read().split("memfd:scute-view ")[1:])
'

# Tests whether this user has a complete userfaultfd. If not, files are read as without --page-in,
# and nothing else can be tested.
large "$file"
expect 0 "${run[@]}" python3 -c "$touches"'
assert page(0) and page(1023)' "$file"
if grep -q 'pages cannot be loaded on demand' err; then
  in_err 'userfaultfd: .*--page-in'
  echo "no userfaultfd for this user"
  exit 0
fi

expect 0 "${run[@]}" python3 -c "$touches"'
assert page(7) and page(900) and not memory[4095:4097].isalpha()
assert rss() < 200, rss()
assert os.pread(fd, 16, 500 << 12) == b"%015d\n" % 500
for i in range(1024): assert page(i), i
assert rss() >= 4096, rss()' "$file"

# Threads, a child, a private mapping, and a descriptor that may only read.
expect 0 "${run[@]}" python3 -c "$touches"'
import random, threading
bad = []
def look(seed):
    r = random.Random(seed)
    for n in range(3000):
        i = r.randrange(512)
        if not page(i): bad.append(i)
        if n % 5 == 0: memory[(i << 12) + 64:(i << 12) + 80] = b"%015d\n" % i
threads = [threading.Thread(target=look, args=(s,)) for s in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert not bad, bad
private = mmap.mmap(fd, 4 << 20, flags=mmap.MAP_PRIVATE)
assert private[600 << 12:(600 << 12) + 16] == b"%015d\n" % 600
reader = os.open(sys.argv[1], os.O_RDONLY)
readers = mmap.mmap(reader, 4 << 20, prot=mmap.PROT_READ)
assert readers[601 << 12:(601 << 12) + 16] == b"%015d\n" % 601
child = os.fork()
if child == 0: os._exit(0 if all(page(i) for i in range(1024)) else 1)
assert os.waitpid(child, 0)[1] == 0' "$file"
sound "$file"
large "$file"
expect 0 "${run[@]}" python3 -c "$touches"'
child = os.fork()
if child == 0: os._exit(0 if all(page(i) for i in range(1024)) else 1)
assert os.waitpid(child, 0)[1] == 0' "$file"

# Stores are kept, after a kill as well, flushed or not. Pages that the program has not touched stay
# as they are.
for end in 'memory.flush()' 'os.kill(os.getpid(), 9)' 'os.kill(os.getpid(), 15)'; do
  large "$file"
  cp "$file" plain
  status=0
  "${run[@]}" python3 -c "$touches"'
for i in range(0, 1024, 3):
    memory[i << 12:(i << 12) + 4] = b"kept"
    if i % 2: memory.flush(i << 12, 4096)
os.pwrite(fd, b"written", 4 << 20)
os.pwrite(fd, b"written", (700 << 12) - 3)
'"$end" "$file" >out 2>err || status=$?
  python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
for i in range(0, 1024, 3): os.pwrite(fd, b"kept", i << 12)
os.pwrite(fd, b"written", 4 << 20)
os.pwrite(fd, b"written", (700 << 12) - 3)' plain
  cmp plain "$file" || fail "after $end: other bytes ($(cat err))"
  sound "$file"
done

# Damage is repaired when its page is touched. Irreparable damage is reported: by SIGBUS to a thread
# that touches the page and by EIO to one that reads it.
large "$file"
expect 0 "$scute" shield inject "$file" --kind flip --region object --count 3
expect 0 "${run[@]}" python3 -c "$touches"'
for i in range(1024): assert page(i), i' "$file"
sound "$file"
large "$file"
# (Its child is shielded no more, and so gets FILE itself.)
lost="$touches"'
assert page(5)
damage = ["env", "-u", "LD_PRELOAD", "dd", "if=/dev/urandom", "of=" + sys.argv[1], "conv=notrunc", "bs=4096", "seek=100", "count=300", "status=none"]
os.waitpid(os.posix_spawn("/usr/bin/env", damage, os.environ), 0)
assert page(5) and page(1020)
try: os.pread(fd, 16, 300 << 12)
except OSError as e: print("read:", e.errno)
sys.stdout.flush()
page(350)'
expect 135 "${run[@]}" python3 -c "$lost" "$file"
in_out '^read: 5$'
in_err "$file: byte $((350 << 12)) cannot be read, and a thread that touches it gets SIGBUS"
rm -f "$file"*

# If some pages are lost, a child gets all others. Its parent still finds the lost pages lost.
large "$file"
forks="${lost%%assert page(5) and*}"'
child = os.fork()
if child == 0: os._exit(0 if page(700) and page(20) else 1)
assert os.waitpid(child, 0)[1] == 0
assert page(700) and page(21)
memory[(700 << 12) + 64] = 7
memory.flush()
print("sound")
sys.stdout.flush()
page(200)'
expect 135 "${run[@]}" python3 -c "$forks" "$file"
in_out '^sound$'
rm -f "$file"*

# A number among the arguments of a system call is no descriptor.
large "$file"
expect 0 "${run[@]}" python3 -c "$touches"'
import ctypes
word = ctypes.c_int(0)
for n in range(64): ctypes.CDLL(None).syscall(202, ctypes.byref(word), 0, n + 1, None)
assert page(3) and rss() < 200, rss()' "$file"

# By an instruction, which the shield cannot intercept.
large "$file"
cat >unintercepted.c <<'C'
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int fd = open(argv[argc - 1], O_RDWR);
  register long at __asm__("r10") = 20000;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_pwrite64), "D"((long)fd), "S"("unknown"), "d"(7L), "r"(at)
                   : "rcx", "r11", "memory");
  return result == 7 && fsync(fd) == -1 ? 0 : 1;
}
C
cc -O1 -o unintercepted unintercepted.c || fail "cc"
cp "$file" before
expect 3 "${run[@]}" ./unintercepted "$file"
in_err 'its page at 16384 was written by a call that the shield does not intercept'
cmp before "$file" || fail "half a page has reached the file"

# A transfer appends bytes to the last page, which the program has not touched before, and after it.
# The plain file next to it gets the same transfers.
cat >transfers.py <<'P'
import os, sys
name, source, how, at, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), 5200
to = os.open(name, os.O_RDWR)
fd = os.open(name if how.endswith("own") else source, os.O_RDONLY)
if how.startswith("copy"): done = os.copy_file_range(fd, to, n, 70000, at)
elif how.startswith("send"): os.lseek(to, at, 0); done = os.sendfile(to, fd, 70000, n)
else:
    there, here = os.pipe()
    done = os.splice(there, to, os.splice(fd, here, n, offset_src=70000), offset_dst=at)
assert done == n, done
os.fsync(to)
P
bytes_of 100000 >source
for how in copy copy_own send send_own splice splice_own; do
  for at in 149681 149690 200001; do
    rm -f "$file"*
    bytes_of 149681 >"$file"
    cp "$file" plain
    "$scute" shield add "$file" --capacity 1M >add.out || fail "shield add"
    expect 0 "${run[@]}" python3 transfers.py "$file" source $how $at
    silent
    python3 transfers.py plain source $how $at
    cmp plain "$file" || fail "$how at $at: other bytes"
  done
  sound "$file"
done
