#!/usr/bin/env bash
# With little memory allowed, a page is evicted when all of it is in the file (--page-in
# --max-memory). Stores are kept however the program ends, and calls find the pages that they read
# (PAGEOUT-1, PAGEOUT-2, VIEW-12). A signal handler may touch pages wherever it interrupts the
# program: it never waits for a thread that waits for it (PAGEIN-2, PAGEOUT-3).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
run=("$scute" shield run --page-in --max-memory 1M --)
works='import mmap, os, random, sys, threading
fd = os.open(sys.argv[1], os.O_RDWR)
size = 8 << 20
memory = mmap.mmap(fd, size)
wrong = []
def work(seed):
    r = random.Random(seed)
    model = {}
    for n in range(int(sys.argv[2])):
        at = r.randrange(size // 4096) * 4096 + 64 * seed
        want = model.get(at, b"%015d\n" % (at // 4096))
        got = memory[at:at + 16] if r.random() < 0.6 else os.pread(fd, 16, at)
        if got != want: wrong.append((n, at, got, want))
        if r.random() < 0.4:
            model[at] = b"%d:%014d" % (seed, n)
            if r.random() < 0.5: memory[at:at + 16] = model[at]
            else: os.pwrite(fd, model[at], at)
            if r.random() < 0.7: memory.flush(at // 4096 * 4096, 4096)
    models[seed] = model
models = {}
threads = [threading.Thread(target=work, args=(s,)) for s in range(3)]
for t in threads: t.start()
for t in threads: t.join()
for model in models.values():
    for at, value in model.items(): print(at, value.decode())
sys.stdout.flush()
assert not wrong, wrong[:3]
'
large() { numbered "$1" 2048; }
# the file contains the bytes that `out` reports
verify() {
  python3 -c 'import sys
data = open(sys.argv[1], "rb").read()
for line in open("out", "rb"):
    at, value = line.split()
    if data[int(at):int(at) + 16] != value: sys.exit("at %d: %r and not %r" % (int(at), data[int(at):int(at) + 16], value))' "$1" || fail "$2"
}

for end in 'memory.flush()' 'os.kill(os.getpid(), 9)'; do
  large "$file"
  status=0
  "${run[@]}" python3 -c "$works$end" "$file" 3000 >out 2>err || status=$?
  if grep -q 'pages cannot be loaded on demand' err; then
    echo "no userfaultfd for this user"
    exit 0
  fi
  [ "$status" = 0 ] || [ "$status" = 137 ] || fail "status $status: $(cat err)"
  verify "$file" "after $end"
  sound "$file"
done

# Pages that are not in the file yet use memory; once they are, it is released. (The machine's own
# count of it, with a margin for other processes.)
large "$file"
expect 0 "${run[@]}" python3 -c 'import mmap, os, sys, threading
from waiting import wait_until
fd = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(fd, 8 << 20)
# (A thread that waits for something else keeps nothing.)
threading.Thread(target=os.readv, args=(os.pipe()[0], [bytearray(8), bytearray(8)]), daemon=True).start()
def rss(): return sum(int(part.split("Rss:")[1].split()[0]) for part in open("/proc/self/smaps").read().split("memfd:scute-view ")[1:2])
for i in range(2048): memory[i << 12] = 1
assert rss() > 7000, rss()
memory.flush()
wait_until(lambda: rss() < 1200)
assert all(memory[i << 12] == 1 for i in range(2048)) and rss() < 4000, rss()' "$file"
sound "$file"

cat >handler.c <<'C'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
enum { pages = 2048 };
static char *at;
static volatile long touched, wrong;
static unsigned place = 1;
static void look(unsigned page, const char *has) {
  char want[20];
  int n = (int)(page % pages);
  for (int i = 14; i >= 0; --i, n /= 10) want[i] = (char)('0' + n % 10);
  if (memcmp(has, want, 15) != 0) ++wrong;
}
static void on_alarm(int signal) {
  (void)signal;
  for (int i = 0; i < 3; ++i) {
    place = place * 1103515245u + 12345u;
    look(place >> 8, at + (size_t)((place >> 8) % pages) * 4096);
    ++touched;
  }
}
int main(int argc, char **argv) {
  int fd = open(argv[argc - 1], O_RDWR);
  at = mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return 3;
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  unsigned mine = 7;
  char room[64];
  for (int i = 0; i < 20000; ++i) {
    unsigned page = (mine = mine * 1103515245u + 12345u) >> 8;
    if (pread(fd, room, 16, (off_t)(page % pages) * 4096) != 16) return 4;
    look(page, room);
    if (i % 4 == 0) at[(size_t)(page % pages) * 4096 + 100] = (char)i;
    if (i % 64 == 0) msync(at + (size_t)(page % pages) * 4096, 4096, MS_SYNC);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%ld touched by the handler, %ld wrong\n", touched, wrong);
  return wrong != 0 || touched < 100;
}
C
cc -O1 -o handler handler.c || fail "cc"
for limit in none 1M; do
  large "$file"
  expect 0 timeout "$wait_seconds" "$scute" shield run --page-in --max-memory "$limit" -- ./handler "$file"
  sound "$file"
done

# Bytes that were appended and not synced yet are kept, whatever pages are evicted meanwhile: the
# file ends in the middle of a page.
appends='import mmap, os, sys
from waiting import pause
fd = os.open(sys.argv[1], os.O_RDWR | os.O_APPEND)
size = os.fstat(fd).st_size
memory = mmap.mmap(fd, size)
os.write(fd, b"one line of a log\n")
for i in range(3):
    for at in range(0, size, 4096): memory[at]
    pause(0.05)
assert os.pread(fd, 18, size) == b"one line of a log\n", os.pread(fd, 18, size)
if sys.argv[2] == "syncs": os.fsync(fd)
if sys.argv[2] == "dies": os.kill(os.getpid(), 9)
'
for end in syncs:0 dies:137 leaves:0; do
  rm -f "$file"*
  bytes_of 4000001 >"$file"
  "$scute" shield add "$file" --capacity 8M >add.out || fail "shield add"
  expect "${end#*:}" "${run[@]}" python3 -c "$appends" "$file" "${end%:*}"
  equal "$(tail -c 18 "$file")" "one line of a log"
  sound "$file"
done
