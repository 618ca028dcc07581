#!/usr/bin/env bash
# The hooks of stores and loads declare that they touch general registers only (HOOK-7): so all
# functions that they call must do the same. The hooks leave the vector registers of an instrumented
# program as they were.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

compiler=$SCUTE_BINARY_DIR/tools/pass/bin/scute-cc
file=$pools/file
shielded "$file" 262144
cat >vectors.c <<'END'
#include <fcntl.h>
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __AVX512F__
typedef __m512i vector;
#define NAME "zmm"
#define HIGH1 "17"
#define HIGH2 "31"
#define LOAD(at) _mm512_loadu_si512(at)
#define SAVE(at, v) _mm512_storeu_si512(at, v)
#else
typedef __m256i vector;
#define NAME "ymm"
#define HIGH1 "12"
#define HIGH2 "15"
#define LOAD(at) _mm256_loadu_si256((const __m256i *)(at))
#define SAVE(at, v) _mm256_storeu_si256((__m256i *)(at), v)
#endif

/* Every vector register holds a pattern while the hooks report 64 stores and loads. Each is at a
 * place of its own, which the runtime enters in its table. */
static long sum;
#define STORE(n) *(volatile long *)(map + 64 * (n)) = n; sum += *(volatile long *)(map + 64 * (n) + 8192);
#define STORES(n) STORE(n) STORE(n + 1) STORE(n + 2) STORE(n + 3)

int main(int argc, char **argv) {
  const int fd = open(argv[argc - 1], O_RDWR);
  char *map = mmap(NULL, 262144, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return 3;
  static unsigned char before[32][64], after[32][64];
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 64; ++j) before[i][j] = (unsigned char)(rand() >> 3);
  register vector v0 __asm__(NAME "0") = LOAD(before[0]);
  register vector v5 __asm__(NAME "5") = LOAD(before[5]);
  register vector v9 __asm__(NAME "9") = LOAD(before[9]);
  register vector high1 __asm__(NAME HIGH1) = LOAD(before[17]);
  register vector high2 __asm__(NAME HIGH2) = LOAD(before[31]);
  __asm__ volatile("" : "+v"(v0), "+v"(v5), "+v"(v9), "+v"(high1), "+v"(high2));
  STORES(0) STORES(4) STORES(8) STORES(12) STORES(16) STORES(20) STORES(24) STORES(28)
  __asm__ volatile("" : "+v"(v0), "+v"(v5), "+v"(v9), "+v"(high1), "+v"(high2));
  SAVE(after[0], v0);
  SAVE(after[5], v5);
  SAVE(after[9], v9);
  SAVE(after[17], high1);
  SAVE(after[31], high2);
  const int looked[] = {0, 5, 9, 17, 31};
  for (int i = 0; i < 5; ++i)
    if (memcmp(before[looked[i]], after[looked[i]], sizeof v0) != 0) return 4;
  for (int i = 0; i < 32; ++i) _mm_clwb(map + 64 * i);
  _mm_sfence();
  return 0;
}
END
# As wide as this processor has them.
wide=-mavx2
! grep -qw avx512f /proc/cpuinfo || wide=-mavx512f
"$compiler" -std=gnu11 -O2 -mclwb "$wide" -fscute=trace,loads -o vectors vectors.c
expect 0 "$scute" shield audit ./vectors "$file"
in_out '^result: clean'

# The code itself, where it was compiled so (by GCC).
grep -q 'general-regs-only' "$SCUTE_BINARY_DIR/compile_commands.json" && is_general=true || is_general=false
objdump -dC --no-show-raw-insn "$SCUTE_BINARY_DIR/lib/libscute-shield.so" >all
for name in audit::store_audit::report_store audit::report_clock::report audit::site_table::index_of interpose::on_store \
  interpose::on_load view::file_view::is_committed audit::store_audit::was_reported audit::store_audit::found_by_load audit::store_audit::add \
  interpose::mapping_table::find interpose::mapping_table::first_in; do
  awk -v name="<scute::core::$name(" '/^[0-9a-f]+ </ { inside = index($0, name) > 0 } inside' all >code
  [ -s code ] || fail "$name is not there"
  if "$is_general" && grep -E '%[xyz]mm|%k[0-7]|%st|<mem(cpy|set|move)|<str' code >bad; then
    fail "$name touches more than general registers: $(head -3 bad)"
  fi
done
sound "$file"
echo "general registers only"
