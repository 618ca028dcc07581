#!/usr/bin/env bash
# Some programs take functions from libraries by name, as plug-ins and foreign-function interfaces
# do. They get the interposed functions (LOOK-1, LOOK-2), as do libraries that are loaded with
# RTLD_DEEPBIND (LIB-3). Bytes that they make durable survive a power failure, and the audit finds
# nothing. This also holds before the runtime's constructors (REALLOOK-1, REALLOOK-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >taker.c <<'C'
// taker WAY FILE [ends]: stores bytes, and makes them durable with functions that it has taken in
// that way. It says so, and waits to be killed, or ends. Exit status 77: the library is not there.
// taker show FILE: prints what a pool of libpmemobj has.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
enum { at = 4090, size = 9000, all = 65536 };
static const char *way, *file;
static char bytes[size];

static void *library(const char *name) {
  void *const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) exit(77);
  return handle;
}
static void *needed(void *function, const char *name) {
  if (function == NULL) fprintf(stderr, "%s: %s\n", name, dlerror()), exit(90);
  return function;
}
static void *handle;
static const char *version;  // NULL: none is asked for
#define TAKE(name) needed(version == NULL ? dlsym(handle, #name) : dlvsym(handle, #name, version), #name)
#define CALL(type, name, ...) ((type(*)(__VA_ARGS__))TAKE(name))
typedef const void *from;

static char *mapped(void) {
  const int fd = open(file, O_RDWR);
  char *const map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) perror("mmap"), exit(91);
  return map;
}

static int with_pmem(const char *name) {
  handle = library("libpmem.so.1");
  size_t length = all;
  int is_pmem = 0;
  char *const map = strcmp(name, "map_file") != 0 ? mapped()
                                                  : CALL(char *, pmem_map_file, const char *, size_t, int, mode_t, size_t *, int *)(file, 0, 0, 0, &length, &is_pmem);
  if (map == NULL) perror("pmem_map_file"), exit(91);
  char *const p = map + at;
#define STORE memcpy(p, bytes, size)
  if (strcmp(name, "persist") == 0) STORE, CALL(void, pmem_persist, from, size_t)(p, size);
  else if (strcmp(name, "map_file") == 0 || strcmp(name, "flush") == 0) STORE, CALL(void, pmem_flush, from, size_t)(p, size), CALL(void, pmem_drain, void)();
  else if (strcmp(name, "msync") == 0) STORE, printf("%d\n", CALL(int, pmem_msync, from, size_t)(p, size));
  else if (strcmp(name, "deep_persist") == 0) STORE, printf("%d\n", CALL(int, pmem_deep_persist, from, size_t)(p, size));
  else if (strcmp(name, "deep_flush") == 0) STORE, CALL(void, pmem_deep_flush, from, size_t)(p, size), printf("%d\n", CALL(int, pmem_deep_drain, from, size_t)(p, size));
  else if (strcmp(name, "memcpy") == 0) CALL(void *, pmem_memcpy, void *, from, size_t, unsigned)(p, bytes, size, 0);
  else if (strcmp(name, "memmove") == 0) CALL(void *, pmem_memmove, void *, from, size_t, unsigned)(p, bytes, size, 0);
  else if (strcmp(name, "memset") == 0) CALL(void *, pmem_memset, void *, int, size_t, unsigned)(p, 's', size, 0);
  else if (strcmp(name, "memcpy_persist") == 0) CALL(void *, pmem_memcpy_persist, void *, from, size_t)(p, bytes, size);
  else if (strcmp(name, "memmove_persist") == 0) CALL(void *, pmem_memmove_persist, void *, from, size_t)(p, bytes, size);
  else if (strcmp(name, "memset_persist") == 0) CALL(void *, pmem_memset_persist, void *, int, size_t)(p, 't', size);
  else if (strcmp(name, "memcpy_nodrain") == 0) CALL(void *, pmem_memcpy_nodrain, void *, from, size_t)(p, bytes, size), CALL(void, pmem_drain, void)();
  else if (strcmp(name, "memmove_nodrain") == 0) CALL(void *, pmem_memmove_nodrain, void *, from, size_t)(p, bytes, size), CALL(void, pmem_drain, void)();
  else if (strcmp(name, "memset_nodrain") == 0) CALL(void *, pmem_memset_nodrain, void *, int, size_t)(p, 'u', size), CALL(void, pmem_drain, void)();
  else return 98;
  return 0;
}

