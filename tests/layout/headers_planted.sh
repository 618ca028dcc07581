#!/usr/bin/env bash
# headers_planted.sh HEADERS_SH COMPILER
# headers.sh can fail.
set -euo pipefail
mkdir -p tree/{include,src/a}
echo 'inline int f() { return 1; }' >tree/include/sound.h
echo 'std::vector<int> g();' >tree/src/a/needy.hpp
if output=$(bash "$1" tree "$2"); then
  echo "not found: a header that does not include what it uses"
  exit 1
fi
grep -Fqx 'src/a/needy.hpp: does not compile alone' <<<"$output" || { echo "not named: $output"; exit 1; }
sed -i '1i #include <vector>' tree/src/a/needy.hpp
bash "$1" tree "$2" | grep -Fx 'layout: 2 headers compile alone'
