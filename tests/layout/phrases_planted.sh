#!/usr/bin/env bash
# phrases_planted.sh PHRASES_PY
# phrases.py can fail: builds a small correct tree in the current folder, then breaks one thing at a
# time and requires that the check names the violation.
set -euo pipefail

check=$1
layout=$(dirname "$check")
failures=0

plant_tree() {
  rm -rf tree
  mkdir -p tree/{include,src,tests/layout,docs/start}
  printf '// The caller frees it.\nint beside(int who);  // a name is no sentence\n' >tree/include/a.h
  printf '// "%s" is a good use.\nint somebody;\n' 'next to him who waits' >tree/src/a.cpp
  printf '# Start\n\nRun it.\n\n```\nwho\n```\n' >tree/docs/start/a.md
  cp "$layout/phrases.txt" tree/tests/layout/
  printf '^src/  him who waits  a proverb\n' >tree/tests/layout/phrases_allowed.txt
  printf '%s 0 0 0\n' include src tools tests pages internals others >tree/tests/layout/phrases_counts.txt
}

run_check() { python3 "$check" tree; }
. "$layout/expect_violation.sh"

# expect_place GROUP TEXT: --list names the place.
expect_place() {
  local output
  output=$(python3 "$check" --list "$1" tree 2>&1) || true
  grep -Fqx -- "$2" <<<"$output" || { printf 'expected: %s\nprinted:\n%s\n' "$2" "$output"; failures=$((failures + 1)); }
}

plant_tree
output=$(run_check 2>&1) || true
grep -Fqx 'phrases: no count has grown' <<<"$output" || { printf 'the correct tree fails:\n%s\n' "$output"; failures=1; }

more() { printf '%s: 1 %s, 0 are allowed; see them with: phrases.py --list %s .' "$1" "$2" "$1"; }
echo '// It lies beside it.' >>tree/include/a.h
expect_place include 'include/a.h:3: phrases: "beside": next to; or concurrently with'
expect_violation "$(more include phrases)"
printf '/* It is put\n * right. */\n' >>tree/src/a.cpp
expect_place src 'src/a.cpp:3: phrases: "put right": repaired; rolled back'
expect_violation "$(more src phrases)"
printf 'const char *s = "The file was "\n    "told";\n' >>tree/src/a.cpp
expect_place src 'src/a.cpp:4: phrases: "told": is reported, reports; distinguishes'
expect_violation "$(more src phrases)"
echo 'What was lost is reported.' >>tree/docs/start/a.md
expect_violation "$(more pages phrases)"
mkdir tree/tools && printf '#!/bin/sh\necho "run it once more"\n' >tree/tools/run
expect_violation "$(more tools phrases)"
mkdir -p tree/tools && printf '{"who": 1, "why": "It was\\nmade anew"}\n' >tree/tools/a.json
expect_place tools 'tools/a.json:1: phrases: "anew": again'
expect_violation "$(more tools phrases)"
for file in cmake/a.cmake.in sim/a.machine bench/report/a/explanations.md; do
  mkdir -p "tree/$(dirname $file)" && echo '# It lies beside it.' >tree/$file
  expect_place others "$file:1: phrases: \"beside\": next to; or concurrently with"
  expect_violation "$(more others phrases)"
done
printf '//%101s\n' x >>tree/src/a.cpp
expect_place src 'src/a.cpp:3: columns: 103 columns'
expect_violation "$(more src columns)"
printf '// It%s.\n' "$(printf ' is %.0s' {1..12})$(printf '\n// so%.0s' {1..13})" >>tree/include/a.h
expect_violation "$(more include sentences)"
printf '// It%s.\n' "$(printf ' is %.0s' {1..12})$(printf '\n// so%.0s' {1..12})" >>tree/include/a.h
run_check >/dev/null || { echo 'a sentence of 25 words is refused'; failures=1; }
mkdir -p tree/docs/internals && printf 'It%s.\n' "$(printf ' is %.0s' {1..25})" >tree/docs/internals/b.md
expect_violation "$(more internals sentences)"
mkdir -p tree && printf 'It was healed.\n' >tree/CHANGELOG.md
expect_violation "$(more internals phrases)"
plant_tree
sed -i 's/him who waits/a peer/' tree/src/a.cpp
expect_violation 'tests/layout/phrases_allowed.txt: nothing needs the entry ^src/  him who waits  a proverb'
sed -i '/tools/d' tree/tests/layout/phrases_counts.txt
expect_violation 'phrases_counts.txt: no line for tools'

sed -i 's/^src.*/src 2 1 0/' tree/tests/layout/phrases_counts.txt
output=$(run_check)
grep -Fqx 'src: 0 phrases, fewer than the 2 allowed; lower that with: phrases.py --lower .' <<<"$output" ||
  { printf 'a lower count is not named:\n%s\n' "$output"; failures=1; }
python3 "$check" --lower tree >/dev/null
grep -Eqx 'src +0 +0 +0' tree/tests/layout/phrases_counts.txt || { echo '--lower writes nothing'; failures=1; }

[ "$failures" -eq 0 ] || exit 1
echo 'the check names every violation'
