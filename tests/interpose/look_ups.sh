#!/usr/bin/env bash
# The results of dlsym() and dlvsym() under the shield. For functions that are not interposed, and
# for texts of errors, they are as without it (LOOK-3). A program can get every interposed function
# from the library that it stands in front of (STANDIN-1). The function is then the runtime's
# (STANDIN-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

made() { gcc -O2 -Wall -o "$@" || fail "gcc"; }

# Functions that are not the runtime's, and the texts about them. If a library has a function of an
# interposed name itself, that one is found. A look-up that finds something leaves no text.
cat >errors.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
static void say(const char *what, void *found) {
  const int why = errno;
  const char *const text = dlerror();
  Dl_info info = {0};
  if (found != NULL) dladdr(found, &info);
  printf("%s: %s, errno %d, %s\n", what, info.dli_fname != NULL ? strrchr(info.dli_fname, '/') : "none", why, text != NULL ? text : "no text");
}
#define SAY(look_up) errno = 77, say(#look_up, look_up)
int main(void) {
  void *const c = dlopen("libc.so.6", RTLD_NOW), *const own = dlopen("./libown.so", RTLD_NOW), *const none = dlopen("./libnowhere.so", RTLD_NOW);
  dlerror();
  SAY(dlsym(own, "pmem_flush"));
  SAY(dlsym(own, "fsync"));
  SAY(dlvsym(own, "fsync", "OWN_1"));
  SAY(dlvsym(own, "pmem_flush", "LIBPMEM_1.0"));
  SAY(dlsym(c, "getpid"));
  SAY(dlvsym(c, "getpid", "GLIBC_2.2.5"));
  SAY(dlsym(c, "nowhere"));
  SAY(dlsym(c, "pmem_flush"));
  SAY(dlvsym(c, "fsync", "GLIBC_9.9"));
  SAY(dlvsym(RTLD_NEXT, "fsync", "GLIBC_9.9"));
  SAY(dlsym(RTLD_NEXT, "nowhere"));
  SAY(dlsym(RTLD_DEFAULT, "nowhere"));
  SAY(dlsym(RTLD_NEXT, "getpid"));
  printf("%d\n", none != NULL);
  return 0;
}
C
made errors errors.c
echo 'OWN_1 { global: *; };' >own.map
echo 'void pmem_flush(void) {} int fsync(int fd) { return fd; }' | made libown.so -shared -fPIC -Wl,--version-script=own.map -x c -
./errors >wanted || fail "errors: without the shield"
expect 0 "$scute" shield run -- ./errors
diff wanted out || fail "a look-up has another result under the shield"

# Each function that the runtime shows is in its table.
cat >table.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  const char *const libraries[] = {"libc.so.6", "libpmem.so.1", "libpmem2.so.1", "libpmemobj.so.1"};
  void *handle[4];
  for (int i = 0; i < 4; ++i) handle[i] = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  int n = 0;
  for (char name[100]; scanf("%99s", name) == 1; ++n)
    for (int i = 0; i < 4; ++i) {
      void *const found = handle[i] != NULL ? dlsym(handle[i], name) : NULL;
      Dl_info info;
      if (found != NULL && dladdr(found, &info) != 0 && strstr(info.dli_fname, "libscute-shield") == NULL) printf("%s of %s\n", name, info.dli_fname);
    }
  printf("%d\n", n);
  return 0;
}
C
made table table.c
# If the program has its own function of that name, the look-ups of others do not find it.
echo 'int fsync(int fd) { return fd; }' | made table_own -rdynamic table.c -x c -
nm -D --defined-only "$runtime" | awk '{ print $3 }' | grep -v '^scute_shield_' >names
[ "$(wc -l <names)" -ge 150 ] || fail "only $(wc -l <names) functions"
for table in table table_own; do
  expect 0 "$scute" shield run -- "./$table" <names
  equal "$(cat out)" "$(wc -l <names)"
done
