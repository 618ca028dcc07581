#!/usr/bin/env bash
# planted.sh CHECK_SH
# A check that cannot fail proves nothing: runs check.sh on a correct file and on wrong ones.
set -euo pipefail

check=$1
failures=0

# expect RESULT TEXT: writes standard input to a README, runs the check on it in a fresh folder, and
# requires that it passes or fails, and prints TEXT.
expect() {
  local output result=passes
  rm -rf case && mkdir case
  sed "s/^~~~/\`\`\`/" >case/README.md
  output=$(cd case && bash "$check" README.md 2>&1) || result=fails
  if [ "$result" != "$1" ] || ! grep -Fq -- "$2" <<<"$output"; then
    printf 'expected: %s with "%s"\n%s:\n%s\n' "$1" "$2" "$result" "$output"
    failures=$((failures + 1))
  fi
}

good='<!-- example: planted-a.c -->

~~~c
#include <stdio.h>
#include <scute/scute.h>
int main(void) { return puts(scute_version()[0] ? "some version" : "none") < 0; }
~~~
'
expect passes '1 example(s)' <<<"$good"
expect passes '1 example(s)' <<<"$good
<!-- output: planted-a.c -->
~~~
some version
~~~"
expect fails 'prints something else' <<<"$good
<!-- output: planted-a.c -->
~~~
other
~~~"
expect fails 'there is no such example' <<<"$good
<!-- output: planted-b.c -->
~~~
other
~~~"
expect fails 'marks no example' <<<'# Only text'
expect fails 'no code block follows' <<<"$good
<!-- example: planted-b.c -->
text"
expect fails 'is in a block of language "sh"' <<<'<!-- example: planted-a.c -->
~~~sh
true
~~~'
expect fails 'planted-a.cpp: does not compile' <<<'<!-- example: planted-a.cpp -->
~~~cpp
#include <scute/scute.h>
int main() { return scute_no_such_function(); }
~~~'
expect fails 'planted-a.cpp: ends with an error' <<<'<!-- example: planted-a.cpp -->
~~~cpp
int main() { return 3; }
~~~'

[ "$failures" = 0 ] || { echo "$failures case(s) failed"; exit 1; }
echo "every planted error was found"
