#!/usr/bin/env bash
# A mapping is locked in memory and extended in place, over a range that the program has just made a
# hole. The kernel touches it before mremap() returns, and gets zeros (PAGEIN-7).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
cat >grows.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page = 4096, less = 2 * page, more = 10 * page };
static int must(int good, const char *what) {
  if (good) return 0;
  perror(what);
  _exit(90);
}
int main(int argc, char **argv) {
  const int fd = open(argv[1], O_RDWR), locks = strchr(argv[2], 'l') != NULL, moves = strchr(argv[2], 'm') != NULL;
  must(fd >= 0, "open");
  char *const room = mmap(NULL, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(room != MAP_FAILED && munmap(room, more) == 0, "room");
  char *at = mmap(room, less, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, page);
  must(at == room, "mmap");
  if (locks) must(mlock(at, less) == 0, "mlock");
  must(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * page, 6 * page) == 0, "fallocate");
  char *const place = moves ? mmap(NULL, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
  at = moves ? mremap(at, less, more, MREMAP_MAYMOVE | MREMAP_FIXED, place) : mremap(at, less, more, 0);
  must(at == (moves ? place : room), "mremap");
  for (int i = page; i < 7 * page; ++i) must(at[i] == 0, "zeros");
  must(memcmp(at + 7 * page, "after it", 8) == 0, "after");
  memcpy(at + 4 * page, "in the hole", 11);
  must(msync(at, more, MS_SYNC) == 0, "msync");
  puts("grown");
  return argc;
}
C
cc -O1 -o grows grows.c || fail "cc"

for options in --page-in ""; do
  for how in l - lm m; do
    head -c 100000 /dev/urandom >"$file"
    printf 'after it' | dd of="$file" bs=1 seek=$((8 * 4096)) conv=notrunc status=none
    cp "$file" plain
    expect 3 ./grows plain "$how"
    "$scute" shield add "$file" >out
    # shellcheck disable=SC2086
    expect 3 timeout -k 1 "$wait_seconds" "$scute" shield run $options -- ./grows "$file" "$how"
    in_out '^grown$'
    cmp plain "$file" || fail "$how: other bytes"
    sound "$file"
  done
done
