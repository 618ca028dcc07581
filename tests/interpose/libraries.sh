#!/usr/bin/env bash
# Libraries that flush by their own instructions, which the shield cannot intercept. If such a
# library is loaded before a file is mapped, the program is refused the mapping (MEM-2, SCAN-1). If
# the program loads one later by dlopen(), the load fails and the mapping continues (LIB-1). The
# shield names the library in both cases. A program's libraries are found where they are without the
# shield (LIB-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# A flush of each kind, without a run at any (the processor may lack it).
for kind in clwb clflushopt clflush; do
  cat >flush.c <<C
#include <immintrin.h>
#include <string.h>
void flush_it(char *at) {
  strcpy(at, "flushed");
  _mm_$kind(at);
  _mm_sfence();
}
C
  gcc -O2 -shared -fPIC $([ $kind = clflush ] || echo -m$kind) -o "lib$kind.so" flush.c || fail "gcc"
done
echo 'extern void flush_it(char *); void outer(char *at) { flush_it(at); }' >outer.c
gcc -O2 -shared -fPIC -o libouter.so outer.c -L. -lclwb -Wl,-rpath,"$PWD" || fail "gcc"
echo 'int quiet(void) { return 7; }' >quiet.c
gcc -O2 -shared -fPIC -o libquiet.so quiet.c || fail "gcc"

cat >loader.c <<'C'
// loader WHEN FILE LIBRARY: loads LIBRARY `before` or `after` the file is mapped, or `both`: before,
// and unloads it again. Prints the results in numbers.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
static char *map(const char *file) {
  const int fd = open(file, O_RDWR);
  errno = 0;
  char *const at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  printf("mapped %d %d\n", at != MAP_FAILED, errno);
  return at;
}
static void *load(const char *library) {
  errno = 0;
  void *const handle = dlopen(library, RTLD_NOW);
  const int why = errno;
  printf("loaded %d\n", handle != NULL);
  if (handle == NULL) printf("errno %d, %s\n", why, strstr(dlerror(), "lib") != NULL ? "named" : "not named");
  return handle;
}
int main(int argc, char **argv) {
  if (argc != 4) return 98;
  char *at = MAP_FAILED;
  void *handle = NULL;
  if (strcmp(argv[1], "after") == 0) {
    at = map(argv[2]);
    handle = load(argv[3]);
  } else {
    handle = load(argv[3]);
    if (strcmp(argv[1], "both") == 0) handle = dlclose(handle) == 0 ? NULL : handle;
    at = map(argv[2]);
  }
  printf("there %d\n", dlopen(argv[3], RTLD_NOW | RTLD_NOLOAD) != NULL);
  if (at == MAP_FAILED) return 2;
  // The mapping continues.
  strcpy(at, argv[1]);
  printf("synced %d\n", msync(at, 4096, MS_SYNC));
  void *const symbol = handle != NULL ? dlsym(handle, "flush_it") : NULL;
  printf("callable %d\n", symbol != NULL);
  return 0;
}
C
gcc -O2 -o loader loader.c || fail "gcc"

file=$pools/file
shielded "$file" 65536
reported() { equal "$(tr '\n' ';' <out)" "$1"; }

for kind in clwb clflushopt clflush; do
  cp "$file" before
  expect 2 "$scute" shield run -- ./loader before "$file" "$PWD/lib$kind.so"
  reported 'loaded 1;mapped 0 1;there 1;'
  in_err "$PWD/lib$kind.so flushes cache lines by instructions of its own (at 0x"
  cmp "$file" before || fail "a refused mapping has changed the file"

  expect 0 "$scute" shield run -- ./loader after "$file" "$PWD/lib$kind.so"
  reported 'mapped 1 0;loaded 0;errno 1, named;there 0;synced 0;callable 0;'
  in_err "$PWD/lib$kind.so: it flushes cache lines by instructions of its own"
  [ "$(head -c 5 "$file")" = after ] || fail "the mapping does not continue"
done

