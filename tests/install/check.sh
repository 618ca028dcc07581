#!/usr/bin/env bash
# Installs into a fresh prefix, moves it, and uses it as an outside project would: C and C++, shared
# and static, through find_package and through pkg-config. Then checks what libscute.so exports
# against the C headers. Runs in an empty folder, and takes its settings from the environment
# (CMakeLists.txt).
set -euo pipefail
export LC_ALL=C

consumer=$SCUTE_SOURCE_DIR/tests/install/consumer
prefix=$PWD/moved
read -ra cflags <<<"${CFLAGS:-}"
read -ra cxxflags <<<"${CXXFLAGS:-}"

step() { printf '==> %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }
quiet() { "$@" >log 2>&1 || { cat log; fail "$*"; } }

# run PROGRAM: it must print the version that CMake was given.
run() {
  local output
  rm -f "$PWD/${1##*/}.pool"
  output=$(env LD_LIBRARY_PATH="$libdir" "$1" "$PWD/${1##*/}.pool") || fail "$1 ends with $?"
  [ "$output" = "$SCUTE_VERSION" ] || fail "$1 prints '$output' instead of $SCUTE_VERSION"
}

# needs_shared PROGRAM yes|no: whether it loads libscute.so, so that each test tests what it says.
needs_shared() {
  local found=no
  ! readelf -d "$1" | grep -q 'NEEDED.*libscute\.so\.0' || found=yes
  [ "$found" = "$2" ] || fail "$1 loads libscute.so.0: $found, expected $2"
}

step "install and move"
quiet "$CMAKE" --install "$SCUTE_BINARY_DIR" --prefix "$PWD/installed"
# Nothing that is installed may remember where it was built or first installed.
mv installed "$prefix"
if grep -rlE --include='*.cmake' --include='*.pc' -e "$SCUTE_BINARY_DIR" -e "$PWD/installed" "$prefix"; then
  fail "the files above name the build tree or the first prefix"
fi
pc=$(find "$prefix" -name scute.pc)
[ -n "$pc" ] || fail "scute.pc is not installed"
libdir=$(cd "${pc%/*}/.." && pwd)
[ -f "$prefix/include/scute/scute.h" ] || fail "scute/scute.h is not installed"

for kind in scute shared static; do
  step "find_package, scute::$kind"
  quiet "$CMAKE" -G Ninja -S "$consumer" -B "cmake-$kind" -DCMAKE_PREFIX_PATH="$prefix" \
    -DKIND="$kind" -DVERSION="$SCUTE_VERSION" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_C_FLAGS="${CFLAGS:-}" -DCMAKE_CXX_FLAGS="${CXXFLAGS:-}"
  quiet "$CMAKE" --build "cmake-$kind"
  expected=yes
  [ "$kind" != static ] || expected=no
  for program in consumer-c consumer-cpp; do
    run "cmake-$kind/$program"
    needs_shared "cmake-$kind/$program" "$expected"
  done
  run "cmake-$kind/consumer-crash"
  needs_shared "cmake-$kind/consumer-crash" no
done

for kind in shared static; do
  step "find_package from a project in C alone, scute::$kind"
  quiet "$CMAKE" -G Ninja -S "$consumer/c_only" -B "cmake-c-$kind" -DCMAKE_PREFIX_PATH="$prefix" \
    -DKIND="$kind" -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="${CFLAGS:-}"
  quiet "$CMAKE" --build "cmake-c-$kind"
  run "cmake-c-$kind/consumer-c"
done

export PKG_CONFIG_PATH=${pc%/*}
version=$(pkg-config --modversion scute)
[ "$version" = "$SCUTE_VERSION" ] || fail "pkg-config says version $version, not $SCUTE_VERSION"
for kind in shared static; do
  step "pkg-config, $kind"
  read -ra compile <<<"$(pkg-config --cflags scute)"
  if [ "$kind" = shared ]; then
    libs=$(pkg-config --libs scute) expected=yes
  else
    # The linker prefers a shared library of the same name, so the archive is named in full.
    libs=$(pkg-config --static --libs scute | sed 's/-lscute\b/-l:libscute.a/') expected=no
  fi
  read -ra link <<<"$libs"
  quiet "$CC" -std=c11 "${cflags[@]}" "${compile[@]}" "$consumer/main.c" -o "pc-$kind-c" "${link[@]}"
  quiet "$CXX" -std=c++20 "${cxxflags[@]}" "${compile[@]}" "$consumer/main.cpp" -o "pc-$kind-cpp" \
    "${link[@]}"
  for program in "pc-$kind-c" "pc-$kind-cpp"; do
    run "./$program"
    needs_shared "$program" "$expected"
  done
done

step "pkg-config, scute-testing"
read -ra compile <<<"$(pkg-config --cflags scute-testing)"
read -ra link <<<"$(pkg-config --libs scute-testing)"
quiet "$CXX" -std=c++20 "${cxxflags[@]}" "${compile[@]}" "$consumer/crash.cpp" -o pc-crash "${link[@]}"
run ./pc-crash
needs_shared pc-crash no

step "every public header stands alone"
while IFS= read -r header; do
  case $header in
    *.h)
      quiet "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c \
        -I"$prefix/include" -include "$header" /dev/null ;;
  esac
  quiet "$CXX" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ \
    -I"$prefix/include" -include "$header" /dev/null
done < <(find "$prefix/include/scute" -name '*.h' -o -name '*.hpp')

step "exports of libscute.so"
library=$libdir/libscute.so
readelf -d "$library" | grep -q 'SONAME.*\[libscute\.so\.0\]' || fail "SONAME is not libscute.so.0"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >exports
[ -s exports ] || fail "libscute.so exports nothing"
if grep -v '^scute_.*@@SCUTE_0\.[0-9]*$' exports; then
  fail "the symbols above are exported though they are not scute_*@@SCUTE_0.x"
fi
# Declared but not exported: a function of a header that was never written, or lacks SCUTE_API.
# (shield_hooks.h is what a runtime exports, shield_view.h what libscute-shield.so does.)
find "$prefix/include/scute" -name '*.h' ! -name shield_hooks.h ! -name shield_view.h -exec "$CC" -E -P -I"$prefix/include" {} \; | tr '\n' ' ' | tr ';{}' '\n' |
  grep -vE '\b(typedef|inline)\b' | grep -oE '\bscute_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >declared
[ -s declared ] || fail "the C headers declare no function"
if sed 's/@@.*//' exports | comm -13 - declared | grep .; then
  fail "the C headers declare the functions above, but libscute.so does not export them"
fi
# Exported but not declared: an interface that no user can know.
if sed 's/@@.*//' exports | comm -23 - declared | grep .; then
  fail "libscute.so exports the symbols above, but no C header declares them"
fi
echo "$(wc -l <exports) symbols exported, all declared"
