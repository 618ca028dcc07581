#!/usr/bin/env bash
# Threads of two real-time priorities of a shielded program share one processor. The higher one runs
# whenever it is able to, so it may wait for the lower one only by sleeping.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
cat >priorities.c <<'C'
#include <fcntl.h>
#include <libpmem.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/wait.h"

enum { size = 1 << 20, rounds = 400, line = 64, page = 4096 };
static char *map;
static int fd;
static volatile int higher = 2, wrong, refused;

static void ignore(int signal) { (void)signal; }
static void take_priority(int priority) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) _exit(3);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) ++cpu;
  CPU_SET(cpu, &one);
  if (pthread_setaffinity_np(pthread_self(), sizeof one, &one) != 0) _exit(4);
  const struct sched_param p = {.sched_priority = priority};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &p) != 0) refused = 1;
}
static void *work(void *number) {
  const long me = (long)number;
  const int high = me >= 2;
  take_priority(high ? 20 : 10);
  for (int round = 0; high ? round < rounds : higher != 0; ++round) {
    /* Lines of its own, next to those of the others, and some of a page of its own. */
    char *const mine = map + (round % 64) * 4 * line + me * line;
    memset(mine, 'a' + round % 26, line);
    pmem_persist(mine, line);
    char *const pages = map + (me + 8) * 16 * page + round % 16 * page;
    memset(pages, 'a' + round % 26, page);
    if (round % 3 == 0 && msync(pages, page, MS_SYNC) != 0) wrong = 1;
    if (round % 7 == 0 && pwrite(fd, mine, line, (me + 4) * page + 128) != line) wrong = 1;
    if (round % 21 == 0 && fdatasync(fd) != 0) wrong = 1;
    /* The runtime keeps handlers under a lock of its own. */
    const struct sigaction act = {.sa_handler = &ignore};
    for (int i = 0; i < 20; ++i)
      if (sigaction(SIGUSR1, &act, NULL) != 0) wrong = 1;
    /* The higher one wakes up in the middle of something of the lower one's. */
    if (high)
      pause_us(20 + round * 37 % 200);
    else if (round % 16 == 15)
      pause_us(10);
  }
  if (high) __atomic_sub_fetch(&higher, 1, __ATOMIC_SEQ_CST);
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t threads[4];
  fd = open(argv[argc - 1], O_RDWR);
  map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return 2;
  for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, &work, (void *)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  if (refused) puts("no real-time priorities for this user: the threads have ordinary ones");
  return wrong;
}
C
cc -O1 -D_GNU_SOURCE -I "$SCUTE_SOURCE_DIR/tests" -o priorities priorities.c -lpmem -lpthread || fail "cc"

for engine in redo logfree spec; do
  for how in '' --page-in; do
    rm -f "$file"*
    bytes_of 1048576 >"$file"
    "$scute" shield add "$file" --engine $engine >add.out || fail "shield add"
    # shellcheck disable=SC2086
    timeout -s KILL "$wait_seconds" "$scute" shield run $how -- ./priorities "$file" >said 2>said.err ||
      fail "$engine $how: status $?: $(cat said said.err)"
    cat said
    sound "$file"
  done
done
