#!/usr/bin/env bash
# Forks at the beginning and at the end of a program. If a library's constructor or destructor
# forks, the child sees what its parent sees, with --page-in as well (FORK-1). The end of the
# process waits for a fork that is under way on another thread, and does not hang (FORK-2, PROC-6).
# A file whose forks could not be handled is not opened (FORK-1).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
pages=64
# A library that the program needs: its constructor runs before the runtime's, its destructor after.
cat >early.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/pass_through_call.h"
#include "support/wait.h"

enum { page = 4096, size = 64 * page };
volatile int fork_is_under_way;
static const char *how;
static char *at;

static void must(int good) {
  if (!good) _exit(90);
}
char *early_map(void) {
  const int fd = open(getenv("FORKS_FILE"), O_RDWR);
  must(fd >= 0);
  at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(at != MAP_FAILED && close(fd) == 0);
  return at;
}
// There is no memory for the handlers that stay, first in the runtime's constructor and then at the
// first opening.
int refusals_left = 2;
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void),
                      void *library) {
  int (*next)(void (*)(void), void (*)(void), void (*)(void), void *);
  const char *const what = getenv("FORKS_HOW");
  if (library == NULL && what != NULL && strcmp(what, "refused") == 0 && refusals_left-- > 0)
    return ENOMEM;
  *(void **)&next = dlsym(RTLD_NEXT, "__register_atfork");
  must(next != NULL);
  return next(before, parent, child, library);
}
void early_refused(void) {
  must(refusals_left == 1);
  must(open(getenv("FORKS_FILE"), O_RDWR) == -1 && errno == ENOMEM);
  must(refusals_left == 0);
}
// A child that has all pages.
static void fork_here(void) {
  const pid_t child = fork();
  must(child >= 0);
  if (child == 0) {
    for (int i = 0; i < size / page; ++i)
      if (atoi(at + i * page) != i || at[i * page + 15] != '\n') _exit(91);
    _exit(0);
  }
  int status = 1;
  must(waitpid(child, &status, 0) == child);
  static const char good[] = "child sees all\n", bad[] = "child sees zeros\n";
  must(status == 0 ? write(1, good, sizeof good - 1) > 0 : write(1, bad, sizeof bad - 1) > 0);
}
static int main_thread_sleeps(void) {
  char name[64], text[64] = "";
  snprintf(name, sizeof name, "/proc/self/task/%d/syscall", getpid());
  const long fd = called(SYS_openat, AT_FDCWD, (long)name, O_RDONLY, 0);
  must(fd >= 0);
  called(SYS_read, fd, (long)text, sizeof text - 1, 0);
  called(SYS_close, fd, 0, 0, 0);
  return atoi(text) == SYS_futex;
}
// Registered before the runtime's handlers, so it runs when these have taken their locks.
static void before_fork(void) {
  if (how == NULL || (strcmp(how, "exit") != 0 && strcmp(how, "pool") != 0)) return;
  fork_is_under_way = 1;
  WAIT_UNTIL(main_thread_sleeps());
}
__attribute__((constructor)) static void begin(void) {
  how = getenv("FORKS_HOW");
  must(pthread_atfork(before_fork, NULL, NULL) == 0);
  if (how == NULL || strcmp(how, "constructor") != 0) return;
  early_map();
  fork_here();
}
void (*at_the_end)(void);
__attribute__((destructor)) static void end(void) {
  if (at_the_end != NULL) at_the_end();
  if (how != NULL && strcmp(how, "destructor") == 0) fork_here();
}
C
cat >forks.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/wait.h"

char *early_map(void);
void early_refused(void);
extern volatile int fork_is_under_way;

static void *forks(void *unused) {
  if (fork() == 0) _exit(0);
  return unused;
}
int main(void) {
  const char *how = getenv("FORKS_HOW");
  if (strcmp(how, "constructor") == 0) return 0;
  if (strcmp(how, "refused") == 0) early_refused();
  char *at = early_map();
  if (strcmp(how, "exit") == 0) {
    pthread_t thread;
    memcpy(at + 100, "stored", 6);
    if (pthread_create(&thread, NULL, forks, NULL) != 0) return 92;
    WAIT_UNTIL(fork_is_under_way);
  }
  return 0;
}
C
# The library that it uses is finalized before libearly, which closes the pool.
cat >pooled.c <<'C'
#include <pthread.h>
#include <scute/scute.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/wait.h"

extern void (*at_the_end)(void);
extern volatile int fork_is_under_way;
static scute_pool *pool;

static void *forks(void *unused) {
  if (fork() == 0) _exit(0);
  return unused;
}
static void close_pool(void) {
  if (scute_close(pool) != SCUTE_OK) _exit(93);
}
int main(void) {
  pthread_t thread;
  scute_options options;
  scute_options_init(&options);
  options.size = 4 << 20;
  if (scute_create(getenv("FORKS_FILE"), &options, &pool) != SCUTE_OK) return 94;
  at_the_end = close_pool;
  if (pthread_create(&thread, NULL, forks, NULL) != 0) return 92;
  WAIT_UNTIL(fork_is_under_way);
  return 0;
}
C
cc -O1 -I "$SCUTE_SOURCE_DIR/tests" -shared -fPIC -pthread -o libearly.so early.c || fail "cc"
cc -O1 -I "$SCUTE_SOURCE_DIR/tests" -pthread -o forks forks.c -L. -learly -Wl,-rpath,"$PWD" || fail "cc"
cc -O1 -I "$SCUTE_SOURCE_DIR/tests" -I "$SCUTE_SOURCE_DIR/include" -pthread -o pooled pooled.c \
  -L"$SCUTE_BINARY_DIR/lib" -lscute -L. -learly -Wl,-rpath,"$PWD:$SCUTE_BINARY_DIR/lib" || fail "cc"

FORKS_HOW=pool FORKS_FILE=$pools/pool expect 0 timeout -k 1 "$wait_seconds" ./pooled
expect 0 "$scute" check "$pools/pool"

for options in "" --page-in; do
  for how in exit constructor destructor refused; do
    numbered "$file" "$pages"
    cp "$file" wanted
    # shellcheck disable=SC2086
    FORKS_HOW=$how FORKS_FILE=$file expect 0 timeout -k 1 "$wait_seconds" \
      "$scute" shield run $options -- ./forks
    case $how in
      refused) ;;
      exit) printf stored | dd of=wanted bs=1 seek=100 conv=notrunc status=none ;;
      *) in_out '^child sees all$' ;;
    esac
    cmp "$file" wanted || fail "$options $how: other bytes"
    sound "$file"
  done
done
