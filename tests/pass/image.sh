#!/usr/bin/env bash
# image.sh: tests instrumented images from outside, linked in every way: their mark, the table of
# their flushes, their exported symbols, and how they meet a runtime.
set -euo pipefail
export LC_ALL=C

fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
step() { printf '==> %s\n' "$*"; }
cc=$SCUTE_PASS_BIN/scute-cc
cp "$SCUTE_SOURCE_DIR/tests/pass/programs/view.h" .

cat >part.c <<'C'
#include <immintrin.h>
void part_flush(char *p) {
  _mm_clwb(p);
  __asm__ volatile(".byte 0x66; clflush %0" : "+m"(*p));
  __asm__ volatile("clflush %0\n\tclflush 64%0" : "+m"(*p));
  _mm_sfence();
}
__attribute__((noinline)) static void unused(char *p) { _mm_clflush(p); }
void *part_unused(void) { return (void *)unused; }
C
cat >main.c <<'C'
#include "view.h"
void part_flush(char *p);
int main(void) {
  part_flush(view_map());
  return 0;
}
C
cat >plain.c <<'C'
void plain_flush(char *p) { __asm__ volatile("clflush (%0)" : : "r"(p)); }
C

# flushes FILE: addresses of the flush instructions in its code. rows FILE: those that its table
# names.
flushes() { objdump -d "$1" | awk '/\tcl(wb|flush|flushopt) / { sub(":", "", $1); print "0x" $1 }' | sort -u; }
rows() {
  local address offset=0 value
  address=$(readelf -SW "$1" | awk '{ sub(/^ *\[ *[0-9]+\] */, "") } $1 == "scute_shield_flushes" { print $3 }')
  objcopy --dump-section scute_shield_flushes=table "$1" /dev/null
  for value in $(od -An -v -td4 -w4 table); do
    printf '0x%x\n' $((0x$address + offset + value))
    offset=$((offset + 4))
  done | sort -u
}
# reported PROGRAM: prints the recorder's log of the program, without places.
reported() {
  rm -f log
  : >log
  env RECORDER_LOG="$PWD/log" LD_PRELOAD="$SCUTE_PASS_RECORDER" LD_LIBRARY_PATH=. "$1" >&2 || fail "$1 ends with $?"
  sed -E 's/ [a-z]+\.c:[0-9]+ / /' log
}
cat >expected <<'TEXT'
flush clwb +0 part_flush
flush clflushopt +0 part_flush
flush clflush +0 part_flush
flush clflush +64 part_flush
fence sfence part_flush
TEXT

step "the mark and the table of a shared object"
"$cc" -O2 -mclwb -fPIC -shared -Wl,-z,defs -fscute=detect,loads -o libpart.so part.c
readelf -nW libpart.so >notes
grep -qi 'scute  *0x00000008' notes || { cat notes; fail "no note of options"; }
grep -qi 'scute  *0x00000010' notes || { cat notes; fail "no note of the image"; }
readelf -lW libpart.so | grep -q 'NOTE.*R ' || fail "the notes are in no segment"
# flush, detect, loads: 1 + 2 + 4.
readelf -x .note.scute.shield libpart.so | grep -q '01000000 07000000' || fail "the options are others"
[ "$(flushes libpart.so | wc -l)" = 5 ] || fail "the compiler made other flushes: $(flushes libpart.so)"
diff <(flushes libpart.so) <(rows libpart.so) || fail "< instructions, > table"

step "a flush that was not instrumented is not in the table"
gcc -O2 -fPIC -c -o plain.o plain.c
"$cc" -O2 -mclwb -fPIC -shared -o libmixed.so part.c plain.o
[ "$(comm -23 <(flushes libmixed.so) <(rows libmixed.so) | wc -l)" = 1 ] || fail "the table hides the plain object's flush"

step "nothing is exported, and nothing but the runtime's weak symbol is asked for"
# (The linker makes the ends of the table visible; each image's own code means its own.)
! nm -D --defined-only libpart.so | grep scute | grep -vE ' __(start|stop)_scute_shield_flushes$' || fail "exported"
[ "$(nm -D --undefined-only libpart.so | awk '/scute/ { print $1, $2 }')" = "w scute_shield_hooks_get" ] || fail "asks for more"

step "an instrumented library in a program of another compiler"
gcc -O2 -o program main.c -L. -lpart
reported ./program | diff expected - || fail "< expected, > reported"

for link in "" "-no-pie" "-Wl,--gc-sections -ffunction-sections" "-Wl,-z,now -Wl,-z,relro" "-fuse-ld=gold"; do
  step "linked with '$link'"
  # shellcheck disable=SC2086
  "$cc" -O1 -mclwb $link -o program main.c part.c
  reported ./program | diff expected - || fail "< expected, > reported"
  [ -z "$(comm -23 <(flushes program) <(rows program))" ] || fail "not all flushes are in the table"
done

step "a static program runs alone"
"$cc" -O1 -mclwb -static -o program main.c part.c
./program || fail "ends with $?"

step "objects in an archive"
"$cc" -O1 -mclwb -c part.c
ar rc libarchived.a part.o
"$cc" -O1 -o program main.c -L. -larchived
reported ./program | diff expected - || fail "< expected, > reported"

step "loaded and unloaded: each image has a gate of its own"
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include "view.h"
int main(void) {
  for (int i = 0; i < 2; ++i) {
    void *library = dlopen("libpart.so", RTLD_NOW);
    if (!library) return 1;
    void (*flush)(char *) = (void (*)(char *))dlsym(library, "part_flush");
    flush(view_map());
    if (dlclose(library) != 0) return 2;
  }
  return 0;
}
C
"$cc" -O1 -o program loads.c
reported ./program | diff <(cat expected expected) - || fail "< expected, > reported"

step "a runtime of another version is none"
cat >other.c <<'C'
#include <scute/shield_hooks.h>
#include <unistd.h>
static int flush(const void *a, enum scute_shield_flush_kind k, const struct scute_shield_site *s) {
  (void)a, (void)k, (void)s;
  _exit(3);
}
static void attach(struct scute_shield_gate *gate) { gate->high = ~UINT64_C(0); }
static const struct scute_shield_hooks hooks = {
    .version = VERSION, .size = SIZE, .flush = flush, .attach = attach};
const struct scute_shield_hooks *scute_shield_hooks_get(void) { return &hooks; }
C
other() { gcc -shared -fPIC "-I$SCUTE_SOURCE_DIR/include" "-DVERSION=$1" "-DSIZE=$2" -o libother.so other.c; }
"$cc" -O1 -mclwb -o program main.c part.c
status=0
other SCUTE_SHIELD_HOOKS_VERSION 'sizeof hooks'
LD_PRELOAD=./libother.so ./program || status=$?
[ "$status" = 3 ] || fail "the right version is not asked: $status"
other SCUTE_SHIELD_HOOKS_VERSION+1 'sizeof hooks'
LD_PRELOAD=./libother.so ./program || fail "the next version is asked: $?"
other SCUTE_SHIELD_HOOKS_VERSION 'sizeof hooks-8'
LD_PRELOAD=./libother.so ./program || fail "a table that is too short is asked: $?"
echo "all as they should be"
