#!/usr/bin/env bash
# ./dev test: which tests ctest is asked for, by tier, tenth, change and place, and what a passed
# --all leaves. No test is run: cmake and ctest are others'.
. "$SCUTE_SOURCE_DIR/tests/report/lib.bash"

mkdir -p tree/tests/tx tree/src/core/engine tree/src/core/tx tools
cp "$SCUTE_SOURCE_DIR/dev" tree/
mkdir tree/tools tree/cmake
cp -r "$SCUTE_SOURCE_DIR/tools/test_summary" tree/tools/
cp "$SCUTE_SOURCE_DIR/cmake/run-cases.sh" tree/cmake/
here=$PWD
equal() { [ "$1" = "$2" ] || fail "'$1' is not '$2'"; }

# Everything is installed, configured and built. ctest notes what it is asked for, and its tests
# pass, or not (`result`).
printf '#!/bin/sh\necho installed\n' >tools/dpkg-query
cat >tools/cmake <<'SH'
#!/bin/sh
echo "$*" >>"$HERE/built"
SH
cat >tools/ctest <<'SH'
#!/bin/bash
case " $* " in *" -N "*) [[ " $* " != *tx/2of4* ]] || echo '  Test #2: tx/2of4'; exit 0 ;; esac
echo "tier ${SCUTE_TEST_TIER:-} engines ${SCUTE_TEST_ENGINES:-} $*" >>"$HERE/asked"
while [ "$1" != --output-junit ]; do shift; done
echo "1/2 Test #1: tx/1of4 ....   Passed"
if [ "$(cat "$HERE/result")" = run ]; then status=0; else status=8; echo "2/2 Test #2: tx/2of4 ....***Failed"; fi
printf '<testsuite><testcase name="tx/1of4" time="1" status="%s"><system-out></system-out></testcase></testsuite>' \
  "$(cat "$HERE/result")" >"$2"
