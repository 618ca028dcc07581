#!/usr/bin/env bash
# rules_planted.sh RULES_SH
# rules.sh can fail: builds a small correct tree in the current folder, then breaks one thing at a
# time and requires that the check names the violation. (Rules are put together here, or the check
# would take them for the project's.)
set -euo pipefail

check=$1
failures=0
win=WIN pool=POOL log=LOG long=WINDOWPANE

# The correct tree: two books and the rules of a page; a test, a scenario, a planted bug, an
# argument.
plant_tree() {
  rm -rf tree
  mkdir -p tree/{src/pool,tests/planted,docs/reference,tests/pool,tests/layout,tools/explore}
  cat >tree/src/pool/window.hpp <<EOF
// Windows, by RFC 3986 and CRC-32.
//
// $win-1 A window holds its stripes.
// $win-2 It is deferred, unlike
//    $win-1 of which this is no definition.
EOF
  printf '  // %s-1 holds here, too; see %s-1 %s-2.\nint f();\n' $win $pool $log >tree/src/pool/window.cpp
  printf '//   %s-1  Entries are whole.\n//   %s-2  In their order.\n' $log $log >tree/src/pool/log.hpp
  printf '// %s-1, by itself.\nTEST(window, Holds) {}\n' $win >tree/tests/pool/window_test.cpp
  printf '// a step (%s-1)\n' $pool >tree/tools/explore/steps.cpp
  printf 'BUG(torn)\n//   a crash (%s-1)\n' $log >tree/tests/planted/planted_bugs.inc
  printf '# Why.\n\n%s-2 It is about time alone.\n%s-2 It is backed by another one.\n' $win $log \
    >tree/tests/layout/rules_by_argument.txt
  cat >tree/docs/reference/invariants.md <<EOF
| | what holds |
|---|---|
| $pool-1 | all adds up |

| prefix | about | file | rules |
|---|---|---|---|
| $pool | everything | [invariants.md](invariants.md) | $pool-1 |
| $win | windows | [pool/window.hpp](../../src/pool/window.hpp) | $win-1..$win-2 |
| $log | entries | [pool/log.hpp](../../src/pool/log.hpp) | $log-1..$log-2 |
EOF
}

run_check() { bash "$check" tree; }
. "$(dirname "$0")/expect_violation.sh"

plant_tree
output=$(bash "$check" tree 2>&1) || true
grep -Fqx 'rules: 5, of which 2 rest on an argument alone' <<<"$output" ||
  { printf 'the correct tree fails:\n%s\n' "$output"; failures=1; }

# 1. Definitions.
echo "// $win-1 Something else." >>tree/src/pool/log.hpp
expect_violation "$win-1: defined in src/pool/log.hpp and in src/pool/window.hpp"

echo "// $win-2 A second time." >>tree/src/pool/window.hpp
expect_violation "$win-2: defined in src/pool/window.hpp and in src/pool/window.hpp"

echo "// $long-1 Too long." >>tree/src/pool/window.hpp
expect_violation "$long-1: a prefix has 8 letters at most"

# 2. Citations.
for file in src/pool/window.cpp tests/pool/window_test.cpp tools/explore/steps.cpp docs/reference/invariants.md \
  tests/layout/rules_by_argument.txt; do
  lines=$(wc -l <"tree/$file")
  echo "as in $win-3" >>"tree/$file"
  expect_violation "$file:$((lines + 1)): $win-3 is defined nowhere"
done

sed -i "s/^\/\/ $win-2/\/\/ V2/" tree/src/pool/window.hpp
expect_violation 'src/pool/window.hpp:4: V2 has no prefix'

# 3. The index.
sed -i "s/$win-1\.\.$win-2 |$/$win-1 |/" tree/docs/reference/invariants.md
expect_violation "docs/reference/invariants.md: the index lacks $win-2 of src/pool/window.hpp"

sed -i "/^| $log |/d" tree/docs/reference/invariants.md
expect_violation "docs/reference/invariants.md: the index lacks $log-1 of src/pool/log.hpp"

sed -i "s/$win-1\.\.$win-2 |$/$win-1..$win-3 |/" tree/docs/reference/invariants.md
expect_violation "docs/reference/invariants.md: the index has $win-3, which is defined nowhere"

mv tree/src/pool/window.hpp tree/src/pool/frame.hpp
expect_violation "docs/reference/invariants.md: the index has $win-1 in src/pool/window.hpp, but it is in src/pool/frame.hpp"

sed -i "s/^| $log | .*/&\n&/" tree/docs/reference/invariants.md
expect_violation "docs/reference/invariants.md: the index has $log-2 twice"

# 4. Tests, scenarios and planted bugs that name a rule.
echo 'TEST(window, Holds) {}' >tree/tests/pool/window_test.cpp
expect_violation "$win-1: no test, scenario or planted bug names it"

rm tree/tools/explore/steps.cpp
expect_violation "$pool-1: no test, scenario or planted bug names it"

rm tree/tests/planted/planted_bugs.inc
expect_violation "$log-1: no test, scenario or planted bug names it"

sed -i "/^$win-2/d" tree/tests/layout/rules_by_argument.txt
expect_violation "$win-2: no test, scenario or planted bug names it"

echo "// $win-2." >>tree/tests/pool/window_test.cpp
expect_violation "tests/layout/rules_by_argument.txt: $win-2 is named by tests/pool/window_test.cpp"

sed -i "s/^$win-2 .*/$win-2/" tree/tests/layout/rules_by_argument.txt
expect_violation "tests/layout/rules_by_argument.txt: $win-2 has no reason"

echo "$log-2 For another reason." >>tree/tests/layout/rules_by_argument.txt
expect_violation "tests/layout/rules_by_argument.txt: $log-2 is there twice"

# 5. Long rules.
sed -i "s|^// $win-2 .*|&\\n//    one\\n//    two|" tree/src/pool/window.hpp
run_check >/dev/null || { echo 'a rule of four lines is refused'; failures=$((failures + 1)); }
plant_tree

sed -i "s|^// $win-2 .*|&\\n//    one\\n//      two\\n//    three|" tree/src/pool/window.hpp
expect_violation "src/pool/window.hpp:4: $win-2 has 5 lines, 4 are allowed"

[ "$failures" = 0 ] || { echo "$failures planted violation(s) missed"; exit 1; }
echo "every planted violation was found"
