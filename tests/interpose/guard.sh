#!/usr/bin/env bash
# `shield add --guard` takes a file's permissions away. Its owner's programs open it under the
# shield, by all calls and names that open an unguarded file. No other program can open it
# (GUARDED-1).
# The shield never leaves the permissions given: not if many programs open the file, if the shield
# is removed at that moment, or if programs are killed (GUARDED-2).
# Damage that the file suffers between two openings is repaired (IDENT-1).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

folder=$pools/guarded
users_folder "$folder"
file=$folder/file
size=100000
cat >use.c <<'C'
// use FILE CASE [ARGUMENT...]: opens FILE in each way, and prints the results.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/wait.h"

extern char **environ;
static const char *path;

static int said(const char *what, int fd) {
  if (fd < 0) return printf("%s: %s\n", what, strerror(errno)), fd;
  char begin[6] = "";
  const ssize_t n = pread(fd, begin, 5, 0);
  printf("%s: number %d, %zd bytes: %s\n", what, fd, n, n > 0 ? begin : "");
  return fd;
}
static void stream(const char *what, FILE *f) {
  if (f == NULL) return (void)printf("%s: %s\n", what, strerror(errno));
  char begin[6] = "";
  printf("%s: number %d, %zu bytes: %s\n", what, fileno(f), fread(begin, 1, 5, f), begin);
  fclose(f);
}
#define TRY(call) close(said(#call, call))

// Each way once, all of them closed again.
static void ways(void) {
  char name[4096], folder_name[4096], link[4096];
  strcpy(name, path), strcpy(folder_name, path);
  const char *const base = basename(name), *const folder = dirname(folder_name);
  snprintf(link, sizeof link, "%s.link", path);
  TRY(open(path, O_RDONLY));
  TRY(open(path, O_RDWR));
  TRY(open(path, O_WRONLY | O_APPEND));
  TRY(open(path, O_RDWR | O_CREAT, 0600));
  TRY(open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
  TRY(open(path, O_RDWR | O_TRUNC));
  TRY(open(path, O_RDWR | O_NOFOLLOW));
  TRY(open(path, O_RDONLY | O_DIRECTORY));
  TRY(open(path, O_RDWR | O_CLOEXEC | O_DSYNC));
  TRY(creat(path, 0600));
  symlink(path, link);
  TRY(open(link, O_RDWR));
  TRY(open(link, O_RDWR | O_NOFOLLOW));
  unlink(link);
  TRY((int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR));
  stream("fopen r", fopen(path, "r"));
  stream("fopen r+", fopen(path, "r+"));
  stream("fopen r+e", fopen(path, "r+e"));
  stream("fopen a", fopen(path, "a"));
  stream("fopen a+", fopen(path, "a+"));
  stream("fopen w", fopen(path, "w"));
  const int at = open(folder, O_RDONLY | O_DIRECTORY);
  TRY(openat(at, base, O_RDWR));
  TRY(openat(at, base, O_RDWR | O_CREAT, 0600));
  if (fchdir(at) != 0) exit(9);
  close(at);
  TRY(open(base, O_RDWR));
  printf("truncate: %s\n", truncate(path, 1000) == 0 ? "done" : strerror(errno));
  struct stat s;
  printf("truncate: %s\n", stat(path, &s) == 0 && truncate(path, s.st_size) == 0 ? "done" : strerror(errno));
  // Names of descriptors, of which the first one stays open.
  char by[64], dev[64], fd_dir[64];
  const int fd = open(path, O_RDWR);
  snprintf(by, sizeof by, "/proc/self/fd/%d", fd);
  snprintf(dev, sizeof dev, "/dev/fd/%d", fd);
  snprintf(fd_dir, sizeof fd_dir, "/proc/%d/fd/%d", (int)getpid(), fd);
  TRY(open(by, O_RDWR));
  TRY(open(dev, O_RDONLY));
  TRY(open(dev, O_WRONLY));
  TRY(open(fd_dir, O_RDWR));
  stream("fopen of a descriptor", fopen(dev, "r+"));
  TRY(open(path, O_RDONLY));
  close(fd);
  // Such a name of FILE itself, by a descriptor that only names it.
  const int named = open(path, O_PATH);
  snprintf(by, sizeof by, "/proc/self/fd/%d", named);
  TRY(open(by, O_RDWR));
  close(named);
}

static void replace(const char *text) {
  const int fd = open(path, O_RDWR);
  if (fd < 0) perror("open"), exit(4);
  char *const at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) exit(5);
  memcpy(at, text, strlen(text));
  if (msync(at, 4096, MS_SYNC) != 0 || pwrite(fd, text, strlen(text), 50000) < 0 || fsync(fd) != 0) exit(6);
  struct stat s;
  if (stat(path, &s) != 0 || (s.st_mode & 07777) != 0) exit(7);
  munmap(at, 4096);
  close(fd);
}

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

