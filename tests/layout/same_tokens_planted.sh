#!/usr/bin/env bash
# same_tokens_planted.sh SAME_TOKENS_PY
# same_tokens.py lets a rewrite of comments pass and finds each other change, in a repository that
# this makes in the current folder.
set -euo pipefail

tool=$1
failures=0
git init -q tree
cd tree
git config user.name test
git config user.email test@example.invalid

plant_tree() {
  cat >a.cpp <<'END'
// One thing.
#define TWO \
  2  // two
int f(int a) { return a + TWO; /* three */ }
const char *s = "one // two" " three";
const char *raw = R"(four " five)";
#define CALL(x) x
int million = 1'000'000;
END
  printf '#!/bin/sh\n# A comment.\ncat <<END\n# text\nEND\n' >a.sh
  printf '"""What it does."""\ndef f():\n    return "x"  # why\n' >a.py
  printf '# Of the build.\nadd_test(a)\n' >CMakeLists.txt
}
plant_tree
git add .
git commit -q -m planted

# check STATUS TEXT [OPTIONS]: what the tool says of the working tree. The tree is correct again afterwards.
check() {
  local status=0 output
  output=$(python3 "$tool" "${@:3}" HEAD 2>&1) || status=$?
  if [ "$status" != "$1" ] || ! grep -Fqx -- "$2" <<<"$output"; then
    printf 'expected status %s and: %s\nstatus %s, printed:\n%s\n' "$1" "$2" "$status" "$output"
    failures=$((failures + 1))
  fi
  plant_tree
}

sed -i 's|// One thing.|/* Another\n thing. */|; s|2  // two|2 /* 2 */|; s|int a) {|int a)\n{|; s|/\* three \*/||' a.cpp
sed -i 's/A comment/Another/' a.sh
sed -i 's/What it does/Does it/; s/  # why//' a.py
sed -i 's/Of the build/The build/' CMakeLists.txt
check 0 '4 changed files have the same tokens'

sed -i 's/a + TWO/a - TWO/' a.cpp
check 1 "a.cpp:4: '-' was '+' in line 4"
sed -i 's/one \/\/ two/one/' a.cpp
check 1 "a.cpp:5: '\"one\"' was '\"one // two\"' in line 5"
sed -i 's/one \/\/ two" "/one /' a.cpp
check 0 '1 changed files have the same tokens, 1 strings differ' --strings
sed -i 's/four "/four/' a.cpp
check 0 '  + R"(four five)"' --strings
sed -i "s/1'000'000/1'000/" a.cpp
check 1 "a.cpp:8: \"1'000\" was \"1'000'000\" in line 8" --strings
sed -i 's/#define TWO \\/#define TWO/' a.cpp
check 1 "a.cpp:2: '\\n' was '2' in line 3"
sed -i 's/CALL(x)/CALL (x)/' a.cpp
check 1 "a.cpp:7: '(' was '()' in line 7"
echo 'int g();' >>a.cpp
check 1 "a.cpp:9: 'int' is new"
sed -i '$d' a.cpp
check 1 "a.cpp:8: 'int' is gone"
sed -i 's/# text/# other/' a.sh
check 1 "a.sh:4: '# other' was '# text' in line 4"
sed -i 's/"x"/"y"/' a.py
check 1 "a.py:3: '\"y\"' was '\"x\"' in line 3"
sed -i 's/(a)/(b)/' CMakeLists.txt
check 1 "CMakeLists.txt:2: 'add_test(b)' was 'add_test(a)' in line 2"
rm a.py
check 1 'a.py: is gone'

[ "$failures" -eq 0 ] || exit 1
echo 'a changed comment passes, every other change is found'
