#!/usr/bin/env bash
# A program gets MAP_SYNC of a shielded file if scute-cc has compiled all its code except the C
# library and the language's own libraries (MEM-2). Bytes that it flushes by its own instructions
# are durable after the fence, whichever process is killed (SHIELD-3). Other programs are refused.
# In an instrumented program, the table of its flushes shows code that flushes unintercepted
# (SCAN-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

compiler=$SCUTE_BINARY_DIR/tools/pass/bin/scute-cc
cat >syncs.c <<'C'
// syncs FILE COUNT [LIBRARY]: maps FILE with MAP_SYNC, and stores numbers up to COUNT, each flushed
// and fenced. It says so, and waits to be killed. With LIBRARY it loads that first, and with COUNT 0
// it waits for nothing.
#include <dlfcn.h>
#include <fcntl.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef NEEDS
extern int quiet(void);
#endif
int main(int argc, char **argv) {
  if (argc < 3) return 98;
#ifdef NEEDS
  if (quiet() != 7) return 97;
#endif
  if (argc > 3 && dlopen(argv[3], RTLD_NOW) == NULL) return 96;
  const int fd = open(argv[1], O_RDWR);
  volatile long *const at = (volatile long *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (at == MAP_FAILED) return perror("mmap"), 2;
  const long count = atol(argv[2]);
  for (long i = 1; i <= count; ++i) {
    at[i * 8] = i;
    _mm_clwb((void *)&at[i * 8]);
    _mm_sfence();
  }
  printf("here\n");
  fflush(stdout);
  if (count != 0) pause();
  return 0;
}
C
echo 'int quiet(void) { return 7; }' >quiet.c
printf '#include <immintrin.h>\nint quiet(void) { static char c[64]; _mm_clwb(c); return 7; }\n' >flushes.c
build() { "$@" -D_GNU_SOURCE -O2 -mclwb -Wall -Wextra -Werror || fail "$*"; }
build gcc -shared -fPIC -o libforeign.so quiet.c
build "$compiler" -shared -fPIC -o libinstrumented.so quiet.c
build gcc -c -o foreign.o flushes.c
linked=(-Wl,--no-as-needed -L. -Wl,-rpath,"$PWD")
build "$compiler" -o alone syncs.c
build "$compiler" -DNEEDS -o with-instrumented syncs.c "${linked[@]}" -linstrumented -lm
build "$compiler" -DNEEDS -o with-foreign syncs.c "${linked[@]}" -lforeign
build "$compiler" -DNEEDS -o with-part syncs.c foreign.o
build gcc -o uninstrumented syncs.c
cp syncs.c syncs.cpp
build "${compiler%cc}c++" -o cxx syncs.cpp "${linked[@]}" -lstdc++

file=$pools/file
begin() {
  rm -f "$file"*
  head -c 65536 /dev/zero >"$file"
  "$scute" shield add "$file" >add.out || fail "shield add"
}
# numbers: those that the file has.
numbers() {
  python3 -c 'import struct, sys
print(sum(struct.unpack_from("<q", open(sys.argv[1], "rb").read(), 64 * i)[0] == i for i in range(1, 1024)))' "$file"
}

count=700
for program in alone with-instrumented cxx; do
  for dies in program both; do
    begin
    : >reported
    "$scute" shield run -- "./$program" "$file" $count >reported 2>err &
    run=$!
    until_said here reported "$run"
    child=$(child_of "$run")
    {
      if [ $dies = both ]; then power_failure "$run" "$child"; else kill -9 "$child"; fi
      wait "$run" || true
    } 2>/dev/null
    checked 0 "$file"
    equal "$(numbers)" $count
    sound "$file"
  done
done

begin
refused() {
  expect 2 "$scute" shield run -- "$@"
  in_err 'mmap: Operation not supported'
}
refused ./with-foreign "$file" 0
refused ./uninstrumented "$file" 0
refused ./alone "$file" 0 "$PWD/libforeign.so"
expect 0 "$scute" shield run -- ./alone "$file" 0 "$PWD/libinstrumented.so"
expect 2 "$scute" shield run -- ./with-part "$file" 0
in_err 'with-part flushes cache lines by instructions of its own'
in_err 'mmap: Operation not permitted'
equal "$(numbers)" 0
sound "$file"
