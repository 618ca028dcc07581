#!/usr/bin/env bash
# wrapper.sh: scute-cc and scute-c++ as compilers: their options, what they refuse, make.
set -euo pipefail
export LC_ALL=C

fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
cc=$SCUTE_PASS_BIN/scute-cc cxx=$SCUTE_PASS_BIN/scute-c++
printf 'int twice(int x);\nint main(void) { return twice(0); }\n' >main.c
printf '#include <emmintrin.h>\nint twice(int x) { _mm_sfence(); return 2 * x; }\n' >twice.c
instrumented() { nm "$1" | grep -q "$2"; }

# refused TEXT ARGUMENT...
refused() {
  local text=$1
  shift
  if "$cc" "$@" -c twice.c 2>output; then fail "$* is accepted"; fi
  grep -qF -e "$text" output || { cat output; fail "$* is refused for another reason"; }
}
refused "has no option 'everything'" -fscute=flush,everything
refused "leave out -flto" -flto=thin
refused "leave out -m32" -m32

"$cc" -c twice.c
instrumented twice.o scute_shield_fence_stub || fail "-c does not instrument"
"$cc" -c main.c
"$cc" -o program main.o twice.o
./program
instrumented program 't scute_shield_fence_stub' || fail "objects are linked without the stubs"
"$cc" -o program main.c twice.c && ./program
"$cc" -x c - -x none -o program twice.o <main.c && ./program
"$cc" -E twice.c | grep -q 'int twice' || fail "-E"
"$cc" -M twice.c | grep -q emmintrin || fail "-M"
"$cc" -S -o twice.s twice.c && grep -q scute_shield_fence_stub twice.s || fail "-S"
"$cc" -c twice.s -o assembled.o
"$cc" -MMD -MF twice.d -c twice.c && [ -s twice.d ] || fail "-MMD"
"$cc" --version | grep -q 'clang version 19' || fail "--version"
"$cc" -fscute= -fscute=detect -c twice.c && readelf -x .note.scute.shield twice.o | grep -q '01000000 03000000' ||
  fail "the last -fscute does not count"
# Reports name lines, though the program has asked for no debug information; if it asks for none,
# there is none.
"$cc" -c twice.c && readelf -S twice.o | grep -q debug_line || fail "no lines"
"$cc" -g0 -c twice.c && ! readelf -S twice.o | grep -q debug_line || fail "-g0 is not heard"
printf '#include <string>\nint main() { return static_cast<int>(std::string().size()); }\n' >main.cpp
"$cxx" -std=c++20 -o program main.cpp && ./program
SCUTE_CLANG=clang++-19 "$cc" -x c++ -c main.cpp -o other.o
if SCUTE_CLANG=no-such-compiler "$cc" -c twice.c 2>/dev/null; then fail "SCUTE_CLANG is not heard"; fi
# A folder with a blank in its name.
mkdir 'a folder'
cp twice.c 'a folder/twice too.c'
"$cc" -c 'a folder/twice too.c' -o 'a folder/out.o' && [ -s 'a folder/out.o' ] || fail "blanks"

# make, as docs/internals/shield.md says.
mkdir make
cp main.c twice.c make
printf 'program: main.o twice.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n' >make/Makefile
make -s -C make CC="$cc" CFLAGS='-O2 -fscute=detect' program
make/program
instrumented make/program 't scute_shield_fence_stub' || fail "make does not instrument"
echo "a compiler"
