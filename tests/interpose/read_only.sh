#!/usr/bin/env bash
# A user may only read some files. Programs under the shield read them verified, by descriptors and
# mappings (SHIELD-7). A program that opens one to write is refused, as without the shield. However
# the program ends, nothing remains to be written back.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

folder=$pools/others
users_folder "$folder"
file=$folder/file
make() {
  rm -f "$file"*
  bytes_of 100000 >"$file"
  [ "$1" = root ] || users_own "$file"
  if [ "$1" = root ]; then "$scute" shield add "$file" >add.out; else "${as_user[@]}" "$scute" shield add "$file" >add.out; fi
  cp "$file" plain
}
cat >use.c <<'C'
// use FILE [kill]: reads it by a descriptor and a mapping, and tries what a reader may not do.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { size = 100000 };
static const char *reported(int failed) { return failed ? strerror(errno) : "done"; }
int main(int argc, char **argv) {
  static char bytes[size];
  const int fd = open(argv[1], O_RDONLY);
  if (fd < 0) return fprintf(stderr, "%s\n", strerror(errno)), 2;
  const char *const at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED || pread(fd, bytes, size, 0) != size) return 3;
  printf("%s\n", memcmp(at, bytes, size) == 0 ? "the same" : "not the same");
  fwrite(bytes, 1, size, stdout);
  printf("write: %s\n", reported(open(argv[1], O_WRONLY) < 0));
  printf("both: %s\n", reported(open(argv[1], O_RDWR) < 0));
  printf("cut: %s\n", reported(open(argv[1], O_RDWR | O_TRUNC) < 0));
  printf("map: %s\n", reported(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED));
  printf("pwrite: %s\n", reported(pwrite(fd, "x", 1, 0) < 0));
  printf("sync: %s\n", reported(fsync(fd) != 0));
  fflush(stdout);
  if (argc > 2) kill(getpid(), SIGKILL);
  return 0;
}
C
cc -O1 -o "$folder/use" use.c || fail "cc"
# The program that writes takes its own permission away, and is killed.
cat >stores.c <<'C'
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
  const int fd = open(argv[1], O_RDWR);
  char *const at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (argc != 3 || at == MAP_FAILED) return 3;
  memcpy(at + 100, "late", 4);
  if (chmod(argv[1], 0444) != 0 || chmod(argv[2], 0444) != 0) return 4;
  return kill(getpid(), SIGKILL);
}
C
cc -O1 -o "$folder/stores" stores.c || fail "cc"
cat >"$folder/writer" <<'SH'
#!/bin/sh
: 2>/dev/null >>"$1"
SH
chmod 755 "$folder/writer"
for whose in own root; do
  [ "$whose" = own ] || [ "$(id -u)" = 0 ] || continue
  make "$whose"
  chmod 444 "$file"
  cp -p "$file" "$folder/plain"
  for options in "" --page-in; do
    "${as_user[@]}" "$folder/use" "$folder/plain" >wanted
    # shellcheck disable=SC2086
    expect 0 "${as_user[@]}" "$scute" shield run $options -- "$folder/use" "$file"
    equal "$whose $options: $(cat out)" "$whose $options: $(cat wanted)"
    # shellcheck disable=SC2086
    expect 137 "${as_user[@]}" "$scute" shield run $options -- "$folder/use" "$file" kill
    equal "$whose $options: $(cat out)" "$whose $options: $(cat wanted)"
    [ -n "$options" ] || silent
    # Two that read.
    # shellcheck disable=SC2086
    expect 0 "${as_user[@]}" "$scute" shield run $options -- sh -c "head -c 5 '$file' | cat; cat <'$file' | wc -c; exec 5<'$file'; head -c 5 <&5"
    equal "$(tail -n 1 out)" "$(head -c 5 plain)"
  done
  # If only FILE.scute is not writable, a reader succeeds and a writer gets an error.
  chmod 644 "$file"
  [ "$whose" = root ] || chmod 444 "$file.scute"
  expect 0 "${as_user[@]}" "$scute" shield run -- head -c 5 "$file"
  equal "$(cat out)" "$(head -c 5 plain)"
  expect 2 "${as_user[@]}" "$scute" shield run -- "$folder/writer" "$file"
  expect 2 "${as_user[@]}" "$scute" shield run -- sh -c "exec 5<'$file'; : >>/proc/self/fd/5"
  chmod 644 "$file" "$file.scute"
  sound "$file"
done
# The stores can no longer be written to the file: the shield reports that.
make own
expect 137 "${as_user[@]}" "$scute" shield run -- "$folder/stores" "$file" "$file.scute"
in_err 'cannot write back what the program has left.*read-only'
chmod 644 "$file" "$file.scute"
cmp "$file" plain || fail "bytes of a view that could not be written back"
sound "$file"
