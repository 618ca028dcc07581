#!/usr/bin/env bash
# Handlers leave a flush or a fence by siglongjmp(), longjmp() or exit(). Bytes that are made
# durable after that are durable. Syncs and the end of the program wait for no thread, as without
# the shield (LEAVE-1, LEAVE-2, LEAVE-3). Handlers that the C library sets begin after the call
# (DEFER-1), so with HANDLERS=raw the program sets them by its own system call.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
cat >jumps.c <<'C'
// jumps HOW FILE: persists without a pause while handlers jump out of it, and then five records
// more. `fail` at the end: the power fails there: it kills its parent, which holds the view, and
// itself.
#define _GNU_SOURCE
#include <fcntl.h>
#include <libpmem.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pass_through_handler.h"

enum { wanted = 300, size = 65536 };
static sigjmp_buf out;
static jmp_buf plainly;
static char *at;
static volatile int armed, jumps, stays, by_longjmp, inner, exits, forks;

static void must(int good) {
  if (!good) _exit(90);
}
static void handle(int signal) {
  must(gettid() == getpid());
  if (stays) {  // a jump within the handler
    sigjmp_buf here;
    volatile int turns = 0;
    if (sigsetjmp(here, 1) < 3) {
      ++turns;
      siglongjmp(here, turns + 1);
    }
    ++jumps;
    return;
  }
  if (inner && signal == SIGALRM) {  // a handler that makes its own, and is interrupted
    at[9000] += 1;
    pmem_persist(at + 9000, 1);
    return;
  }
  if (forks) {  // a child that ends there, by exit() or a jump
    if (jumps++ >= 20) return;
    const pid_t child = fork();
    if (child == 0 && jumps % 2 == 0) exit(3);
    if (child == 0) siglongjmp(out, 1);
    int status = 0;
    must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return;
  }
  if (exits && ++jumps >= 20) {
    at[20000] = 'x';
    pmem_persist(at + 20000, 1);
    exit(7);
  }
  if (!armed) return;
  armed = 0;
  ++jumps;
  if (by_longjmp) longjmp(plainly, 1);
  siglongjmp(out, 1);
}
static int set_handler(int signal, const struct sigaction *act) {
  return getenv("HANDLERS") != NULL ? set_pass_through(signal, act) : sigaction(signal, act, NULL);
}
static void at_exit(void) {
  memcpy(at + 30000, "at exit", 7);
  puts("at exit");
}
static void every(int which, long us) {
  const struct itimerval often = {{0, us}, {0, us}};
  setitimer(which, &often, NULL);
}

