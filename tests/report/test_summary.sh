#!/usr/bin/env bash
# The summary of a run of the tests: failures first, each with the command that repeats it alone,
# then the slowest, then how many passed; and what cmake/run-cases.sh makes of the output of a
# GoogleTest program. Both can fail.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

summary=$SCUTE_SOURCE_DIR/tools/test_summary cases=$SCUTE_SOURCE_DIR/cmake/run-cases.sh

# program BODY: a program whose output is that of a GoogleTest program.
program() {
  printf '#!/usr/bin/env bash\n%s\n' "$1" >program
  chmod +x program
}
pass='echo "[ RUN      ] A.Passes"; echo chatter; echo "half a line[       OK ] A.Passes (0 ms)"'
miss='echo "[ RUN      ] A.Fails/0"; echo "x.cpp:1: Failure"; echo "[  FAILED  ] A.Fails/0, where GetParam() = 1 (0 ms)"'

program "$pass"
expect 0 bash "$cases" 60 ./program
has out.txt '1 cases passed, 0 failed'
lacks out.txt chatter
program "$pass; $miss; exit 1"
SCUTE_CPU=portable expect 1 bash "$cases" 60 ./program
has out.txt 'x.cpp:1: Failure'
has out.txt '1 cases passed, 1 failed'
has out.txt '  repeat: SCUTE_CPU=portable ./program --gtest_filter=A.Fails/0'
lacks out.txt chatter
# A case that ends the program, and one that takes too long, have failed.
program "$pass; echo '[ RUN      ] A.Dies'; kill -ABRT \$\$"
expect 1 bash "$cases" 60 ./program
has out.txt 'The program ended in A.Dies.'
has out.txt '  repeat: ./program --gtest_filter=A.Dies'
program "$pass; echo '[ RUN      ] A.Hangs'; exec sleep 600"
expect 1 bash "$cases" 1 ./program
has out.txt 'stopped after 1 seconds'
has out.txt 'FAILED A.Hangs'
program :
expect 1 bash "$cases" 60 ./program
has out.txt 'no case was run'

# A run with another engine has the cases that asked for theirs in the first one, and no others.
program 'echo "engine ${SCUTE_TEST_ENGINE:-} $*" >>log
[ -z "${1:-}" ] || { cat "${1#*=}" >>log; echo >>log; }
[ -z "${SCUTE_TEST_ASKED:-}" ] || { echo A.Passes; echo A.Asks; echo A.Asks; } >>"$SCUTE_TEST_ASKED"
'"$pass"
SCUTE_TEST_ENGINES=rotate expect 0 bash "$cases" --free asked/a.1 60 ./program
has log 'engine rotate'
equal() { [ "$1" = "$2" ] || fail "'$1' is not '$2'"; }
equal "$(tr '\n' ' ' <asked/a.1)" 'A.Asks A.Passes '
expect 0 bash "$cases" --engine spec asked/a 1 60 ./program
has log 'engine spec --gtest_flagfile=asked/a.spec'
has log '--gtest_filter=A.Asks:A.Passes'

cat >tests.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="4">
<testcase name="tx/1of2" time="3.5" status="run"><system-out>40 cases passed, 0 failed
</system-out></testcase>
<testcase name="tx/2of2" time="1" status="fail"><failure message=""/><system-out>x.cpp:1: Failure
38 cases passed, 2 failed
FAILED A.B
  repeat: SCUTE_TEST_ENGINE=spec test-tx --gtest_filter=A.B
FAILED A.C
  repeat: test-tx --gtest_filter=A.C
</system-out></testcase>
<testcase name="cli/kv" time="20" status="fail"><failure message=""/><system-out>  repeat: of a run that has to fail
FAILED at kv.sh:7
</system-out></testcase>
<testcase name="cli/usage" time="0.5" status="run"><system-out></system-out></testcase>
</testsuite>
XML
expect 1 "$python" "$summary" tests.xml --preset asan --all --also 'lint=./dev lint' --seconds 9
has out.txt '  alone: SCUTE_TEST_ENGINE=spec test-tx --gtest_filter=A.B'
has out.txt '  alone: test-tx --gtest_filter=A.C'
has out.txt '  alone: ./dev test --preset asan --all cli/kv'
has out.txt '  alone: ./dev lint'
lacks out.txt 'alone: of a run'
equal "$(tail -n 1 out.txt)" '79 passed, 4 failed'
equal "$(grep -n '^slowest' out.txt | cut -d: -f1)" "$(($(grep -n 'alone: ./dev lint' out.txt | cut -d: -f1) + 2))"
equal "$(grep -A 1 '^slowest' out.txt | tail -n 1)" '      20.0 s  cli/kv'
sed -i 's/status="fail"/status="run"/; s/, 2 failed/, 0 failed/' tests.xml
expect 0 "$python" "$summary" tests.xml
equal "$(tail -n 1 out.txt)" '80 passed, 0 failed'
# Nothing run is nothing passed.
expect 1 "$python" "$summary" missing.xml

# A change touches the files that include it, through others as well, and nothing else.
mkdir -p tree/src/a tree/include/scute
echo '#include "a/low.hpp"' >tree/src/a/middle.hpp
echo >tree/src/a/low.hpp
echo '#include "a/middle.hpp"' >tree/src/a/high.cpp
echo '#include <scute/scute.h>' >tree/src/a/other.cpp
touched() { "$python" "$SCUTE_SOURCE_DIR/tools/touched" tree | tr '\n' ' '; }
equal "$(echo src/a/low.hpp | touched)" 'src/a/high.cpp '
equal "$(echo include/scute/gone.h | touched)" ''
equal "$(printf 'README.md\nsrc/a/other.cpp\n' | touched)" 'src/a/other.cpp '
equal "$(echo .clang-tidy | touched)" 'src/a/high.cpp src/a/other.cpp '
