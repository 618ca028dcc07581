#!/usr/bin/env bash
# Several threads, or a parent and its child, append to a shielded file at the same time: through
# one descriptor or several, by writes and by copies of the kernel, and while another call extends
# the file by zeros. All their bytes are then in the file (GROW-1, LENGTH-3). No reader sees zeros
# instead of bytes, and no kill leaves zeros.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >extends.c <<'C'
// extends FILE WAYS COUNT: for each letter of WAYS, a thread appends COUNT records of 100 letters,
// its own, or repeats another operation. "f" in front: a child runs the second half of the ways.
// Prints which records were lost.
//   w v    write() and writev() by one descriptor that all share
//   a A    write() with O_APPEND, pwritev2() with RWF_APPEND
//   p      pwrite(), each at the end of the ranges that the others have taken
//   s c    sendfile(), copy_file_range(), at places as for p
//   z t    posix_fallocate() and ftruncate() to a little more than the file's length
//   m      a mapping, whose last bytes are stored to
//   r      reads the end, which has no zeros
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/wait.h"

enum { record = 100 };
static const char *path;
static int shared, count, own_of[8];
static const char *all;
static atomic_long next_place;
static atomic_int writers, zeros_read;

static int source_of(char letter) {
  char name[] = "source.XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  char bytes[record];
  memset(bytes, letter, record);
  return write(fd, bytes, record) == record ? fd : -1;
}

static void append(char way, int own, int source) {
  char bytes[record];
  memset(bytes, way, record);
  const struct iovec part = {bytes, record};
  ssize_t n = 0;
  off_t from = 0, to = 0;
  switch (way) {
    case 'w': n = write(shared, bytes, record); break;
    case 'v': n = writev(shared, &part, 1); break;
    case 'p': n = pwrite(own, bytes, record, atomic_fetch_add(&next_place, record)); break;
    case 'a': n = write(own, bytes, record); break;
    case 'A': n = pwritev2(own, &part, 1, -1, RWF_APPEND); break;
    case 's':
      lseek(own, atomic_fetch_add(&next_place, record), SEEK_SET);
      n = sendfile(own, source, &from, record);
      break;
    case 'c':
      to = atomic_fetch_add(&next_place, record);
      n = copy_file_range(source, &from, own, &to, record, 0);
      break;
  }
  if (n != record) perror("append"), exit(3);
}

static void read_end(int own) {
  struct stat s;
  char bytes[4 * record];
  if (fstat(own, &s) != 0) exit(4);
  const ssize_t n = pread(own, bytes, sizeof bytes, s.st_size - (off_t)sizeof bytes);
  if (n > 0 && memchr(bytes, 0, (size_t)n) != NULL) atomic_fetch_add(&zeros_read, 1);
}

static void *work(void *arg) {
  const char way = *(const char *)arg;
  const int own = own_of[(const char *)arg - all];
  const int source = source_of(way);
  if (own < 0 || source < 0) exit(5);
  if (strchr("ztmr", way) == NULL) {
    for (int i = 0; i < count; ++i) append(way, own, source);
    atomic_fetch_sub(&writers, 1);
    return NULL;
  }
  while (atomic_load(&writers) > 0) {
    struct stat s;
    if (way == 'r') { read_end(own); continue; }
    if (fstat(own, &s) != 0) exit(4);
    if (way == 'z' && posix_fallocate(own, s.st_size, 10) != 0) exit(6);
    if (way == 't') (void)!ftruncate(own, s.st_size + 10);  // (refused if another thread has appended meanwhile)
    if (way == 'm') {
      const long at = (s.st_size - 1) & ~4095L;
      char *const p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, at);
      if (p == MAP_FAILED) exit(7);
      ((volatile char *)p)[0] = p[0];
      munmap(p, 4096);
    }
    if (way != 'r') pause_us(200);
  }
  return NULL;
}

