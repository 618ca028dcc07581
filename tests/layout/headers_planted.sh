#!/usr/bin/env bash
# headers_planted.sh HEADERS_SH COMPILER
# headers.sh can fail, whatever the header's own source includes before it, and each header belongs
# to one tenth.
set -euo pipefail
mkdir -p tree/{include,src/a}
echo 'inline int f() { return 1; }' >tree/include/sound.h
echo 'std::vector<int> g();' >tree/src/a/needy.hpp
printf '#include <vector>\n#include "a/needy.hpp"\n' >tree/src/a/needy.cpp
if output=$(bash "$1" tree "$2"); then
  echo "not found: a header that does not include what it uses"
  exit 1
fi
grep -Fqx 'src/a/needy.hpp: does not compile alone' <<<"$output" || { echo "not named: $output"; exit 1; }

finding=
for tenth in {0..9}; do bash "$1" tree "$2" "$tenth" >out || finding+=$tenth; done
[ "$finding" = 2 ] || { echo "tenths '$finding' found it, instead of 2"; exit 1; }

sed -i '1i #include <vector>' tree/src/a/needy.hpp
bash "$1" tree "$2" | grep -Fx 'layout: 2 of 2 headers compile alone'