// An open succeeds, or reports that another process has the file; never that permission is denied.
static void one_of_many(void) {
  const int fd = open(path, O_RDWR);
  if (fd < 0 && errno != EBUSY) perror("open"), _exit(8);
  if (fd >= 0) close(fd);
}
static void *many(void *n) {
  for (int i = 0; i < *(int *)n; ++i) one_of_many();
  return NULL;
}

int main(int argc, char **argv) {
  path = argv[1];
  const char *const case_name = argv[2];
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strcmp(case_name, "ways") == 0) {
    ways();
  } else if (strcmp(case_name, "number") == 0) {
    const int fd = open(path, O_RDWR);
    printf("%s\n", fd < 0 ? strerror(errno) : "opened");
    return fd < 0;
  } else if (strcmp(case_name, "read") == 0) {
    const int fd = open(path, O_RDONLY);
    static char all[1 << 20];
    if (fd < 0) return printf("%s\n", strerror(errno)), 1;
    return fwrite(all, 1, read(fd, all, sizeof all), stdout) == 0;
  } else if (strcmp(case_name, "write") == 0) {
    replace(argv[3]);
  } else if (strcmp(case_name, "children") == 0) {
    replace("from the parent");
    const pid_t forked = fork();
    if (forked == 0) replace("from a forked child"), exit(0);
    printf("forked: %d\n", status_of(forked));
    pid_t spawned;
    char *const args[] = {argv[0], argv[1], "write", "from a spawned child", NULL};
    if (posix_spawn(&spawned, argv[0], NULL, NULL, args, environ) != 0) return 9;
    printf("spawned: %d\n", status_of(spawned));
    // With the file open.
    if (open(path, O_RDWR | O_CLOEXEC) < 0) return 10;
    char *const last[] = {argv[0], argv[1], "write", "from another image", NULL};
    execv(argv[0], last);
    return 11;
  } else if (strcmp(case_name, "threads") == 0) {
    pthread_t t[4];
    int n = atoi(argv[3]);
    for (int i = 0; i < 4; ++i) pthread_create(&t[i], NULL, &many, &n);
    // Children that are made in the middle of it end, and can open the file when no process has it.
    for (int i = 0; i < n / 10; ++i) {
      const pid_t child = fork();
      if (child == 0) one_of_many(), _exit(0);
      if (status_of(child) != 0) return 12;
    }
    for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
  } else if (strcmp(case_name, "loop") == 0) {
    // With gaps, so that a process that waits for its turn gets one.
    for (int turn = 0; turn < 50 || access(argv[3], F_OK) != 0; ++turn)
      one_of_many(), pause_us(turn % 4 * 2000);
  } else if (strcmp(case_name, "hold") == 0) {
    if (open(path, O_RDWR) < 0) return perror("open"), 4;
    puts("open");
    pause();
  }
  return 0;
}
C
cc -O1 -pthread -I "$SCUTE_SOURCE_DIR/tests" -o "$folder/use" use.c || fail "cc"

