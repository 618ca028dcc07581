#!/usr/bin/env bash
# Threads and handlers make calls that cross, in every way that pages are loaded and stores wait. No
# thread waits for one that waits for it, and every page has its number (STORE-3, PAGEIN-2,
# PAGEOUT-3, DUR-3, GUARD-6). A mapping that replaces the last one of another file closes that one.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

a=$pools/a b=$pools/b c=$pools/c
for cpu in avx2 avx512; do
  for options in "" "--page-in" "--page-in --max-memory 256K"; do
    numbered "$a" 256
    numbered "$b" 4
    numbered "$c" 256
    # shellcheck disable=SC2086
    SCUTE_CPU=$cpu expect 0 timeout -s KILL "$wait_seconds" "$scute" shield run $options -- "$programs/scute-crossings" "$a" "$b" "$c" 2
    in_out ', 0 wrong$'
    for file in "$a" "$b" "$c"; do sound "$file"; done
  done
done

cat >replaces.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int first = open(argv[1], O_RDWR), second = open(argv[2], O_RDWR);
  char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, first, 0);
  char *other = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, second, 0);
  if (argc < 4 || at == MAP_FAILED || other == MAP_FAILED) return 3;
  if (pwrite(first, "written", 7, 8192) != 7) return 4;
  close(first);
  if (strcmp(argv[3], "mmap") == 0)
    return mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, second, 4096) != at;
  return mremap(other, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at;
}
C
cc -O1 -o replaces replaces.c || fail "cc"
for way in mmap mremap; do
  numbered "$a" 4
  numbered "$b" 4
  SCUTE_CPU=avx2 expect 0 timeout -s KILL "$wait_seconds" "$scute" shield run -- ./replaces "$a" "$b" "$way"
  [ "$(tail -c +8193 "$a" | head -c 7)" = written ] || fail "not written"
  sound "$a"
  sound "$b"
done
