#!/usr/bin/env bash
# package.sh: tests the installed pass, moved elsewhere: scute-cc, and scute_shield_instrument() of
# the CMake package. The project's compiler is clang, scute-cc, or one that cannot instrument.
set -euo pipefail
export LC_ALL=C

fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
quiet() { "$@" >output 2>&1 || { cat output; fail "$*"; } }
quiet "$CMAKE" --install "$SCUTE_BINARY_DIR" --component pass --prefix "$PWD/installed"
mv installed moved
! grep -rlF -e "$SCUTE_BINARY_DIR" -e "$PWD/installed" moved/bin || fail "the files above remember another place"
package=$(find "$PWD/moved" -name scuteShield.cmake)
[ -n "$package" ] || fail "scuteShield.cmake is not installed"

source=$SCUTE_SOURCE_DIR/tests/pass
cp -r "$source/consumer" project
cp "$source/programs/view.h" project
cat >project/part.cpp <<'C'
#include <emmintrin.h>
extern "C" void part(char* p) {
  *reinterpret_cast<volatile long*>(p) = 1;
  _mm_clflush(p);
}
C
cat >project/main.c <<'C'
#include <emmintrin.h>
#include "view.h"
void part(char *p);
int main(void) {
  part(view_map());
  _mm_sfence();
  return 0;
}
C
cat >expected <<'TEXT'
store +0 8 part.cpp:3 part
flush clflush +0 part.cpp:4 part
fence sfence main.c:6 main
TEXT

# build NAME C-COMPILER C++-COMPILER
build() {
  "$CMAKE" -G Ninja -S project -B "$1" -DPACKAGE="$package" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$2" \
    -DCMAKE_CXX_COMPILER="$3" >output 2>&1
}
for kind in clang scute; do
  compilers=(clang-19 clang++-19)
  [ "$kind" = clang ] || compilers=("$PWD/moved/bin/scute-cc" "$PWD/moved/bin/scute-c++")
  build "$kind" "${compilers[@]}" || { cat output; fail "configuring with $kind"; }
  quiet "$CMAKE" --build "$kind"
  quiet "$kind/consumer"
  rm -f log
  RECORDER_LOG=$PWD/log LD_PRELOAD=$SCUTE_PASS_RECORDER "$kind/consumer"
  diff expected log || fail "$kind: < expected, > reported"
done
if build other gcc g++; then fail "gcc is accepted"; fi
grep -q 'needs clang 19 for C' output || { cat output; fail "gcc is refused for another reason"; }
echo "installed"