static void run(const char *ways, size_t n) {
  pthread_t threads[8];
  for (size_t i = 0; i < n; ++i) writers += strchr("ztmr", ways[i]) == NULL;
  for (size_t i = 0; i < n; ++i) pthread_create(&threads[i], NULL, work, (void *)&ways[i]);
  for (size_t i = 0; i < n; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  path = argv[1], count = atoi(argv[3]);
  const int forks = argv[2][0] == 'f';
  const char *const ways = argv[2] + forks;
  const size_t n = strlen(ways), half = forks ? n / 2 : n;
  shared = open(path, O_RDWR);
  next_place = lseek(shared, 0, SEEK_END);
  all = ways;
  for (size_t i = 0; i < n; ++i) own_of[i] = open(path, (ways[i] == 'a' ? O_APPEND : 0) | O_RDWR);  // (a child opens none)
  const pid_t child = forks ? fork() : 0;
  if (forks && child == 0) {
    run(ways + half, n - half);
    _exit(0);
  }
  run(ways, half);
  int status = 0;
  if (forks && (waitpid(child, &status, 0) != child || status != 0)) return 8;
  if (fsync(shared) != 0) return 9;
  const int own = open(path, O_RDONLY);
  long found[256] = {0};
  char bytes[65536];
  ssize_t got;
  while ((got = read(own, bytes, sizeof bytes)) > 0)
    for (ssize_t i = 0; i < got; ++i) ++found[(unsigned char)bytes[i]];
  for (size_t i = 0; i < n; ++i) {
    long wanted = 0;
    for (size_t k = 0; k < n; ++k) wanted += ways[k] == ways[i] ? (long)count * record : 0;
    if (strchr("ztmr", ways[i]) == NULL && found[(unsigned char)ways[i]] != wanted)
      printf("of %c %ld of %ld bytes; ", ways[i], found[(unsigned char)ways[i]], wanted);
  }
  if (zeros_read) printf("zeros read %d times; ", zeros_read);
  printf("done\n");
  return 0;
}
C
gcc -O1 -Wall -Wextra -I "$SCUTE_SOURCE_DIR/tests" -pthread -o extends extends.c

file=$pools/file
fresh() {
  rm -f "$file"*
  head -c 1001 /dev/zero | tr '\0' 0 >"$file"
  "$scute" shield add "$file" --capacity 8M >add.out || fail "shield add"
}
for ways in ww vw wwv pp aaA az Az at wz pr wr sp cp aam fww faa in:ww in:pp in:aaA in:sp in:cp in:az in:fww; do
  fresh
  pages=()
  [ "$ways" = "${ways#in:}" ] || pages=(--page-in)
  expect 0 timeout "$wait_seconds" "$scute" shield run "${pages[@]}" "${run_with[@]}" -- ./extends "$file" "${ways#in:}" 1500
  equal "$ways: $(cat out)" "$ways: done"
  sound "$file"
done

# The program is killed alone while it writes a megabyte past the end: the part that is in the file
# consists of its bytes.
cat >megabytes.c <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  const size_t n = 1 << 20;
  char *bytes = malloc(n);
  memset(bytes, 'x', n);
  const int fd = open(argv[argc - 1], O_RDWR);
  lseek(fd, 0, SEEK_END);
  (void)!write(1, "here\n", 5);
  for (int i = 0; i < 60 && write(fd, bytes, n) == (ssize_t)n; ++i) {}
  return 1;
}
C
gcc -O1 -Wall -Wextra -o megabytes megabytes.c
for turn in $(seq 12); do
  rm -f "$file"*
  head -c 1001 /dev/zero | tr '\0' 0 >"$file"
  "$scute" shield add "$file" --capacity 64M >add.out || fail "shield add"
  : >reported
  "$scute" shield run "${run_with[@]}" -- ./megabytes "$file" >reported 2>err &
  run=$!
  until_said here reported "$run"
  child=$(child_of "$run")
  pause "0.0$((turn * 7))"
  { kill -9 "$child"; wait "$run" || true; } 2>/dev/null
  checked 0 "$file"
  python3 -c 'import sys
