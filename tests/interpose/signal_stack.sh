#!/usr/bin/env bash
# A thread of a shielded program has an alternate signal stack of 8 KiB, as some languages give all
# of theirs. It meets lost pages while it makes its stores durable: FILE has been cut outside of the
# shield. The library's handler takes at most 6 KiB of that stack, the kernel's frame included
# (tests/repair/handler_stack_test.cpp shows the same of pools). Unused bytes keep their paint.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
cat >painted.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/wait.h"

enum { size = 300000, room = 8192, paint = 0xa5, whole = 6 << 10, frame_most = 3376 };
static unsigned char stack[room];
static volatile uintptr_t below;
static const char *path;

/* The kernel has written nothing below that. */
static void measure(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  below = (uintptr_t)context - sizeof(void *);
}
static long used(void) {
  long n = 0;
  while (n < room && stack[n] == paint) ++n;
  return room - n;
}
static void *work(void *arg) {
  const stack_t own = {.ss_sp = stack, .ss_size = room};
  struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
  act.sa_sigaction = &measure;
  if (sigaltstack(&own, NULL) != 0 || sigaction(SIGUSR1, &act, &before) != 0) _exit(3);
  pthread_kill(pthread_self(), SIGUSR1);
  const long frame = (long)((uintptr_t)stack + room - below);
  memset(stack, paint, room);
  const int fd = open(path, O_RDWR);
  char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) _exit(4);
  map[0] = 'x';
  if (msync(map, 4096, MS_SYNC) != 0) _exit(5);
  if (used() != 0) _exit(6);
  puts("open");
  fflush(stdout);
  WAIT_UNTIL(access("struck", F_OK) == 0);
  map[size - 100] = 'y';
  map[size - 5000] = 'z';
  if (msync(map, size, MS_SYNC) != 0) _exit(7);
  const long mine = used() - frame;
  printf("%ld bytes of the signal stack, and %ld by the kernel\n", mine, frame);
  if (mine <= 0) return "no lost page was met";
  return mine > whole - frame_most ? "more than 6 KiB" : arg;
}
int main(int argc, char **argv) {
  pthread_t thread;
  void *wrong = NULL;
  path = argv[argc - 1];
  if (pthread_create(&thread, NULL, &work, NULL) != 0 || pthread_join(thread, &wrong) != 0) return 2;
  if (wrong != NULL) puts(wrong);
  return wrong != NULL;
}
C
cc -O1 -D_GNU_SOURCE -I "$SCUTE_SOURCE_DIR/tests" -o painted painted.c -lpthread || fail "cc"

is_open() { grep -q "^open$" said 2>/dev/null; }
for engine in redo logfree spec; do
  rm -f "$file"* struck said
  bytes_of 300000 >"$file"
  "$scute" shield add "$file" --engine $engine >add.out || fail "shield add"
  "$scute" shield run "${run_with[@]}" -- ./painted "$file" >said 2>said.err &
  program=$!
  wait_until is_open
  truncate -s 294912 "$file"
  touch struck
  wait $program || fail "$engine: status $?: $(cat said said.err)"
  sed "s/^/$engine: /" said
done