# Loaded through another library: the shield names the library that flushes, and neither stays
# loaded.
expect 0 "$scute" shield run -- ./loader after "$file" "$PWD/libouter.so"
reported 'mapped 1 0;loaded 0;errno 1, named;there 0;synced 0;callable 0;'
in_err "$PWD/libclwb.so: it flushes"
expect 2 "$scute" shield run -- ./loader before "$file" "$PWD/libouter.so"
in_err "$PWD/libclwb.so flushes"
# A library that was unloaded is no longer a reason to refuse.
expect 0 "$scute" shield run -- ./loader both "$file" "$PWD/libclwb.so"
reported 'loaded 1;mapped 1 0;there 0;synced 0;callable 0;'
# Linked with the program.
gcc -O2 -o linked loader.c -Wl,--no-as-needed -L. -lclwb -Wl,-rpath,"$PWD" || fail "gcc"
expect 2 "$scute" shield run -- ./linked after "$file" "$PWD/libquiet.so"
in_err "$PWD/libclwb.so flushes"
# The shield ignores libraries that flush nothing, libraries that an option allows, and files that
# are not shielded.
expect 0 "$scute" shield run -- ./loader after "$file" "$PWD/libquiet.so"
reported 'mapped 1 0;loaded 1;there 1;synced 0;callable 0;'
[ ! -s err ] || fail "something is said of it"
expect 0 "$scute" shield run --allow-inline-flush libclwb.so -- ./loader after "$file" "$PWD/libclwb.so"
reported 'mapped 1 0;loaded 1;there 1;synced 0;callable 1;'
bytes_of 65536 >"$pools/plain"
expect 0 "$scute" shield run -- ./loader after "$pools/plain" "$PWD/libclwb.so"
reported 'mapped 1 0;loaded 1;there 1;synced 0;callable 1;'

# By their names alone, and by names from the caller's folder, which may be a library's.
mkdir -p far/deep near
gcc -O2 -shared -fPIC -o far/deep/libplug.so quiet.c || fail "gcc"
echo 'int quiet(void) { return 8; }' | gcc -O2 -shared -fPIC -o near/libplug.so -x c - || fail "gcc"
cat >caller.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
void look_for(const char *name) {
  void *const handle = dlopen(name, RTLD_NOW);
  int (*const quiet)(void) = handle != NULL ? (int (*)(void))dlsym(handle, "quiet") : NULL;
  printf("%s: %d", name, quiet != NULL ? quiet() : 0);
  if (handle == NULL) printf(", %s", dlerror());
  printf("\n");
  if (handle != NULL) dlclose(handle);
}
C
cat >found.c <<'C'
extern void look_for(const char *name);
int main(void) {
  look_for("libplug.so");
  look_for("$ORIGIN/deep/libplug.so");
  look_for("${ORIGIN}/../near/libplug.so");
  look_for("near/libplug.so");
  look_for("libnowhere.so");
  look_for("");
  look_for("libplug.so");
  return 0;
}
C
found() {
  local name=$1
  shift
  "$@" "./$name" >plain.out 2>plain.err || fail "$name: $(cat plain.err)"
  "$@" "$scute" shield run -- "./$name" >out 2>err || fail "$name"
  diff plain.out out || fail "$name: other libraries under the shield"
}
for tags in enable disable; do
  linked=(-Wl,--$tags-new-dtags)
  gcc -O2 -o far/program-$tags found.c caller.c "${linked[@]}" -Wl,-rpath,'/nowhere:$ORIGIN/deep' || fail "gcc"
  # The path is the library's that calls, not the program's.
  gcc -O2 -shared -fPIC -o far/libcaller.so caller.c "${linked[@]}" -Wl,-rpath,'$ORIGIN/deep' || fail "gcc"
  gcc -O2 -o far/by-library-$tags found.c "${linked[@]}" -Lfar -lcaller -Wl,-rpath,"$PWD/far" || fail "gcc"
  for program in "far/program-$tags" "far/by-library-$tags"; do
    found "$program"
    grep -q '^libplug.so: 7' out || fail "$program has not found its library"
    found "$program" env LD_LIBRARY_PATH="/nowhere:$PWD/near"
  done
  cp far/libcaller.so far/libcaller-$tags.so
done

# A program loads a library, whose calls the shield inspects, as a plug-in. Without the shield, each
# load places it at another address. (If the system does not do that, neither run loads anything.)
cat >again.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
static void turn(const char *library, const char *drain, int how) {
  void *const handle = dlopen(library, RTLD_NOW | how);
  void (*const drain_it)(void) = handle != NULL ? (void (*)(void))dlsym(handle, drain) : NULL;
  if (drain_it != NULL) drain_it();
  printf("%s %d\n", library, drain_it != NULL);
  if (handle != NULL) dlclose(handle);
  for (int i = 0; i < 40; ++i) mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int main(void) {
  for (int i = 0; i < 6; ++i) {
    turn("libpmem.so.1", "pmem_drain", RTLD_GLOBAL);
    turn("libpmemobj.so.1", "pmemobj_errormsg", i % 2 == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
    printf("said %d\n", dlerror() != NULL);
  }
  return 0;
}
C
gcc -O2 -o again again.c || fail "gcc"
found again
sound "$file"
