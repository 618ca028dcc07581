#!/usr/bin/env bash
# A program under the shield sets a handler of crashes before it opens its file. The handler is
# called as without the shield: once with SA_RESETHAND, and on the stack that its flags request
# (FAULT-1). The same for both signals that a lost page can raise.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
shielded "$file" 262144
cat >crashes.c <<'END_OF_PROGRAM'
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char room[65536];
static volatile sig_atomic_t calls;

static void crashed(int signal) {
  char here;
  (void)signal;
  if (++calls > 3) _exit(9); /* for ever */
  const int own = (uintptr_t)&here - (uintptr_t)room < sizeof room;
  if (write(1, own ? "own stack\n" : "stack\n", own ? 10 : 6) < 0) _exit(8);
}

int main(int argc, char **argv) {
  const stack_t own = {.ss_sp = room, .ss_size = sizeof room};
  const int bus = strcmp(argv[2], "bus") == 0;
  struct sigaction act = {.sa_handler = &crashed};
  act.sa_flags = (int)SA_RESETHAND | (strcmp(argv[1], "own") == 0 ? SA_ONSTACK : 0);
  if (sigaltstack(&own, NULL) != 0 || sigaction(bus ? SIGBUS : SIGSEGV, &act, NULL) != 0) return 3;
  const int fd = open(argv[argc - 1], O_RDWR);
  char *map = mmap(NULL, 262144, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return 4;
  map[0] = 'x';
  /* Beyond the end of a file, or without access. */
  const int empty = memfd_create("empty", 0);
  char *nowhere = mmap(NULL, 4096, bus ? PROT_WRITE : PROT_NONE, MAP_SHARED, empty, 0);
  if (nowhere == MAP_FAILED) return 5;
  *(volatile char *)nowhere = 1;
  return 6;
}
END_OF_PROGRAM
cc -O1 -D_GNU_SOURCE crashes.c -o crashes
bytes_of 262144 >plain

for signal in segv bus; do
  for stack in own other; do
    wanted='stack'
    [ $stack = other ] || wanted='own stack'
    ./crashes $stack $signal plain >bare.out && fail "the program did not crash" || status=$?
    [ "$(cat bare.out)" = "$wanted" ] || fail "without the shield: $(cat bare.out)"
    [ "$status" = $((128 + $(kill -l $signal))) ] || fail "without the shield: status $status"
    "$scute" shield run "${run_with[@]}" -- ./crashes $stack $signal "$file" >said.out 2>said.err && fail "the program did not crash" || shielded_status=$?
    [ "$(cat said.out)" = "$wanted" ] || fail "$signal, $stack: $(cat said.out said.err)"
    [ "$shielded_status" = "$status" ] || fail "$signal, $stack: status $shielded_status instead of $status"
  done
done
sound "$file"