exit $status
SH
chmod +x tools/*
export HERE=$here PATH=$here/tools:$PATH
git -C tree init -q && git -C tree config user.email test@example.org && git -C tree config user.name test
printf 'build/\n__pycache__/\n' >tree/.gitignore
mkdir -p tree/build/release
echo run >result
touch tree/tests/tx/one_test.cpp tree/src/core/engine/one.cpp tree/src/core/tx/one.cpp
commit() { git -C tree add -A && git -C tree commit -qm "$1"; }
printf '# which\n0000000000000000000000000000000000000000\n' >tree/tests/all_passed.txt
commit first
# asks STATUS ARGS...: ./dev test ARGS; the arguments of ctest are in $asked.
asks() {
  rm -f asked built
  expect "$1" tree/dev test "${@:2}"
  asked=$(cat asked 2>/dev/null || true)
}
has_asked() { [[ $asked == *"$1"* ]] || fail "ctest was asked: $asked, without: $1"; }
lacks_asked() { [[ $asked != *"$1"* ]] || fail "ctest was asked: $asked"; }

# Nothing to compare with: every engine.
asks 0
lacks_asked rotate
has_asked 'tier everyday'
lacks_asked '|engines|'
git -C tree rev-parse HEAD >base
{ echo '# which'; cat base; } >tree/tests/all_passed.txt
commit second
tenth=$((16#$(git -C tree rev-parse HEAD | cut -c 1-7) % 10))
asks 0
has_asked 'tier everyday engines rotate'
has_asked "-LE ^(only_all|engines|tenth[^$tenth])\$"
has err.txt "tenth $tenth"
equal "$(tail -n 1 out.txt)" '1 passed, 0 failed'
lacks out.txt 'Test #1'
asks 0 --tenth 4 -LE slow
has_asked '-LE ^(only_all|engines|tenth[^4])$|slow'
# A change elsewhere, and one of an engine: in the tree, committed, or unknown to git.
echo >>tree/src/core/tx/one.cpp
asks 0
has_asked rotate
touch tree/src/core/engine/two.cpp
asks 0
lacks_asked rotate
lacks_asked '|engines|'
rm tree/src/core/engine/two.cpp
git -C tree checkout -q src

# A folder, a test, cases, and what ctest is given.
asks 0 tx
has_asked '-L ^tx$'
has built '--target tests-tx'
asks 0 tx/2of4
has_asked '-R ^tx/2of4$'
lacks_asked -LE
asks 2 tx/late.*
asks 2 nowhere
asks 2 --tenth 10
asks 0 -R pool/
has_asked '-R pool/'
lacks built --target

# A failed test is reported with the command that repeats it.
echo fail >result
asks 1 tx
has out.txt 'Test #2: tx/2of4'
has out.txt '  alone: ./dev test tx/1of4'
equal "$(tail -n 1 out.txt)" '0 passed, 1 failed'
asks 1 --all tx
has_asked 'tier  engines '
lacks_asked -LE
has out.txt '  alone: ./dev test --all tx/1of4'

# Only a whole run that passes moves the commit on.
echo run >result
asks 0 --all tx
sed -i 's/^command_lint() {/&\n  return 1/' tree/dev
commit 'lint fails'
asks 1 --all
has out.txt '  alone: ./dev lint'
equal "$(tail -n 1 tree/tests/all_passed.txt)" "$(cat base)"
sed -i 's/^  return 1$/  return 0/' tree/dev
asks 0 --all
equal "$(tail -n 1 tree/tests/all_passed.txt)" "$(cat base)"
commit third
asks 0 --all --preset debug
equal "$(tail -n 1 tree/tests/all_passed.txt)" "$(cat base)"
asks 0 --all
equal "$(tail -n 1 tree/tests/all_passed.txt)" "$(git -C tree rev-parse HEAD)"
equal "$(head -n 1 tree/tests/all_passed.txt)" '# which'

# Under load: three passes and a hundred turns, each once. The next run continues at the failed
# test. No burner keeps running.
cat >tools/python3 <<'SH'
#!/bin/bash
# The one that takes memory, and all other python.
[ "$1 $2" = "-B -" ] || exec /usr/bin/env PATH="${PATH#*:}" python3 "$@"
echo $$ >>"$HERE/burners"
exec sleep 600
SH
chmod +x tools/python3
mkdir -p tree/build/release/tests tree/tests/support
cp "$SCUTE_SOURCE_DIR/tests/support/waiters.py" tree/tests/support/
cat >tree/tests/tx/one_test.cpp <<'CPP'
TEST(late, Waits) { std::thread t; }
TEST_P(early, DoesToo) { std::thread t; }
CPP
echo 'TEST(other, DoesNot) {}' >tree/tests/tx/two_test.cpp
cat >tree/build/release/tests/test-tx <<'SH'
#!/bin/bash
echo "$*" >>"$HERE/turns"
[ ! -e "$HERE/stop" ] || [ "$(wc -l <"$HERE/turns")" != 7 ] || exit 1
echo "[ RUN      ] late.Waits"
echo "[       OK ] late.Waits (0 ms)"
SH
chmod +x tree/build/release/tests/test-tx
commit fourth
touch stop
asks 1 --harsh tx
has err.txt 'cases of tx, turn 7 failed'
equal "$(grep -c '^passed' tree/build/harsh.log)" 9
equal "$(grep -c '^tier everyday' asked)" 3
rm stop
asks 0 --harsh tx
equal "$asked" ''
equal "$(grep -c '^passed' tree/build/harsh.log)" 103
equal "$(wc -l <turns)" 101
equal "$(sort -u turns)" '--gtest_filter=late.Waits:*early.DoesToo/*'
equal "$(wc -l <burners)" 2
for pid in $(cat burners); do ! kill -0 "$pid" 2>/dev/null || fail "it burns on"; done
# With other sources, the run begins again.
echo >>tree/tests/tx/two_test.cpp
asks 0 --harsh tx
equal "$(grep -c '^passed' tree/build/harsh.log)" 103
equal "$(wc -l <turns)" 201
