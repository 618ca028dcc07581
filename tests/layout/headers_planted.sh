#!/usr/bin/env bash
# headers_planted.sh HEADERS_SH COMPILER
# headers.sh can fail; and passes by what a source includes first, and by nothing else.
set -euo pipefail
mkdir -p tree/{include,src/a}
echo 'inline int f() { return 1; }' >tree/include/sound.h
echo 'std::vector<int> g();' >tree/src/a/needy.hpp
found() {
  if output=$(bash "$1" tree "$2"); then
    echo "not found: $3"
    exit 1
  fi
  grep -Fqx 'src/a/needy.hpp: does not compile alone' <<<"$output" || { echo "not named: $output"; exit 1; }
}
found "$@" "a header that does not include what it uses"
printf '#include <vector>\n#include "a/needy.hpp"\n' >tree/src/a/needy.cpp
found "$@" "the same, whose source includes what it needs before it"
printf '// About it.\n#include "a/needy.hpp"\n' >tree/src/a/needy.cpp
bash "$1" tree "$2" | grep -Fx 'layout: 1 headers compile alone, and 1 at the head of their sources'
rm tree/src/a/needy.cpp
sed -i '1i #include <vector>' tree/src/a/needy.hpp
bash "$1" tree "$2" | grep -Fx 'layout: 2 headers compile alone, and 0 at the head of their sources'