mode_of() { stat -c %a "$file"; }
run() { "${as_user[@]}" "$scute" shield run "$@"; }
# The file and what protects it, made by its owner. make MODE [OPTION]
make() {
  rm -f "$file"*
  bytes_of $size >"$file"
  chmod "$1" "$file"
  users_own "$file"
  "${as_user[@]}" "$scute" shield add "$file" "${@:2}" >add.out || fail "shield add"
  cp "$file" plain 2>/dev/null || bytes_of $size >plain
}
# removed MODE: its owner removes the shield; the file then has its permissions, and the bytes of
# plain.
removed() {
  expect 0 "${as_user[@]}" "$scute" shield remove "$file"
  equal "$(mode_of)" "$1"
  [ ! -e "$file.scute" ] || fail "FILE.scute is still there"
  cmp "$file" plain || fail "other bytes"
}
# A program that holds the file may need a moment to release it.
idle() {
  wait_until is_idle
}
is_idle() {
  "$scute" shield list "$file" >list.out 2>&1 || true
  ! grep -q '^in use' list.out
}

# Each way of opening has the same result as without --guard.
for options in "" --page-in; do
  make 640
  # shellcheck disable=SC2086
  expect 0 run $options -- "$folder/use" "$file" ways
  cp out wanted
  cp err wanted.err
  removed 640
  make 640 --guard
  equal "$(mode_of)" 0
  # shellcheck disable=SC2086
  expect 0 timeout "$wait_seconds" "${as_user[@]}" "$scute" shield run $options -- "$folder/use" "$file" ways
  cmp out wanted || fail "$options: $(diff wanted out)"
  equal "$(sort -u err)" "$(sort -u wanted.err)"
  equal "$(mode_of)" 0
  removed 640
done
grep -q 'O_RDWR): number [0-9]*, 5 bytes: what' wanted || fail "$(cat wanted)"

# Other programs and children read what a program has written.
make 600 --guard
expect 0 run -- "$folder/use" "$file" write "from its owner"
silent
expect 0 run -- "$folder/use" "$file" read
equal "$(head -c 14 out)" "from its owner"
expect 0 run -- "$folder/use" "$file" children
equal "$(cat out)" "$(printf 'forked: 0\nspawned: 0')"
silent
expect 0 run -- sh -c "head -c 18 '$file'; head -c 5 <'$file' | cat; printf appended >>'$file'; exec 5<>'$file'; head -c 4 <&5 | cat"
equal "$(cat out)" "from another imagefrom from"
equal "$(mode_of)" 0
# The commands, by its owner.
expect 0 "${as_user[@]}" "$scute" shield check "$file"
expect 0 "${as_user[@]}" "$scute" shield list "$file"
in_out '^clean '
expect 0 "${as_user[@]}" "$scute" shield info "$file"
in_out 'guarded'
expect 0 "${as_user[@]}" "$scute" shield adopt "$file"
equal "$(mode_of)" 0
# Made again in another way, the file is guarded as before: its permissions are recorded nowhere
# else.
expect 0 "${as_user[@]}" "$scute" shield adopt "$file" --rows 20
equal "$(mode_of)" 0
expect 0 run -- cat "$file"
cp out plain
removed 600

# No other program opens it: its owner's without the shield, those of other users, and its owner's
# where nothing says that the file is guarded.
make 644 --guard
refused() { equal "$("$@" 2>&1 || true)" "Permission denied"; }
refused "${as_user[@]}" "$folder/use" "$file" number
refused "${as_user[@]}" "$folder/use" "$file" read
if [ "$(id -u)" = 0 ]; then
  stranger=(setpriv --reuid=65533 --regid=65533 --clear-groups)
  refused "${stranger[@]}" "$scute" shield run -- "$folder/use" "$file" read
  refused "${stranger[@]}" "$scute" shield run -- "$folder/use" "$file" number
  # FILE.scute of a stranger's says nothing.
  cp -p "$file.scute" kept
  chown 65533 "$file.scute"
  refused run -- "$folder/use" "$file" read
  cp -p kept "$file.scute"
