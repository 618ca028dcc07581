#!/usr/bin/env bash
# A program dies, and the supervisor then writes back what it has left (crash writeback). Until that
# ends, no program of another run and no command has the file (SUPLOCK-1, SUPLOCK-2, SUPLOCK-3). A
# descriptor that has outlived its view does not change the length, since no supervisor would
# process that (SUPER-4).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
cat >stores.c <<'C'
// stores FILE: stores words at 0 and 4096 through a mapping, which nothing flushes, and writes one
// at 16384 by a call. Then it waits.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
  const int fd = open(argv[1], O_RDWR);
  long *const m = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || m == MAP_FAILED) return perror("open"), 1;
  const long last = 3333;
  m[0] = m[512] = 1111;
  if (pwrite(fd, &last, sizeof last, 16384) != sizeof last) return 2;
  puts("stored");
  fflush(stdout);
  pause();
  return argc;
}
C
cat >reads.c <<'C'
// reads FILE: the same words; then it writes two, and makes them durable. Status 16: busy.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  const int fd = open(argv[1], O_RDWR);
  if (fd < 0) return errno == EBUSY ? 16 : argc;
  long a, b, c;
  const long mine = 2222;
  pread(fd, &a, sizeof a, 0);
  pread(fd, &b, sizeof b, 4096);
  pread(fd, &c, sizeof c, 16384);
  pwrite(fd, &mine, sizeof mine, 0);
  pwrite(fd, &mine, sizeof mine, 8192);
  printf("%ld %ld %ld %d\n", a, b, c, fsync(fd));
  return close(fd);
}
C
for p in stores reads; do cc -O1 -w -o $p $p.c || fail "cc $p"; done
word() { od -An -td8 -j "$1" -N8 "$file" | tr -d ' '; }

# The supervisor is stopped, so the program is dead and nothing written back for as long as we like.
for ends in writes_back dies; do
  shielded "$file" 262144
  before="$(word 0) $(word 4096) $(word 16384)"
  mkfifo pipe
  "$scute" shield run -- ./stores "$file" >pipe 2>err.stores &
  supervisor=$!
  read -r line <pipe
  equal "$line" stored
  program=$(child_of $supervisor)
  kill -STOP $supervisor
  kill -KILL "$program"
  wait_until gone "$program"
  for _ in 1 2 3; do
    expect 16 timeout "$wait_seconds" "$scute" shield run -- ./reads "$file"
    in_err 'shield run'
  done
  expect 5 timeout "$wait_seconds" "$scute" shield check "$file"
  in_err 'in use by a .scute shield run'
  expect 5 timeout "$wait_seconds" "$scute" shield remove "$file"
  expect 5 timeout "$wait_seconds" "$scute" info "$file.scute"
  if [ $ends = writes_back ]; then
    kill -CONT $supervisor
    wait $supervisor || true
    expect 0 "$scute" shield run -- ./reads "$file"
    equal "$(cat out)" '1111 1111 3333 0'
  else  # as in a power failure
    kill -KILL $supervisor
    wait $supervisor || true
    checked "0 1" "$file"
    expect 0 "$scute" shield run -- ./reads "$file"
    equal "$(cat out)" "$before 0"
  fi
  equal "$(word 0) $(word 8192)" '2222 2222'
  sound "$file"
  rm pipe
done

# Many runs, one after the other, whose programs are killed: each sees what the one before it has
# stored.
cat >counts.c <<'C'
// counts FILE: as soon as FILE is free, adds 1 to the word at 0 through a mapping. Prints the word,
// and kills itself.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/wait.h"
int main(int argc, char **argv) {
  int fd = -1;
  WAIT_UNTIL((fd = open(argv[1], O_RDWR)) >= 0);
  long *const m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (m == MAP_FAILED) return argc;
  printf("%ld\n", ++*m);
  fflush(stdout);
  kill(getpid(), SIGKILL);
}
C
cc -O1 -w -I "$SCUTE_SOURCE_DIR/tests" -o counts counts.c || fail "cc counts"
shielded "$file" 65536
first=$(word 0)
: >counted
for _ in 1 2 3; do
  (for _ in 1 2 3 4 5 6 7 8; do timeout "$wait_seconds" "$scute" shield run -- ./counts "$file" >>counted 2>/dev/null || true; done) &
done
wait
equal "$(sort -n counted | uniq | wc -l)" 24
equal "$(word 0)" $((first + 24))
sound "$file"

# The program for which the supervisor has kept the file does not take it: then no process keeps it.
shielded "$file" 65536
python3 - "$file.scute" >locked 2>&1 <<'P' &
import fcntl, os, struct, sys
from waiting import wait_until
f = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))  # F_OFD_SETLK
print("locked\n", end="", flush=True)
wait_until(lambda: os.path.exists("let"))
P
locker=$!
until_said locked locked $locker
# shellcheck disable=SC2016
mkfifo end
"$scute" shield run -- bash -c './reads "$0"; echo $? >tried; read -r _ <end' "$file" 2>err &
supervisor=$!
wait_until test -s tried
equal "$(cat tried)" 16
touch let
wait $locker
expect 0 "$scute" shield check "$file"
echo >end
wait $supervisor
sound "$file"

# Lengths.
cat >grows.c <<'C'
// grows FILE HOW: a child changes the file's length when its parent has closed it. Exit status: the
// error number of that.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
  const int fd = open(argv[1], O_RDWR);
  int closed[2];
  pipe(closed);
  if (fork() == 0) {
    char byte;
    close(closed[1]);
    read(closed[0], &byte, 1);
    errno = 0;
    if (argv[2][0] == 't')
      ftruncate(fd, 60000);
    else
      fallocate(fd, 0, 50000, 10000);
    _exit(errno);
  }
  int status;
  close(fd);
  close(closed[1]);
  wait(&status);
  return WEXITSTATUS(status);
}
C
cc -O1 -w -o grows grows.c || fail "cc grows"
for how in truncate fallocate; do
  shielded "$file" 30000
  expect 1 "$scute" shield run -- ./grows "$file" $how  # EPERM
  equal "$(stat -c %s "$file")" 30000
  sound "$file"
done
