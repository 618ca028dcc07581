#!/usr/bin/env bash
# Libraries that are loaded into a running process share some 1,700 bytes for variables of their
# threads (static TLS). Scute takes at most 64 of them. So it can be loaded next to others that need
# such room, and so can two plugins that link libscute.a.
set -euo pipefail
export LC_ALL=C
[ -z "$(ls -A)" ] || { echo "plugins.sh leaves files where it is run: in an empty folder, as ctest does"; exit 1; }
lib=$SCUTE_BINARY_DIR/lib most=64
read -ra cflags <<<"${CFLAGS:-}"

size=$(readelf -lW "$lib/libscute.so" | awk '$1 == "TLS" { print $6 }')
if (( size > most )); then
  echo "libscute.so needs $((size)) bytes of static TLS, and may need $most:"
  readelf -sW "$lib/libscute.so" | awk '$4 == "TLS" { print $3, $8 }'
  exit 1
fi

cat >plugin.c <<'END_OF_PLUGIN'
#include <pthread.h>
#include <scute/scute.h>
#include <string.h>

static const char *path;

/* A transaction, and an error: what the library keeps of each belongs to the thread. */
static void *commit(void *pool) {
  scute_tx *tx;
  scute_oid oid;
  void *at;
  if (scute_tx_begin(pool, &tx) != 0 || scute_tx_alloc(tx, 100, 1, &oid, &at) != 0) return "begin";
  memset(at, 1, 100);
  if (scute_tx_commit(tx) != 0) return "commit";
  if (scute_errormsg()[0] != 0) return "a message of another thread";
  if (scute_tx_commit(tx) != SCUTE_E_NOTX || scute_errormsg()[0] == 0) return "no message";
  return NULL;
}

const char *plugin_run(const char *file) {
  scute_options o;
  scute_pool *pool;
  pthread_t threads[8];
  const char *wrong = NULL;
  path = file;
  scute_options_init(&o);
  o.size = 4 << 20;
  if (scute_create(path, &o, &pool) != 0) return scute_errormsg();
  for (int i = 0; i < 8; ++i)
    if (pthread_create(&threads[i], NULL, &commit, pool) != 0) return "no thread";
  for (int i = 0; i < 8; ++i) {
    void *said = NULL;
    pthread_join(threads[i], &said);
    if (said != NULL) wrong = said;
  }
  if (scute_close(pool) != 0) return scute_errormsg();
  return wrong;
}
END_OF_PLUGIN
cat >other.c <<'END_OF_OTHER'
/* Another project's library. It takes as much room as the two plugins leave. */
static __thread char room[1200] __attribute__((tls_model("initial-exec")));
char *other_room(void) { return room; }
END_OF_OTHER
cat >host.c <<'END_OF_HOST'
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int wrong = 0;
  for (int i = 1; i < argc; ++i) {
    void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      printf("%s\n", dlerror());
      return 1;
    }
    const char *(*run)(const char *) = (const char *(*)(const char *))dlsym(library, "plugin_run");
    char file[64];
    snprintf(file, sizeof file, "pool-%d", i);
    const char *said = run == NULL ? NULL : run(file);
    if (said != NULL) printf("%s: %s\n", argv[i], said), wrong = 1;
  }
  return wrong;
}
END_OF_HOST
for name in one two; do
  "$CC" "${cflags[@]}" -fPIC -shared -I"$SCUTE_SOURCE_DIR/include" plugin.c "$lib/libscute.a" -lstdc++ -lm -pthread -o "$name.so"
done
"$CC" "${cflags[@]}" -fPIC -shared other.c -o other.so
"$CC" "${cflags[@]}" host.c -ldl -o host
./host ./other.so "$lib/libscute.so" ./one.so ./two.so
echo "libscute.so needs $((size)) bytes of static TLS; two plugins were loaded next to another library's 1200"
