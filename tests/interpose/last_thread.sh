#!/usr/bin/env bash
# A program ends with its last thread, whichever that is and however it ends (LAST-1). The runtime's
# own threads do not count (LAST-2). After the end of the main thread, the shield protects the
# changes of the others as before (LAST-3).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
cat >last.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/wait.h"

static const char *file;
static pthread_t first;

static void must(int good) {
  if (!good) _exit(90);
}
static void main_has_ended(void) {
  char name[64], state[400] = "";
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", getpid());
  do {
    pause_us(1000);
    int stat = open(name, O_RDONLY);
    must(stat >= 0 && read(stat, state, sizeof state - 1) > 0 && close(stat) == 0);
  } while (strrchr(state, ')')[2] != 'Z');
}
static char *mapped(void) {
  int fd = open(file, O_RDWR);
  must(fd >= 0);
  char *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(at != MAP_FAILED && close(fd) == 0);
  return at;
}
static void *sleeps(void *unused) {
  (void)unused;
  main_has_ended();
  puts("slept");
  return NULL;
}
static void *rests(void *unused) {
  (void)unused;
  pause_us(1000);
  puts("rested");
  return NULL;
}
static void *stores(void *at) {
  main_has_ended();
  memcpy((char *)at + 5000, "late", 4);
  puts("stored");
  return NULL;
}
static void *opens(void *unused) {
  (void)unused;
  main_has_ended();
  char *at = mapped();
  must(memcmp(at, "what", 4) == 0);
  memcpy(at + 5000, "late", 4);
  must(msync(at, 65536, MS_SYNC) == 0);
  int fd = open(file, O_RDWR), again = dup(fd);
  struct iovec parts[] = {{"la", 2}, {"ter", 3}};
  must(pwritev(again, parts, 2, 9000) == 5 && fsync(fd) == 0);
  puts("opened");
  return NULL;
}
static void *waits(void *unused) {
  (void)unused;
  must(pthread_join(first, NULL) == 0);
  puts("joined");
  return NULL;
}
static void *exits(void *unused) {
  (void)unused;
  main_has_ended();
  exit(7);
}
static void *is_cancelled(void *unused) {
  (void)unused;
  for (;;) pause();
}
static void *cancels(void *other) {
  must(pthread_cancel((pthread_t)other) == 0);
  puts("cancelled");
  return NULL;
}
static void *stays(void *unused) {
  (void)unused;
  main_has_ended();
  puts("stays");
  fflush(stdout);
  for (;;) pause();
}
static void *ends_by_call(void *unused) {
  (void)unused;
  main_has_ended();
  syscall(SYS_exit, 4);
  return NULL;
}
static void at_exit(void) { puts("at exit"); }

static pthread_t begun(void *(*f)(void *), void *argument) {
  pthread_t thread;
  must(pthread_create(&thread, NULL, f, argument) == 0);
  return thread;
}

int main(int argc, char **argv) {
  const char *how = argv[1];
  file = argv[argc - 1];
  first = pthread_self();
  atexit(at_exit);
  char *at = strcmp(how, "opens") == 0 ? NULL : mapped();
  if (at != NULL) memcpy(at + 100, "early", 5);
  if (strcmp(how, "alone") == 0) pthread_exit((void *)1);
  if (strcmp(how, "by_call") == 0) syscall(SYS_exit, 5);
  if (strcmp(how, "last_by_call") == 0) begun(ends_by_call, NULL);
  if (strcmp(how, "first_by_call") == 0) {
    begun(stores, at);
    syscall(SYS_exit, 6);
  }
  if (strcmp(how, "sleeps") == 0) begun(sleeps, NULL);
  if (strcmp(how, "first") == 0) pthread_join(begun(rests, NULL), NULL);
  if (strcmp(how, "detached") == 0) pthread_detach(begun(stores, at));
  if (strcmp(how, "many") == 0)
    for (int i = 0; i < 8; ++i) begun(sleeps, NULL);
  if (strcmp(how, "stores") == 0) begun(stores, at);
  if (strcmp(how, "opens") == 0) begun(opens, NULL);
  if (strcmp(how, "joins") == 0) begun(waits, NULL);
  if (strcmp(how, "exits") == 0) begun(exits, NULL);
  if (strcmp(how, "stays") == 0) begun(stays, NULL);
  if (strcmp(how, "other") == 0) begun(cancels, (void *)begun(is_cancelled, NULL));
  if (strcmp(how, "main") == 0) {
    begun(cancels, (void *)first);
    for (;;) pause();
  }
  if (strcmp(how, "child") == 0) {
    pid_t child = fork();
    if (child == 0) {
      begun(sleeps, NULL);
      pthread_exit(NULL);
    }
    int status = 1;
    must(waitpid(child, &status, 0) == child && status == 0);
  }
  pthread_exit(NULL);
}
C
cc -O1 -I "$SCUTE_SOURCE_DIR/tests" -pthread -o last last.c || fail "cc"

for options in "" --page-in; do
  shielded "$file" 100000
  for how in alone by_call last_by_call first_by_call sleeps first detached many stores joins exits other main child opens; do
    cp "$file" plain
    plain=0
    timeout "$wait_seconds" ./last "$how" plain | sort >plain.out || plain=${PIPESTATUS[0]}
    # shellcheck disable=SC2086
    expect "$plain" timeout -k 1 "$wait_seconds" "$scute" shield run $options -- ./last "$how" "$file"
    sort out | cmp - plain.out || fail "$how: other words: $(cat out)"
    cmp plain "$file" || fail "$how: other bytes"
    silent
    checked 0 "$file"
  done
  # Signals reach the threads that there are.
  : >stays.out
  # shellcheck disable=SC2086
  "$scute" shield run $options -- timeout "$wait_seconds" ./last stays "$file" >stays.out 2>err &
  supervisor=$!
  until_said stays stays.out "$supervisor"
  kill -TERM "$supervisor" || true
  status=0
  wait "$supervisor" || status=$?
  [ "$status" != 0 ] && [ "$status" != 124 ] && [ "$status" != 137 ] || fail "stays: status $status"
  sound "$file"
done
