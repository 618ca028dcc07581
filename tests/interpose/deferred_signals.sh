#!/usr/bin/env bash
# If a signal arrives while its thread is in a flush or a fence, the handler begins after that.
# Bytes that the handler makes durable and then reports are durable, and it may call every function.
# No information of the kernel about the signal is lost. A program that asks for its handlers gets
# those that it has set (DEFER-1, DEFER-2, DEFER-3, DEFER-4, DEFER-5, DEFER-6, DUR-5).
# SCUTE_TEST_CASES names some of the cases.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
cat >handlers.c <<'C'
// handlers CASE FILE OTHER: persists without a pause while handlers of signals do something.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libpmem.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/wait.h"

enum { size = 1 << 20, wanted = 200, records = 4096, much = 512 * 1024 };
static char *at, *other_at;
static int fd;
static const char *path;
static volatile int turns;
static int last, in_other;

#define must(x) ((x) ? (void)0 : fail(__LINE__, #x))
static void fail(int line, const char *what) {
  dprintf(2, "line %d: %s: %s\n", line, what, strerror(errno));
  _exit(90);
}
static void fail_power(void) {
  kill(getppid(), SIGKILL);
  kill(getpid(), SIGKILL);
}
static void *map(const char *name, int *fd_of) {
  *fd_of = open(name, O_RDWR);
  must(*fd_of >= 0);
  void *const m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd_of, 0);
  must(m != MAP_FAILED);
  return m;
}
// Makes a record durable, and then reports it.
static void report(int signal) {
  (void)signal;
  const int n = ++turns;
  char *const to = (in_other ? other_at : at) + records + 64 * n;
  memcpy(to, &n, sizeof n);
  pmem_persist(to, sizeof n);
  char text[16];
  const int length = snprintf(text, sizeof text, "%d\n", n);
  must(write(1, text, (size_t)length) == length);
  if (n == last) fail_power();
}
// More lines than a list of the runtime's holds, in one piece.
static void store_much(int signal) {
  (void)signal;
  if (++turns < 20) return;
  memset(at + much, 'm', size - much);
  pmem_persist(at + much, size - much);
  puts("reported");
  fflush(stdout);
  fail_power();
}
static void call(int signal) {
  (void)signal;
  const int n = ++turns;
  memcpy(at + records, &n, sizeof n);
  switch (n % 4) {
    case 0: must(fsync(fd) == 0); break;
    case 1: must(msync(at, size, MS_SYNC) == 0); break;
    case 2: {
      const int again = open(path, O_RDWR);
      int seen = 0;
      must(again >= 0 && pread(again, &seen, sizeof seen, records) == sizeof seen && seen == n && close(again) == 0);
      break;
    }
    case 3: {
      void *const more = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
      must(more != MAP_FAILED && munmap(more, 4096) == 0);
    }
  }
}
static pid_t sender;
static void queued(int signal, siginfo_t *info, void *context) {
  sigset_t now;
  must(signal == SIGRTMIN && info->si_signo == SIGRTMIN && info->si_code == SI_QUEUE && info->si_pid == sender && info->si_uid == getuid());
  must(info->si_value.sival_int == turns);
  must(sigprocmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGRTMIN) == 1 && sigismember(&now, SIGUSR2) == 1 && sigismember(&now, SIGUSR1) == 0);
  must(sigismember(&((ucontext_t *)context)->uc_sigmask, SIGRTMIN) == 0 && sigismember(&((ucontext_t *)context)->uc_sigmask, SIGHUP) == 1);
  ++turns;
}
static pthread_t persisting;
static void *queue_to_thread(void *unused) {
  for (int i = 0; i < 20000; ++i)
    while (pthread_sigqueue(persisting, SIGRTMIN, (union sigval){.sival_int = i}) != 0) pause_us(50);
  return unused;
}
static void in_order(int signal, siginfo_t *info, void *context) {
  must(info->si_value.sival_int == turns && signal == SIGRTMIN && context != NULL);
  ++turns;
}
// Two signals of one number are pending at once, and handlers interrupt each other. They run in any
// order, but each with the information that was sent with its signal.
enum { pairs = 5000 };
static char came[2 * pairs];
static void in_any_order(int signal, siginfo_t *info, void *context) {
  const int n = info->si_value.sival_int;
  must(info->si_code == SI_QUEUE && signal == SIGRTMIN && context != NULL && n >= 0 && n < 2 * pairs && !came[n]);
  came[n] = 1;
  __atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST);
}
static void *queue_pairs(void *unused) {
  for (int i = 0; i < 2 * pairs; ++i) {
    must(pthread_sigqueue(persisting, SIGRTMIN, (union sigval){.sival_int = i}) == 0);
    while (i % 2 == 1 && turns <= i) pause_us(10);
  }
  return unused;
}
static void caught(int signal) {
  (void)signal;
  ++turns;
}
static void miscaught(int signal) {
  (void)signal;
  fail(__LINE__, "a child's handler");
}
static sem_t begun;
static volatile int over;
static void *persist_on(void *number) {
  char *const mine = at + 65536 * (1 + (long)number);
  must(sem_post(&begun) == 0);
  while (!over) {
    mine[0] += 1;
    pmem_persist(mine, 1);
  }
  return NULL;
}
static void every(long us) {
  const struct itimerval often = {{0, us}, {0, us}};
  must(setitimer(ITIMER_REAL, &often, NULL) == 0);
}
static void persist_until(int n) {
  const time_t begin = time(NULL);
  while (turns < n && time(NULL) < begin + 300)
    for (int i = 0; i < 60; ++i) {
      at[i * 64] += 1;
      pmem_persist(at + i * 64, 64);
    }
  must(turns >= n);
}
static void when_caught(int signal, void (*with)(int), int flags) {
  struct sigaction act = {.sa_handler = with, .sa_flags = flags};
  must(sigaction(signal, &act, NULL) == 0);
}
static void nobody_waits(void) {
  sigset_t now;
  must(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0);
  for (int s = 1; s < 32; ++s) must(sigismember(&now, s) == 0);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const char *const case_name = argv[1];
  path = argv[2];
  at = map(path, &fd);
  int other;
  other_at = map(argv[3], &other);
  last = -1;
#define CASE(name) if (strcmp(case_name, #name) == 0)
  CASE(reported) {
    last = wanted + getpid() % 50;
    when_caught(SIGALRM, &report, 0);
    every(90);
    persist_until(last);
  }
  CASE(reported_without_room) {  // the kernel has no room to queue a signal's information
    const struct rlimit none = {0, 0};
    must(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    last = wanted;
    when_caught(SIGALRM, &report, 0);
    every(90);
    persist_until(last);
  }
  CASE(reported_of_other) {
    last = wanted, in_other = 1;
    when_caught(SIGALRM, &report, SA_NODEFER);
    every(150);
    persist_until(last);
  }
  CASE(much) {
    when_caught(SIGALRM, &store_much, 0);
    every(90);
    persist_until(1000000);
  }
  CASE(calls) {
    when_caught(SIGALRM, &call, 0);
    every(200);
    persist_until(wanted);
    every(0);
    nobody_waits();
  }
  CASE(queued) {
    struct sigaction act = {.sa_sigaction = &queued, .sa_flags = SA_SIGINFO};
    sigaddset(&act.sa_mask, SIGUSR2);
    must(sigaction(SIGRTMIN, &act, NULL) == 0);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGHUP);
    sigaddset(&one, SIGRTMIN);
    must(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
    const pid_t self = getpid();
    sender = fork();
    if (sender == 0) {
      for (int i = 0; i < 3000; ++i) {
        while (sigqueue(self, SIGRTMIN, (union sigval){.sival_int = i}) != 0) must(errno == EAGAIN);
        if (i % 7 == 0) pause_us(20);
      }
      _exit(0);
    }
    sigdelset(&one, SIGHUP);
    must(sigprocmask(SIG_UNBLOCK, &one, NULL) == 0);
    persist_until(3000);
    must(turns == 3000 && waitpid(sender, NULL, 0) == sender);
  }
  CASE(queued_to_thread) {
    struct sigaction act = {.sa_sigaction = &in_order, .sa_flags = SA_SIGINFO};
    must(sigaction(SIGRTMIN, &act, NULL) == 0);
    persisting = pthread_self();
    pthread_t other_thread;
    must(pthread_create(&other_thread, NULL, &queue_to_thread, NULL) == 0);
    persist_until(20000);
    must(turns == 20000 && pthread_join(other_thread, NULL) == 0);
    nobody_waits();
  }
  CASE(queued_in_pairs) {
    struct sigaction act = {.sa_sigaction = &in_any_order, .sa_flags = SA_SIGINFO | SA_NODEFER};
    must(sigaction(SIGRTMIN, &act, NULL) == 0);
    persisting = pthread_self();
    pthread_t other_thread;
    must(pthread_create(&other_thread, NULL, &queue_pairs, NULL) == 0);
    persist_until(2 * pairs);
    must(turns == 2 * pairs && pthread_join(other_thread, NULL) == 0);
    nobody_waits();
  }
  CASE(threads) {
    pthread_t all[3];
    must(sem_init(&begun, 0, 0) == 0);
    when_caught(SIGUSR1, &caught, 0);
    for (long i = 0; i < 3; ++i) must(pthread_create(&all[i], NULL, &persist_on, (void *)i) == 0);
    for (int i = 0; i < 3; ++i) must(sem_wait(&begun) == 0);
    for (int i = 0; i < 3000; ++i) {
      const int before = turns;
      must(pthread_kill(all[i % 3], SIGUSR1) == 0);
      WAIT_UNTIL(turns != before);
    }
    over = 1;
    for (int i = 0; i < 3; ++i) must(pthread_join(all[i], NULL) == 0);
  }
  CASE(vfork) {
    when_caught(SIGUSR1, &caught, 0);
    const pid_t child = vfork();
    if (child == 0) {
      signal(SIGUSR1, &miscaught);
      _exit(0);
    }
    must(waitpid(child, NULL, 0) == child && raise(SIGUSR1) == 0 && turns == 1);
    const pid_t forked = fork();
    if (forked == 0) {
      signal(SIGUSR1, &miscaught);
      signal(SIGUSR1, &caught);
      must(raise(SIGUSR1) == 0 && turns == 2);
      _exit(0);
    }
    int status = 0;
    must(waitpid(forked, &status, 0) == forked && status == 0);
  }
  // Queries, and each way to set a handler, have the same results as without the shield.
  CASE(asked) {
    struct sigaction old, act = {.sa_handler = &caught, .sa_flags = SA_RESTART};
    sigaddset(&act.sa_mask, SIGUSR2);
#define SHOW(s)                                                                                                                       \
  (sigaction(s, NULL, &old) == 0 ? printf("%d: %s %x %d%d\n", (s) == SIGRTMIN ? 34 : (s), old.sa_handler == SIG_DFL ? "default" : old.sa_handler == SIG_IGN ? "ignored" \
         : old.sa_handler == &caught ? "caught" : old.sa_sigaction == &queued ? "queued" : "another", old.sa_flags & ~0x04000000, sigismember(&old.sa_mask, SIGUSR1), sigismember(&old.sa_mask, SIGUSR2)) \
                                 : printf("%d: %s\n", s, strerror(errno)))
    must(sigaction(SIGUSR1, &act, &old) == 0 && old.sa_handler == SIG_DFL);
    SHOW(SIGUSR1);
    must(sigaction(SIGUSR1, &act, &act) == 0 && act.sa_handler == &caught && act.sa_flags % 0x04000000 == SA_RESTART % 0x04000000);
    act.sa_sigaction = &queued, act.sa_flags = SA_SIGINFO | SA_ONSTACK;
    must(sigaction(SIGRTMIN, &act, NULL) == 0);
    SHOW(SIGRTMIN);
    act.sa_handler = &caught, act.sa_flags = (int)SA_RESETHAND;
    must(sigaction(SIGUSR2, &act, NULL) == 0);
    SHOW(SIGUSR2);
    raise(SIGUSR2);
    SHOW(SIGUSR2);
    printf("%d\n", turns);
    printf("%d %d %d\n", signal(SIGUSR2, &caught) == SIG_DFL, signal(SIGUSR2, SIG_IGN) == &caught, signal(SIGUSR2, &caught) == SIG_IGN);
    SHOW(SIGUSR2);
    siginterrupt(SIGUSR2, 1);
    SHOW(SIGUSR2);
    signal(SIGUSR2, &caught);
    SHOW(SIGUSR2);
    siginterrupt(SIGUSR2, 0);
    SHOW(SIGUSR2);
    signal(SIGUSR2, &caught);
    SHOW(SIGUSR2);
    printf("%d\n", sysv_signal(SIGUSR2, &caught) == &caught);
    SHOW(SIGUSR2);
    raise(SIGUSR2);
    SHOW(SIGUSR2);
    printf("%d\n", turns);
    printf("%d\n", sigset(SIGHUP, &caught) == SIG_DFL);
    printf("%d\n", sigset(SIGHUP, SIG_HOLD) == &caught);
    printf("%d\n", sigset(SIGHUP, SIG_HOLD) == SIG_HOLD);
    raise(SIGHUP);
    printf("%d\n", turns);
    printf("%d\n", sigset(SIGHUP, &caught) == SIG_HOLD);
    printf("%d\n", turns);
    SHOW(SIGHUP);
    for (int s = 0; s < 70; s += s == 0 ? 9 : s == 9 ? 23 : s == 32 ? 33 : 5) {
      errno = 0;
      printf("%d: ", s);
      printf("%d ", signal(s, &caught) == SIG_ERR);
      printf("%d ", sigaction(s, &act, NULL));
      printf("%d ", sigaction(s, NULL, &old));
      printf("%d %d\n", sigset(s, SIG_HOLD) == SIG_ERR, errno);
    }
    printf("%d %d\n", signal(SIGUSR1, SIG_ERR) == SIG_ERR, errno);
    SHOW(SIGUSR1);
    // The kernel's own record of the handler, set again by the program.
    must(sigaction(SIGUSR1, NULL, &old) == 0);
    char raw[32];
    must(syscall(13, SIGUSR1, NULL, raw, 8) == 0 && syscall(13, SIGUSR1, raw, NULL, 8) == 0);
    turns = 0;
    raise(SIGUSR1);
    printf("%d\n", turns);
    // For signals that an instruction raises, the kernel has the program's own handler as well.
    for (const int *s = (const int[]){SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, 0}; *s != 0; ++s) {
      void *first;
      signal(*s, &caught);
      must(syscall(13, *s, NULL, raw, 8) == 0);
      memcpy(&first, raw, sizeof first);
      printf("%d\n", first == (void *)&caught);
    }
    signal(SIGALRM, &caught);
    every(2000);
    char byte;
    int pipes[2];
    must(pipe(pipes) == 0);
    siginterrupt(SIGALRM, 1);
    printf("%zd", read(pipes[0], &byte, 1));
    printf(" %d\n", errno == EINTR);
  }
  every(0);
  puts("done");
  return 0;
}
C
cat >transacts.c <<'C'
// transacts FILE N: a transaction that has no end, and a handler that makes records durable and
// reports them. The power fails after the Nth.
#include <libpmemobj.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static PMEMobjpool *pool;
static char *at;
static volatile int turns;
static int last;
static void report(int signal) {
  const int n = ++turns;
  memcpy(at + 4096 + 64 * n, &n, sizeof n);
  pmemobj_persist(pool, at + 4096 + 64 * n, sizeof n);
  char text[16];
  const int length = snprintf(text, sizeof text, "%d\n", n);
  if (write(1, text, length) != length) _exit(91);
  if (n < last) return;
  kill(getppid(), SIGKILL);
  kill(getpid(), SIGKILL);
}
int main(int argc, char **argv) {
  last = argc > 2 ? atoi(argv[2]) : 0;
  pool = last == 0 ? pmemobj_create(argv[1], "handlers", 16 << 20, 0600) : pmemobj_open(argv[1], "handlers");
  if (pool == NULL) return fprintf(stderr, "%s\n", pmemobj_errormsg()), 3;
  const PMEMoid root = pmemobj_root(pool, 65536);
  at = pmemobj_direct(root);
  if (last == 0) {
    printf("%lu\n", root.off);
    pmemobj_close(pool);
    return 0;
  }
  struct sigaction act = {.sa_handler = &report};
  sigaction(SIGALRM, &act, NULL);
  TX_BEGIN(pool) {
    pmemobj_tx_add_range(root, 0, 4096);
    const struct itimerval often = {{0, 70}, {0, 70}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0;; ++i) ++*(volatile long *)(at + i % 64 * 64);
  }
  TX_END
}
C
cc -O1 -w -I "$SCUTE_SOURCE_DIR/tests" -o handlers handlers.c -lpmem -lpthread || fail "cc"
cc -O1 -w -o transacts transacts.c -lpmemobj || fail "cc"
export PMEM_IS_PMEM_FORCE=1
cases=${SCUTE_TEST_CASES:-reported reported_in_window reported_without_room reported_of_other much calls queued queued_to_thread queued_in_pairs threads vfork asked}
is_wanted() { [[ " $cases " == *" $1 "* ]]; }

fresh() {
  rm -f "$file"*
  shielded "$file" 1048576
  shielded "$file.other" 1048576
}
# The power fails after a handler has reported a record.
fails() {
  fresh
  status=0
  { timeout -k 1 $((3 * wait_seconds)) "$scute" shield run --unflushed drop "${@:2}" -- ./handlers "$1" "$file" "$file.other" >out 2>err || status=$?; } 2>/dev/null
  [ "$status" = 137 ] || fail "$*: status $status: $(cat err)"
  cp out reported
  checked 0 "$file"
  checked 0 "$file.other"
}
# in_file FILE AT: the file contains all records that were reported.
in_file() {
  "$scute" shield run -- cat "$1" >seen
  python3 - "${2:-0}" <<'P' || fail "$case_name: a record that was reported is not in the file"
import struct, sys
reported = [int(x) for x in open("reported").read().split()]
seen = open("seen", "rb").read()
at = 4096 + int(sys.argv[1])
bad = [n for n in reported if struct.unpack_from("<i", seen, at + 64 * n)[0] != n]
print(len(reported), "reported,", "lost:", bad)
sys.exit(1 if bad or len(reported) < 100 else 0)
P
}
for options in "" "--windows off"; do
  for case_name in reported reported_without_room reported_of_other; do
    is_wanted $case_name || continue
    for _ in 1 2 3; do
      # shellcheck disable=SC2086
      fails $case_name $options
      if [ $case_name = reported_of_other ]; then in_file "$file.other"; else in_file "$file"; fi
    done
  done
done
if is_wanted reported_in_window; then
  case_name=reported_in_window
  for n in 100 113 127; do
    rm -f "$file"*
    expect 0 ./transacts "$file"
    root=$(cat out)
    expect 0 "$scute" shield add "$file"
    status=0
    { timeout -k 1 $((3 * wait_seconds)) "$scute" shield run --unflushed drop -- ./transacts "$file" $n >out 2>err || status=$?; } 2>/dev/null
    [ "$status" = 137 ] || fail "$case_name: status $status: $(cat err)"
    cp out reported
    checked 0 "$file"
    in_file "$file" "$root"
  done
fi
if is_wanted much; then
  fails much
  "$scute" shield run -- cat "$file" >seen
  [ "$(tail -c 524288 seen | tr -d m | wc -c)" = 0 ] || fail "much: not all of it"
fi
for case_name in calls queued queued_to_thread queued_in_pairs threads vfork; do
  is_wanted $case_name || continue
  fresh
  expect 0 timeout -k 1 $((3 * wait_seconds)) "$scute" shield run -- ./handlers $case_name "$file" "$file.other"
  in_out '^done$'
  sound "$file"
done
if is_wanted asked; then
  fresh
  bytes_of 1048576 >plain
  cp plain other
  expect 0 ./handlers asked plain other
  cp out wanted
  expect 0 timeout -k 1 $((3 * wait_seconds)) "$scute" shield run -- ./handlers asked "$file" "$file.other"
  diff wanted out || fail "asked: other answers than without the shield"
fi
