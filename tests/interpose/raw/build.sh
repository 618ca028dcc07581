#!/usr/bin/env bash
# build.sh FOLDER C-COMPILER C++-COMPILER: builds the programs of this folder into FOLDER.
# SCUTE_RAW_FLAGS: one more argument of the compilers.
set -euo pipefail

to=$1 cc=$2 cxx=$3 from=${BASH_SOURCE[0]%/*}
warnings=(-Wall -Wextra -Werror ${SCUTE_RAW_FLAGS:+"$SCUTE_RAW_FLAGS"})
"$cc" -std=gnu11 -O2 "${warnings[@]}" -D_GNU_SOURCE -o "$to/sorted_tree" "$from/sorted_tree.c"
"$cxx" -std=gnu++20 -O2 "${warnings[@]}" -o "$to/level_table" "$from/level_table.cpp"
"$cc" -std=gnu11 -O2 "${warnings[@]}" -D_GNU_SOURCE -o "$to/item_server" "$from/item_server.c" -pthread