static int with_pmem2(const char *name) {
  handle = library("libpmem2.so.1");
  void *config = NULL, *source = NULL, *map = NULL;
  CALL(int, pmem2_config_new, void **)(&config);
  CALL(int, pmem2_source_from_fd, void **, int)(&source, open(file, O_RDWR));
  CALL(int, pmem2_config_set_required_store_granularity, void *, int)(config, 2);
  if (CALL(int, pmem2_map_new, void **, void *, void *)(&map, config, source) != 0) return 91;
  CALL(int, pmem2_config_delete, void **)(&config);
  char *const p = CALL(char *, pmem2_map_get_address, void *)(map) + at;
  typedef void (*range)(from, size_t);
  typedef void (*drain)(void);
  typedef void *(*copy)(void *, from, size_t, unsigned);
  typedef void *(*fill)(void *, int, size_t, unsigned);
  if (strcmp(name, "persist") == 0) STORE, CALL(range, pmem2_get_persist_fn, void *)(map)(p, size);
  else if (strcmp(name, "flush") == 0) STORE, CALL(range, pmem2_get_flush_fn, void *)(map)(p, size), CALL(drain, pmem2_get_drain_fn, void *)(map)();
  else if (strcmp(name, "deep_flush") == 0) STORE, printf("%d\n", CALL(int, pmem2_deep_flush, void *, void *, size_t)(map, p, size));
  else if (strcmp(name, "memcpy") == 0) CALL(copy, pmem2_get_memcpy_fn, void *)(map)(p, bytes, size, 0);
  else if (strcmp(name, "memmove") == 0) CALL(copy, pmem2_get_memmove_fn, void *)(map)(p, bytes, size, 0);
  else if (strcmp(name, "memset") == 0) CALL(fill, pmem2_get_memset_fn, void *)(map)(p, 'v', size, 0);
  else return 98;
  return 0;
}

typedef struct { uint64_t pool, offset; } oid;
static int with_pmemobj(const char *name) {
  handle = library("libpmemobj.so.1");
  if (strcmp(name, "make") == 0) {
    void *const made = CALL(void *, pmemobj_create, const char *, const char *, size_t, mode_t)(file, "taken", 8 << 20, 0600);
    if (made == NULL) return 92;
    CALL(oid, pmemobj_root, void *, size_t)(made, size);
    CALL(void, pmemobj_close, void *)(made);
    exit(0);
  }
  void *const pool = CALL(void *, pmemobj_open, const char *, const char *)(file, "taken");
  if (pool == NULL) return 92;
  char *const p = CALL(char *, pmemobj_direct, oid)(CALL(oid, pmemobj_root, void *, size_t)(pool, size));
  if (strcmp(name, "show") == 0) {
    fwrite(p, size, 1, stdout);
    CALL(void, pmemobj_close, void *)(pool);
    exit(0);
  }
  if (strcmp(name, "persist") == 0) STORE, CALL(void, pmemobj_persist, void *, from, size_t)(pool, p, size);
  else if (strcmp(name, "flush") == 0) STORE, CALL(void, pmemobj_flush, void *, from, size_t)(pool, p, size), CALL(void, pmemobj_drain, void *)(pool);
  else if (strcmp(name, "memcpy") == 0) CALL(void *, pmemobj_memcpy_persist, void *, void *, from, size_t)(pool, p, bytes, size);
  else if (strcmp(name, "tx") == 0) {
    jmp_buf no;
    CALL(int, pmemobj_tx_begin, void *, void *, ...)(pool, setjmp(no) == 0 ? NULL : NULL, 0);
    CALL(int, pmemobj_tx_add_range_direct, from, size_t)(p, size);
    STORE;
    CALL(void, pmemobj_tx_commit, void)();
    CALL(int, pmemobj_tx_end, void)();
  } else return 98;
  return 0;
}