b = open(sys.argv[1], "rb").read()
sys.exit(f"{b.count(0)} zeros in {len(b)} bytes" if b.count(0) else 0)' "$file" || fail "turn $turn: zeros at the end"
done

# The file does not grow past RLIMIT_FSIZE. The writer learns this as without the shield, and the
# part that fits is written.
cat >limited.py <<'PYTHON'
import errno, os, resource, signal, sys
signal.signal(signal.SIGXFSZ, lambda *_: print("SIGXFSZ"))
fd = os.open(sys.argv[1], os.O_RDWR)
size = os.fstat(fd).st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, size + 5000))
for at in (size, size + 4000, size + 5000, size + 500000):
    try:
        print(os.pwrite(fd, b"x" * 4000, at))
    except OSError as e:
        print(errno.errorcode[e.errno])
os.fsync(fd)
print(os.fstat(fd).st_size - size)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGXFSZ})
for request in (lambda: os.ftruncate(fd, size + 500000), lambda: os.posix_fallocate(fd, size, 500000), lambda: os.pwrite(fd, b"x", size + 5000)):
    try:
        print(request())
    except OSError as e:
        print(errno.errorcode[e.errno])
    reported = signal.sigtimedwait({signal.SIGXFSZ}, 5)
    print(reported and (reported.si_code, reported.si_pid == os.getpid(), reported.si_uid == os.getuid()))
PYTHON
head -c 70000 /dev/zero | tr '\0' 0 >plain
cp plain "$pools/limited"
python3 limited.py plain >wanted
equal "$(head -2 wanted | tr '\n' ' ')" '4000 1000 '
expect 0 "$scute" shield add "$pools/limited"
expect 0 "$scute" shield run "${run_with[@]}" -- python3 limited.py "$pools/limited"
equal "$(cat out)" "$(cat wanted)"
sound "$pools/limited"
cmp plain "$pools/limited" || fail "limited: other bytes"

# A stream that appends has the same position as without the shield: the end, or, if it also reads,
# the position of the C library's first read.
cat >streams.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *what, FILE *f) {
  printf("%s: %ld", what, ftell(f));
  if (*what != 'r') printf(", %ld", (long)lseek(fileno(f), 0, SEEK_CUR));  // what it reads ahead is its own
  printf("\n");
}

int main(int argc, char **argv) {
  static const char *const modes[] = {"a", "ab", "ae", "a+", "a+b", "r", "r+"};
  const char *file = argv[argc - 1];
  for (size_t i = 0; i < 2 * (sizeof modes / sizeof *modes); ++i) {
    const char *const mode = modes[i / 2];
    FILE *f = i % 2 == 0 ? fopen(file, mode) : freopen(file, mode, fopen("/dev/null", "r"));
    char word[6] = "";
    if (f == NULL) return 1;
    printf("%s\n", mode);
    say("opened", f);
    if (strchr(mode, '+') != NULL || *mode == 'r') printf("%zu %s\n", fread(word, 1, 5, f), word);
    say("read", f);
    if (strcmp(mode, "r") != 0) {
      if (*mode == 'r') fseek(f, 0, SEEK_END);
      fprintf(f, "a line of %s\n", mode);
      printf("%ld\n", ftell(f));
      fflush(f);
      say("flushed", f);
    }
    FILE *second = fopen(file, "a");  // while the other one is open
    say("second", second);
    fputs("another\n", second);
    say("written", second);
    fclose(second);
    fclose(f);
  }
  return 0;
}
C
gcc -O1 -Wall -Wextra -o streams streams.c
bytes_of 70001 >plain
cp plain "$pools/streams"
./streams plain >wanted
equal "$(sed -n 2p wanted)" 'opened: 70001, 70001'
expect 0 "$scute" shield add "$pools/streams"
expect 0 "$scute" shield run "${run_with[@]}" -- ./streams "$pools/streams"
diff wanted out || fail "streams stand elsewhere"
sound "$pools/streams"
cmp plain "$pools/streams" || fail "streams: other bytes"
