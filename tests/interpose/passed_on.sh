#!/usr/bin/env bash
# A program under the shield sets a handler of crashes before it opens its file. The handler is
# called as without the shield: once with SA_RESETHAND, and on the stack that its flags request
# (FAULT-1).
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
  struct sigaction act = {.sa_handler = &crashed};
  act.sa_flags = (int)SA_RESETHAND | (strcmp(argv[1], "own") == 0 ? SA_ONSTACK : 0);
  if (sigaltstack(&own, NULL) != 0 || sigaction(SIGSEGV, &act, NULL) != 0) return 3;
  const int fd = open(argv[argc - 1], O_RDWR);
  char *map = mmap(NULL, 262144, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return 4;
  map[0] = 'x';
  char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (nowhere == MAP_FAILED) return 5;
  *(volatile char *)nowhere = 1;
  return 6;
}
END_OF_PROGRAM
cc -O1 -D_GNU_SOURCE crashes.c -o crashes
bytes_of 262144 >plain

for stack in own other; do
  wanted='stack'
  [ $stack = other ] || wanted='own stack'
  ./crashes $stack plain >bare.out && fail "the program did not crash" || status=$?
  [ "$(cat bare.out)" = "$wanted" ] || fail "without the shield: $(cat bare.out)"
  "$scute" shield run "${run_with[@]}" -- ./crashes $stack "$file" >said.out 2>said.err && fail "the program did not crash" || shielded_status=$?
  [ "$(cat said.out)" = "$wanted" ] || fail "$stack: $(cat said.out said.err)"
  [ "$shielded_status" = "$status" ] || fail "$stack: status $shielded_status instead of $status"
done
sound "$file"