// `handle` may be one of the special ones.
static int with_libc(const char *name) {
  const int old = CALL(int, open, const char *, int, ...)(file, O_RDWR);
  if (strcmp(name, "fsync") == 0) CALL(ssize_t, pwrite, int, from, size_t, off_t)(old, bytes, size, at), printf("%d\n", CALL(int, fsync, int)(old));
  else if (strcmp(name, "fdatasync") == 0) {
    const int fd = CALL(int, open64, const char *, int, ...)(file, O_RDWR);
    CALL(off_t, lseek64, int, off_t, int)(fd, at, SEEK_SET);
    CALL(ssize_t, write, int, from, size_t)(fd, bytes, size);
    const int copy = CALL(int, dup, int)(fd);
    CALL(int, close, int)(fd);
    printf("%d\n", CALL(int, fdatasync, int)(copy));
  } else if (strcmp(name, "dsync") == 0) {
    const int fd = CALL(int, openat, int, const char *, int, ...)(AT_FDCWD, file, O_RDWR | O_DSYNC);
    const struct iovec v = {bytes, size};
    printf("%zd\n", CALL(ssize_t, pwritev, int, const struct iovec *, int, off_t)(fd, &v, 1, at));
  } else if (strcmp(name, "msync") == 0) {
    char *const map = CALL(char *, mmap, void *, size_t, int, int, int, off_t)(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, old, 0);
    memcpy(map + at, bytes, size);
    printf("%d\n", CALL(int, msync, void *, size_t, int)(map, all, MS_SYNC));
  } else if (strcmp(name, "syscall") == 0) {
    pwrite(old, bytes, size, at);
    printf("%ld\n", CALL(long, syscall, long, ...)(SYS_fsync, old));
  } else if (strcmp(name, "fopen") == 0) {
    FILE *const f = CALL(FILE *, fopen, const char *, const char *)(file, "r+");
    fseek(f, at, SEEK_SET);
    fwrite(bytes, size, 1, f);
    fflush(f);
    printf("%d\n", CALL(int, fsync, int)(fileno(f)));
  } else if (strcmp(name, "older_names") == 0) {
    const int fd = CALL(int, __open64, const char *, int, ...)(file, O_RDWR), copy = dup(old);
    CALL(ssize_t, __pwrite64, int, from, size_t, off_t)(fd, bytes, size - 1, at);
    CALL(int, __dup2, int, int)(fd, copy);
    CALL(int, __close, int)(fd);
    CALL(off_t, __lseek, int, off_t, int)(copy, at + size - 1, SEEK_SET);
    CALL(ssize_t, __write, int, from, size_t)(copy, bytes, 1);
    printf("%d\n", fsync(copy));
  } else if (strcmp(name, "sync") == 0) pwrite(old, bytes, size, at), CALL(void, sync, void)();
  else return 98;
  return 0;
}

static int (*fsync_of_plug_in)(int);
static int with_plug_in(const char *name, int how) {
  void *const plug_in = dlopen(name, RTLD_NOW | how);
  if (plug_in == NULL) return puts(dlerror()), 93;
  int (*const save)(const char *, from, size_t, off_t) = needed(dlsym(plug_in, "save"), "save");
  printf("%d\n", save(file, bytes, size, at));
  return 0;
}
#ifdef CHAINED
extern int fsync_taken_early(int fd), chained(void);
#endif

static int act(void) {
  const char *const name = strchr(way, '.') + 1;
  if (strncmp(way, "version_", 8) == 0) version = strstr(way, "pmem2") ? "LIBPMEM2_1.0" : strstr(way, "pmemobj") ? "LIBPMEMOBJ_1.0" : strstr(way, "pmem") ? "LIBPMEM_1.0" : "GLIBC_2.2.5";
  if (strstr(way, "pmem2.")) return with_pmem2(name);
  if (strstr(way, "pmemobj.")) return with_pmemobj(name);
  if (strstr(way, "pmem.")) return with_pmem(name);
  handle = library("libc.so.6");
  if (strstr(way, "libc.")) return with_libc(name);
  if (strstr(way, "default.")) return handle = RTLD_DEFAULT, with_libc(name);
  if (strstr(way, "next.")) return handle = RTLD_NEXT, with_libc(name);
  if (strstr(way, "program.")) return handle = dlopen(NULL, RTLD_NOW), with_libc(name);
  if (strstr(way, "found.")) {  // by a dlsym() that was looked up itself
    void *(*const found)(void *, const char *) = needed(dlsym(handle, "dlsym"), "dlsym");
    const int fd = open(file, O_RDWR);
    pwrite(fd, bytes, size, at);
    printf("%d\n", ((int (*)(int))found(handle, "fsync"))(fd));
    return 0;
  }
  if (strcmp(way, "deep.binds") == 0) return with_plug_in("./libdeep.so", RTLD_DEEPBIND);
  if (strcmp(way, "behind.plug_in") == 0) return with_plug_in("./libbehind.so", RTLD_LOCAL);
  if (strcmp(way, "behind.own_name") == 0) return with_plug_in("./libbehind_own.so", RTLD_LOCAL);
#ifdef CHAINED
  const int fd = open(file, O_RDWR);
  pwrite(fd, bytes, size, at);
  if (strcmp(name, "early") == 0) printf("%d\n", fsync_taken_early(fd));
  else printf("%d, chained %d\n", fsync(fd), chained());
  return 0;
#endif
  return 98;
}

