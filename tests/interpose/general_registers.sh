#!/usr/bin/env bash
# The hook of stores says that it touches general registers only (HOOK-7): so must all that it calls. The vector registers of a
# program that tells of its stores are as they were.
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

/* Every vector register holds a pattern while 64 stores are told of, each at a place of its own that the runtime enters. */
#define STORE(n) *(volatile long *)(map + 64 * (n)) = n;
#define STORES(n) STORE(n) STORE(n + 1) STORE(n + 2) STORE(n + 3)

int main(int argc, char **argv) {
  const int fd = open(argv[argc - 1], O_RDWR);
  char *map = mmap(NULL, 262144, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return 3;
  static unsigned char before[32][64], after[32][64];
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 64; ++j) before[i][j] = (unsigned char)(rand() >> 3);
  register __m512i v0 __asm__("zmm0") = _mm512_loadu_si512(before[0]);
  register __m512i v5 __asm__("zmm5") = _mm512_loadu_si512(before[5]);
  register __m512i v9 __asm__("zmm9") = _mm512_loadu_si512(before[9]);
  register __m512i v17 __asm__("zmm17") = _mm512_loadu_si512(before[17]);
  register __m512i v31 __asm__("zmm31") = _mm512_loadu_si512(before[31]);
  __asm__ volatile("" : "+v"(v0), "+v"(v5), "+v"(v9), "+v"(v17), "+v"(v31));
  STORES(0) STORES(4) STORES(8) STORES(12) STORES(16) STORES(20) STORES(24) STORES(28)
  __asm__ volatile("" : "+v"(v0), "+v"(v5), "+v"(v9), "+v"(v17), "+v"(v31));
  _mm512_storeu_si512(after[0], v0);
  _mm512_storeu_si512(after[5], v5);
  _mm512_storeu_si512(after[9], v9);
  _mm512_storeu_si512(after[17], v17);
  _mm512_storeu_si512(after[31], v31);
  const int looked[] = {0, 5, 9, 17, 31};
  for (int i = 0; i < 5; ++i)
    if (memcmp(before[looked[i]], after[looked[i]], 64) != 0) return 4;
  for (int i = 0; i < 32; ++i) _mm_clwb(map + 64 * i);
  _mm_sfence();
  return 0;
}
END
"$compiler" -std=gnu11 -O2 -mclwb -mavx512f -fscute=trace -o vectors vectors.c
expect 0 "$scute" shield audit ./vectors "$file"
in_out '^result: clean'

# The code itself, where it was compiled so (by GCC).
grep -q 'general-regs-only' "$SCUTE_BINARY_DIR/compile_commands.json" && is_general=true || is_general=false
objdump -dC --no-show-raw-insn "$SCUTE_BINARY_DIR/lib/libscute-shield.so" >all
for name in audit::store_audit::told audit::tell_clock::tell audit::site_table::index_of interpose::hear_store \
  interpose::mapping_table::find interpose::mapping_table::first_in; do
  awk -v name="<scute::core::$name(" '/^[0-9a-f]+ </ { inside = index($0, name) > 0 } inside' all >code
  [ -s code ] || fail "$name is not there"
  if "$is_general" && grep -E '%[xyz]mm|%k[0-7]|%st|<mem(cpy|set|move)|<str' code >bad; then
    fail "$name touches more than general registers: $(head -3 bad)"
  fi
done
sound "$file"
echo "general registers only"