fi
equal "$(mode_of)" 0
mv "$file.scute" "$folder/elsewhere"
refused run -- "$folder/use" "$file" number
"${as_user[@]}" sh -c "head -c $size /dev/zero >'$folder/other'" && "${as_user[@]}" "$scute" shield add "$folder/other" >add.out
cp -p "$folder/other.scute" "$file.scute"
refused run -- "$folder/use" "$file" number
equal "$(mode_of)" 0
rm -f "$file.scute"
mv "$folder/elsewhere" "$file.scute"
expect 0 run -- "$folder/use" "$file" read
removed 644
# The owner may do what the file's earlier permissions allowed.
if [ "$(id -u)" = 0 ]; then
  rm -f "$file"*
  bytes_of $size >"$file"
  users_own "$file"
  chmod 440 "$file"
  "$scute" shield add "$file" --guard >add.out || fail "shield add"
  chmod 644 "$file.scute"
  expect 0 run -- "$folder/use" "$file" read
  cmp out plain
  refused run -- "$folder/use" "$file" number
  equal "$(mode_of)" 0
  expect 0 "$scute" shield remove "$file"
  equal "$(mode_of)" 440
fi

# Damage between two openings is repaired, though the opening itself changes the file's permissions
# (IDENT-1).
make 600 --guard
"${as_user[@]}" sh -c "t=\$(stat -c %y '$file'); chmod 600 '$file'; yes noise | dd of='$file' bs=1 seek=20000 count=3000 conv=notrunc status=none; touch -d \"\$t\" '$file'; chmod 0 '$file'"
expect 0 "${as_user[@]}" "$scute" shield list "$file"
in_out '^clean '
expect 0 run -- "$folder/use" "$file" read
cmp out plain || fail "damage is not repaired"
silent
"${as_user[@]}" "$scute" events "$file.scute" >events.out || fail "events"
grep -qi repaired events.out || fail "$(cat events.out)"
removed 600

# Many at once: threads and children of one program, and several programs.
make 600 --guard
expect 0 run -- "$folder/use" "$file" threads 200
equal "$(mode_of)" 0
loops=()
for _ in 1 2 3; do
  run -- "$folder/use" "$file" loop "$folder/stop" 2>>loops.err &
  loops+=($!)
done
: >"$folder/stop"
for l in "${loops[@]}"; do wait "$l" || fail "a program that opens concurrently with others: $(cat loops.err)"; done
idle
equal "$(mode_of)" 0
removed 600

# Programs are killed at any moment, some of them with their supervisor. The next session removes
# what they leave.
make 600 --guard
rm -f "$folder/stop"
has_program() { program=$(child_of "$run") && [ -n "$program" ]; }
for i in $(seq 24); do
  "${as_user[@]}" "$scute" shield run -- "$folder/use" "$file" loop "$folder/stop" 2>/dev/null &
  run=$!
  wait_until has_program
  pause "0.0$((RANDOM % 90 + 10))"
  [ $((i % 2)) = 0 ] || kill -9 "$run"
  kill -9 "$program" || true
  wait "$run" 2>/dev/null || true
  wait_until gone "$program"
  idle
  expect 0 run -- "$folder/use" "$file" write "after a kill"
  equal "$(mode_of)" 0
done
# In the middle of a session.
mkfifo reported
"${as_user[@]}" "$scute" shield run -- "$folder/use" "$file" hold >reported 2>/dev/null &
run=$!
read -r line <reported
equal "$line" open
kill -9 "$(child_of $run)"
wait $run || true
idle
equal "$(mode_of)" 0
expect 0 run -- "$folder/use" "$file" read
cp out plain
removed 600

# The shield is removed while other programs open the file, repeatedly. The file then has its
# permissions, and no program takes them away.
for _ in $(seq 12); do
  make 640 --guard
  rm -f "$folder/stop"
  loops=()
  for _ in 1 2; do
    run -- "$folder/use" "$file" loop "$folder/stop" 2>>loops.err &
    loops+=($!)
  done
  end=$((SECONDS + wait_seconds))
  until "${as_user[@]}" "$scute" shield remove "$file" >remove.out 2>&1; do
    [ $SECONDS -lt $end ] || fail "shield remove: $(cat remove.out)"
  done
  equal "$(mode_of)" 640
  : >"$folder/stop"
  for l in "${loops[@]}"; do wait "$l" || true; done
  equal "$(mode_of)" 640
  [ ! -e "$file.scute" ] || fail "FILE.scute is back"
  cmp "$file" plain || fail "other bytes"
done