int main(int argc, char **argv) {
  if (argc < 3) return 98;
  way = argv[1];
  file = argv[2];
  for (int i = 0; i < size; ++i) bytes[i] = (char)('a' + i % 23);
  const int status = act();
  if (status != 0) return status;
  printf("reported\n");
  fflush(stdout);
  if (argc == 3) pause();
  return 0;
}
C
plug_in='#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#ifndef SYNC
#define SYNC fsync
#endif
int save(const char *file, const void *from, size_t n, off_t at) {
  const int fd = open(file, O_RDWR);
  return fd < 0 || pwrite(fd, from, n, at) != (ssize_t)n ? -1 : SYNC(fd);
}'
next='((int (*)(int))dlsym(RTLD_NEXT, "fsync"))'
made() { gcc -O2 -Wall -o "$@" || fail "gcc"; }
made taker taker.c -Wno-unused-result -Wno-unused-variable
echo "$plug_in" | made libdeep.so -shared -fPIC -x c -
echo "$plug_in" | made libbehind.so -shared -fPIC "-DSYNC=$next" -x c -
# A library that has a function of that name itself, which no code calls.
echo "$plug_in
int fsync(int fd) { (void)fd; return 7; }" | made libbehind_own.so -shared -fPIC "-DSYNC=$next" -x c -
# A library of the program lies between the runtime and the C library: the function that it calls
# next is not the runtime's again. Before all constructors of the runtime, it has looked up another
# function.
made libchain.so -shared -fPIC -x c - <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
static int calls;
static int (*early)(int), (*next)(int);
__attribute__((constructor(101))) static void begin(void) {
  early = (int (*)(int))dlsym(dlopen("libc.so.6", RTLD_NOW), "fdatasync");
  next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
}
int fsync(int fd) { return ++calls > 1 ? -1 : next(fd); }
int chained(void) { return calls; }
int fsync_taken_early(int fd) { return early(fd); }
C
made chained taker.c -DCHAINED -Wno-unused-result -Wno-unused-variable -L. -Wl,--no-as-needed -lchain -Wl,-rpath,"$PWD"
# Like a sanitizer's library: it first looks up functions. Until it has them, its own functions with
# names of the C library do not work.
cat >guard.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
static int ready;
static int (*taken)(int), (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
#define READY if (!ready) __builtin_trap()
int strcmp(const char *a, const char *b) {
  READY;
  while (*a != 0 && *a == *b) ++a, ++b;
  return (unsigned char)*a - (unsigned char)*b;
}
int strncmp(const char *a, const char *b, size_t n) {
  READY;
  for (; n != 0 && *a != 0 && *a == *b; --n) ++a, ++b;
  return n == 0 ? 0 : (unsigned char)*a - (unsigned char)*b;
}
size_t strlen(const char *a) {
  READY;
  size_t n = 0;
  while (a[n] != 0) ++n;
  return n;
}
int dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *argument) {
  READY;
  return iterate(f, argument);
}
static void begin(void) {
  taken = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  if (dlvsym(RTLD_NEXT, "fdatasync", "GLIBC_2.2.5") == NULL) __builtin_trap();
  iterate = (int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
  ready = 1;
}
__attribute__((section(".preinit_array"), used)) static void (*first)(void) = begin;
int fsync_taken_early(int fd) { return taken(fd); }
int chained(void) { return 0; }
C
made guarded taker.c guard.c -DCHAINED -rdynamic -fno-builtin -Wno-unused-result -Wno-unused-variable

cat >taken.py <<'P'
import ctypes, mmap, os, signal, sys
way, file = sys.argv[1:3]
fill, at, n = b'python' * 100, 5000, 600
if way == 'python.libc':
    c = ctypes.CDLL('libc.so.6')
    fd = c.open(file.encode(), os.O_RDWR)
    print(c.pwrite(fd, fill, n, ctypes.c_long(at)), c.fsync(fd))
else:
    try:
        pmem = ctypes.CDLL('libpmem.so.1')
    except OSError:
        sys.exit(77)
    fd = os.open(file, os.O_RDWR)
    view = mmap.mmap(fd, 65536)
    p = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(view)) + at)
    view[at:at + n] = fill
    pmem.pmem_flush(p, ctypes.c_size_t(n))
    pmem.pmem_drain()