int main(int argc, char **argv) {
  const char *const how = argv[1];
  const int fails = argc == 4 && strcmp(argv[3], "fail") == 0;
  stays = strcmp(how, "stays") == 0;
  by_longjmp = strcmp(how, "longjmp") == 0;
  inner = strcmp(how, "inner") == 0;
  exits = strcmp(how, "exits") == 0;
  forks = strcmp(how, "forks") == 0;
  const pid_t self = getpid();
  const int disarmed = strcmp(how, "disarmed") == 0, own_stack = disarmed || strcmp(how, "own_stack") == 0;
  const int fd = open(argv[2], O_RDWR);
  must(fd >= 0);
  at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(at != MAP_FAILED);
  stack_t stack = {malloc(1 << 16), disarmed ? (int)(1U << 31) : 0, 1 << 16};  // SS_AUTODISARM
  if (own_stack) must(sigaltstack(&stack, NULL) == 0);
  struct sigaction act = {.sa_handler = handle, .sa_flags = own_stack ? SA_ONSTACK : 0};
  if (inner) act.sa_flags |= SA_NODEFER;
  must(set_handler(SIGALRM, &act) == 0 && set_handler(SIGVTALRM, &act) == 0);
  every(ITIMER_REAL, 90);
  if (inner) every(ITIMER_VIRTUAL, 110);
  if (exits) atexit(at_exit);
  const time_t begin = time(NULL);
  while (jumps < (forks ? 20 : wanted) && time(NULL) < begin + 300) {
    if (by_longjmp ? setjmp(plainly) != 0 : sigsetjmp(out, 1) != 0) {
      if (by_longjmp) {  // the signal is still blocked
        sigset_t these;
        sigemptyset(&these);
        must(sigprocmask(SIG_SETMASK, NULL, &these) == 0 && sigismember(&these, SIGALRM) == 1);
        sigdelset(&these, SIGALRM);
        must(sigprocmask(SIG_SETMASK, &these, NULL) == 0);
      } else {
        sigset_t now;
        must(sigprocmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGALRM) == 0);
      }
      if (getpid() != self) exit(3);
      continue;
    }
    armed = 1;
    for (int i = 0; i < 200; ++i) {
      at[i * 64] += 1;
      pmem_persist(at + i * 64, 64);
    }
  }
  armed = 0;
  every(ITIMER_REAL, 0);
  every(ITIMER_VIRTUAL, 0);
  for (int i = 0; i < 5; ++i) {
    memcpy(at + 20000 + 4096 * i, "lasting", 7);
    pmem_persist(at + 20000 + 4096 * i, 7);
  }
  printf("%s\n", jumps >= (forks ? 20 : wanted) ? "many jumps" : "few jumps");
  fflush(stdout);
  if (fails) {
    kill(getppid(), SIGKILL);
    kill(getpid(), SIGKILL);
  }
  must(fsync(fd) == 0 && msync(at, size, MS_SYNC) == 0);
  puts("synced");
  return 0;
}
C
cc -O1 -Wno-clobbered -I "$SCUTE_SOURCE_DIR/tests/interpose" -o jumps jumps.c -lpmem || fail "cc"

lasting() { grep -ao lasting "$1" | wc -l; }
export PMEM_IS_PMEM_FORCE=1
export HANDLERS=raw
for options in "" "--windows off"; do
  for how in siglongjmp longjmp own_stack disarmed stays inner; do
    shielded "$file" 65536
    # shellcheck disable=SC2086
    expect 0 timeout -k 1 $((3 * wait_seconds)) "$scute" shield run $options -- ./jumps "$how" "$file"
    in_out '^many jumps$'
    in_out '^synced$'
    [ "$(lasting "$file")" = 5 ] || fail "$how: $(lasting "$file") records"
    sound "$file"
    [ -z "$options" ] || continue
    shielded "$file" 65536
    status=0
    timeout -k 1 $((3 * wait_seconds)) "$scute" shield run --unflushed drop -- ./jumps "$how" "$file" fail >out 2>err || status=$?
    [ "$status" = 137 ] || fail "$how, power failure: status $status"
    in_out '^many jumps$'
    checked 0 "$file"
    "$scute" shield run -- cat "$file" >seen
    [ "$(lasting seen)" = 5 ] || fail "$how, power failure: $(lasting seen) records"
    sound "$file"
  done
done

for turn in 1 2 3 4 5 6 7 8; do
  [ $turn != 7 ] || unset HANDLERS
  options=()
  [ $((turn % 2)) = 0 ] || options=(--windows off)
  shielded "$file" 65536
  expect 7 timeout -k 1 $((3 * wait_seconds)) "$scute" shield run "${options[@]}" -- ./jumps exits "$file"
  equal "$(cat out)" 'at exit'
  equal "$(dd if="$file" bs=1 skip=20000 count=1 status=none)" x
  equal "$(dd if="$file" bs=1 skip=30000 count=7 status=none)" 'at exit'
  sound "$file"
done
for how in siglongjmp longjmp own_stack disarmed stays inner forks; do
  shielded "$file" 65536
  expect 0 timeout -k 1 $((3 * wait_seconds)) "$scute" shield run -- ./jumps "$how" "$file"
  in_out '^many jumps$'
  [ "$(lasting "$file")" = 5 ] || fail "$how, set by the C library: $(lasting "$file") records"
  sound "$file"
done
