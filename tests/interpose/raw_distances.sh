#!/usr/bin/env bash
# The byte before a flush of instrumented code is the distance of a jump, and may look like a prefix
# of the flush. The program gets its mapping whatever the distance. It gets none if one flush is
# another compiler's (SCAN-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >program.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <stdio.h>
#include <sys/mman.h>

// The jump from before the flush to the end of the function is as long as what lies between.
#define FUNCTION(n)                                                     \
  __attribute__((noinline)) static void flush_##n(char *p) {            \
    *p += 1;                                                            \
    INSTRUCTION(p);                                                     \
    __asm__ volatile(".skip " #n ", 0x90");                             \
  }
C
{
  seq 0 120 | sed 's/.*/FUNCTION(&)/'
  cat <<'C'
int main(int argc, char **argv) {
  const int fd = open(argv[argc - 1], O_RDWR);
  char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return perror("mmap"), 2;
C
  seq 0 120 | sed 's/.*/  flush_&(at);/'
  echo '  _mm_sfence(); return *at != 121; }'
} >>program.c

file=$pools/file
head -c 65536 /dev/zero >"$file"
"$scute" shield add "$file" >add.out || fail "shield add"
for instruction in clwb clflushopt clflush; do
  "$SCUTE_BINARY_DIR/tools/pass/bin/scute-cc" -O2 "-DINSTRUCTION(p)=_mm_$instruction(p)" -mclwb -mclflushopt -o "$instruction" program.c ||
    fail "it does not compile"
  # After a short jump, whose distance is a prefix as well: of a segment, an operand or an address.
  # Also of registers, where no other prefix follows.
  alike=$(python3 - "$instruction" <<'PYTHON'
import re, sys
own = rb"\x66\x0f\xae[\x30-\x3f]" if sys.argv[1] != "clflush" else rb"\x0f\xae[\x38-\x3f]"
more = rb"\x40-\x4f" if sys.argv[1] == "clflush" else b""
code = open(sys.argv[1], "rb").read()
print(len(set(re.findall(rb"\x72([\x26\x2e\x36\x3e\x64-\x67" + more + b"])" + own, code))))
PYTHON
  )
  [ "$alike" -ge 8 ] || fail "$instruction: $alike jumps look like prefixes"
done
for instruction in clwb clflushopt clflush; do
  grep -qw "$instruction" /proc/cpuinfo || continue
  printf '\0' | dd of="$file" bs=1 conv=notrunc 2>/dev/null
  "$scute" shield adopt "$file" >add.out || fail "shield adopt"
  expect 0 "$scute" shield audit -- "$PWD/$instruction" "$file"
  in_out '^flushed *121 lines'
done

# One flush that scute-cc has not seen, in a program that it has otherwise made.
cat >other.c <<'C'
#include <immintrin.h>
void other(char *p) { _mm_clflush(p); }
C
printf 'void other(char *p);\nint main_of_program(int argc, char **argv);\n%s\n' \
  'int main(int argc, char **argv) { char c = 0; other(&c); return main_of_program(argc, argv); }' >main.c
clang-19 -O2 -c other.c || fail "the other object does not compile"
"$SCUTE_BINARY_DIR/tools/pass/bin/scute-cc" -O2 '-DINSTRUCTION(p)=_mm_clflush(p)' -Dmain=main_of_program -c program.c || fail "it does not compile"
"$SCUTE_BINARY_DIR/tools/pass/bin/scute-cc" -O2 -o mixed main.c program.o other.o || fail "they do not link"
cp "$file" before
expect 2 "$scute" shield run -- "$PWD/mixed" "$file"
in_err 'mixed flushes cache lines by instructions of its own'
cmp "$file" before || fail "a refused mapping has changed the file"
