#!/usr/bin/env bash
# precompile.sh INCLUDE_DIR FOLDER COMPILER [FLAG...]: compiles the headers that the files of this
# folder include first into FOLDER, for GCC.
set -euo pipefail

include=$1 folder=$2
shift 2
rm -rf "$folder"
for header in scute.hpp containers.hpp pow.hpp; do
  mkdir -p "$folder/scute"
  "$@" "-I$include" -x c++-header "$include/scute/$header" -o "$folder/scute/$header.gch"
done