print('reported', flush=True)
if len(sys.argv) == 3: signal.pause()
os._exit(0)
P

program_of() {
  case $1 in
    python.*) program=(python3 taken.py) ;;
    chain.*) program=(./chained) ;;
    guard.*) program=(./guarded) ;;
    *) program=(./taker) ;;
  esac
}
# begin WAY FILE: creates FILE with its first contents.
begin() {
  rm -f "$2" "$2".*
  case $1 in
    *pmemobj.*) cp "$pools/pool" "$2" ;;
    *) bytes_of 65536 >"$2" ;;
  esac
}
# shown WAY FILE: all that is to be the same. Libpmemobj keeps more in a pool.
shown() {
  case $1 in
    *pmemobj.*) ./taker pmemobj.show "$2" ;;
    *) cat "$2" ;;
  esac
}

file=$pools/file plain=$pools/plain count=0
status=0
./taker pmemobj.make "$pools/pool" || status=$?
[ "$status" = 0 ] || [ "$status" = 77 ] || fail "no pool of libpmemobj is made: $status"

tried() {
  local way=$1 status=0 run child
  program_of "$way"
  begin "$way" "$plain"
  timeout "$wait_seconds" "${program[@]}" "$way" "$plain" ends >wanted 2>err || status=$?
  [ "$status" != 77 ] || return 0
  [ "$status" = 0 ] || fail "$way: status $status without the shield"
  shown "$way" "$plain" >bytes.wanted

  # The power fails.
  begin "$way" "$file"
  "$scute" shield add "$file" --capacity 16M >add.out || fail "shield add"
  : >out
  "$scute" shield run "${run_with[@]}" -- "${program[@]}" "$way" "$file" >out 2>err &
  run=$!
  until_said '^reported' out "$run"
  child=$(child_of "$run")
  power_failure "$run" "$child"
  wait "$run" || true
  diff wanted out || fail "$way: its calls had other results"
  checked 0 "$file"
  sound "$file"
  shown "$way" "$file" >bytes
  cmp bytes.wanted bytes || fail "$way: reported as durable, and not there"

  # And it ends, under an audit.
  begin "$way" "$file"
  "$scute" shield add "$file" --capacity 16M >add.out || fail "shield add"
  expect 0 "$scute" shield audit --json -- "${program[@]}" "$way" "$file" ends
  sed -n '/^{/,$p' out >document && mv document out
  equal "$(json result)" clean
  equal "$(json unflushed_lines)" 0
  sound "$file"
  shown "$way" "$file" >bytes
  cmp bytes.wanted bytes || fail "$way: other bytes at a proper end"
  count=$((count + 1))
}

of_pmem="persist flush map_file msync deep_persist deep_flush memcpy memmove memset memcpy_persist memmove_persist memset_persist memcpy_nodrain memmove_nodrain memset_nodrain"
of_libc="fsync fdatasync dsync msync syscall fopen older_names sync"
ways=""
for name in $of_pmem; do ways+=" pmem.$name"; done
for name in persist flush deep_flush memcpy memmove memset; do ways+=" pmem2.$name"; done
for name in persist flush memcpy tx; do ways+=" pmemobj.$name"; done
for name in $of_libc; do ways+=" libc.$name"; done
ways+=" version_pmem.flush version_pmem.memset_persist version_pmem2.deep_flush version_pmemobj.tx version_libc.fsync"
ways+=" next.fsync default.fsync program.fsync version_default.msync version_next.fsync version_program.fsync found.fsync"
ways+=" deep.binds behind.plug_in behind.own_name chain.early chain.chained guard.early python.libc python.pmem"
for way in ${SCUTE_TEST_CASES:-$ways}; do
  tried "$way"
done
[ -n "${SCUTE_TEST_CASES:-}" ] || [ "$count" -ge 20 ] || fail "only $count ways"
echo "$count ways"
