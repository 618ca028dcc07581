#!/usr/bin/env bash
# locks.sh SOURCE_DIR CLANG [JOBS]
# What src/ says about its locks (src/base/locks/lock_contract.hpp) is true, as far as clang's
# thread-safety analysis can tell. Nothing is built.
set -euo pipefail

cd "$1"
compiler=$2 jobs=${3:-2}
command -v "$compiler" >/dev/null || { echo "there is no $compiler"; exit 1; }

one() {
  "$1" -fsyntax-only -std=c++20 -Iinclude -Isrc -Wno-everything -Wthread-safety -Werror=thread-safety "$2"
}
export -f one

sources=$(find src -name '*.cpp' | sort)
[ -n "$sources" ] || { echo "no sources in $1"; exit 1; }
if ! xargs -P "$jobs" -I{} bash -c 'one "$@"' _ "$compiler" {} <<<"$sources"; then
  echo "layout: not every lock contract is kept"
  exit 1
fi
echo "layout: $(wc -l <<<"$sources") files keep their lock contracts"
