#!/usr/bin/env bash
# planted.sh CHECK_SH
# A check that cannot fail proves nothing: builds a small correct tree in the current folder, then
# breaks one rule at a time and requires that the check names the violation.
set -euo pipefail

check=$1
failures=0

# Every .cpp that is there at this point counts as compiled.
list_compiled() {
  find "$PWD/tree" -name '*.cpp' | sed '1s/^/[/; s|[^[].*|{"directory": "/", "file": "&", "command": ""},|; $s/,$/]/' >compile_commands.json
}

# The correct tree: two folders of src/, a public header, a mirrored test.
plant_tree() {
  rm -rf tree
  mkdir -p tree/{src/medium,src/tx/inner,src/engine/{one,two},src/c_api/one,include/scute,tests/medium,tests/cli,tests/layout,docs/internals}
  printf 'medium:\ntx: medium\ntx/inner: tx\nengine/one: tx\nengine/two: tx\nc_api/one:\n' >tree/tests/layout/arrows.txt
  { echo '```arrows'; cat tree/tests/layout/arrows.txt; echo '```'; } >tree/docs/internals/architecture.md
  echo 'int begin();' >tree/src/tx/begin.hpp
  for engine in one two; do
    printf '#include "tx/begin.hpp"\n' >tree/src/engine/$engine/engine.cpp
  done
  printf '#include "tx/begin.hpp"\n' >tree/src/tx/inner/part.cpp
  echo 'int scute_x(void);' >tree/include/scute/scute.h
  echo 'int map();' >tree/src/medium/map.hpp
  printf '#include "medium/map.hpp"\n#include <vector>\n' >tree/src/medium/map.cpp
  # A message or a comment that names a function calls nothing.
  printf '// As scute_x() does.\nconst char* advice() { return "call scute_x()"; }\n' >>tree/src/medium/map.cpp
  printf 'int scute_x(void) { return 0; }\n' >tree/src/c_api/one/x.cpp
  printf '#include "../medium/map.hpp"\n#include "scute/scute.h"\n' >tree/src/tx/begin.cpp
  printf '#include "medium/map.hpp"\n' >tree/tests/medium/map_test.cpp
  list_compiled
}

run_check() { bash "$check" tree "$PWD/compile_commands.json"; }
. "$(dirname "$0")/expect_violation.sh"

plant_tree
if ! output=$(bash "$check" tree "$PWD/compile_commands.json" 2>&1); then
  printf 'the correct tree fails:\n%s\n' "$output"; failures=1
fi

echo 'int f();' >tree/src/tx/orphan.cpp
expect_violation 'src/tx/orphan.cpp: no target compiles this file'

echo 'int f();' >tree/src/tx/orphan.hpp
expect_violation 'src/tx/orphan.hpp: no file includes this header'

printf '#include "orphan.hpp"\n' >tree/src/tx/orphan.hpp
expect_violation 'src/tx/orphan.hpp: no file includes this header'

mkdir tree/tests/elsewhere && echo '' >tree/tests/elsewhere/x.sh
expect_violation 'tests/elsewhere: mirrors no folder of src/'

echo '#include "medium/map.hpp"' >>tree/include/scute/scute.h
expect_violation 'include/scute/scute.h: public header includes private src/medium/map.hpp'

echo '#include <isa-l.h>' >>tree/include/scute/scute.h
expect_violation \
  'include/scute/scute.h: public header includes <isa-l.h>, a library that users need not have'

echo '' >tree/src/tx/lane.hpp
echo '#include "../tx/lane.hpp"' >>tree/src/medium/map.cpp
expect_violation \
  'src/medium/map.cpp: src/medium includes src/tx/lane.hpp, which tests/layout/arrows.txt does not allow'

echo '' >tree/src/engine/two/state.hpp
echo '#include "engine/two/state.hpp"' >>tree/src/engine/one/engine.cpp
expect_violation 'src/engine/one/engine.cpp: src/engine/one includes src/engine/two/state.hpp, which tests/layout/arrows.txt does not allow'

echo '' >tree/src/tx/inner/part.hpp
echo '#include "tx/inner/part.hpp"' >>tree/src/tx/begin.cpp
expect_violation 'src/tx/begin.cpp: src/tx includes src/tx/inner/part.hpp, which tests/layout/arrows.txt does not allow'

# A call through the C interface is an arrow as well.
printf 'int y() { return scute_x(); }\n' >>tree/src/tx/begin.cpp
expect_violation 'src/tx/begin.cpp: src/tx calls scute_x() of src/c_api/one/x.cpp, which tests/layout/arrows.txt does not allow'

mkdir tree/src/extra && echo '' >tree/src/extra/x.cpp && list_compiled
expect_violation 'src/extra/x.cpp: src/extra is no room of tests/layout/arrows.txt'

sed -i 's/^engine\/two: tx/& medium/' tree/tests/layout/arrows.txt tree/docs/internals/architecture.md
expect_violation 'tests/layout/arrows.txt: nothing uses the arrow engine/two medium'

echo '' >tree/src/tx/lane.hpp && echo '#include "tx/lane.hpp"' >>tree/src/medium/map.cpp
sed -i 's/^medium:/& tx/' tree/tests/layout/arrows.txt tree/docs/internals/architecture.md
expect_violation 'tests/layout/arrows.txt: a circle: medium tx'

sed -i 's/^tx: medium/tx:/' tree/docs/internals/architecture.md
expect_violation 'docs/internals/architecture.md: its table of rooms is not that of tests/layout/arrows.txt'

yes '// line' | head -n 451 >>tree/src/tx/begin.cpp || true
expect_violation 'src/tx/begin.cpp: longer than 450 lines'

echo '// TO''DO: later' >>tree/src/tx/begin.cpp
expect_violation 'src/tx/begin.cpp:3: contains TO''DO'

echo 'TEST(Map, DIS''ABLED_works) {}' >>tree/tests/medium/map_test.cpp
expect_violation 'tests/medium/map_test.cpp:2: contains DIS''ABLED_'

echo 'void f() { GTEST_SK''IP(); }' >>tree/tests/medium/map_test.cpp
expect_violation 'tests/medium/map_test.cpp:2: contains GTEST_SK''IP'

git -C tree init -q && echo '' >tree/dev && echo '' >tree/left_behind && git -C tree add dev left_behind
expect_violation 'left_behind: a file that does not belong in the root'

# Rule 8, in each language.
sleeper() { # FILE TEXT: in it %s stands for the word
  mkdir -p "tree/tests/${1%/*}"
  # shellcheck disable=SC2059
  printf "$2\n" sleep >>"tree/tests/$1"
  expect_violation "tests/$1:${3:-1}: sleeps, and a test waits for a condition (tests/support/wait.hpp)"
}
sleeper medium/map_test.cpp 'void f() { std::this_thread::%s_for(1ms); }' 2
sleeper medium/map_test.cpp 'void f() { ::u%s(20); }' 2
sleeper cli/a.c 'void f(void) { nano%s(&t, NULL); }'
sleeper cli/a.sh '%s 0.1'
sleeper cli/a.sh 'for _ in 1 2; do [ -e x ] && break; %s 0.05; done'
sleeper cli/a.sh 'until [ -e x ]; do %s "$long"; done'
sleeper cli/a.py 'import time; time.%s(1)'

[ "$failures" = 0 ] || { echo "$failures planted violation(s) missed"; exit 1; }
echo "every planted violation was found"
