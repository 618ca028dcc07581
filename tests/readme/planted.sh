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
expect passes '0 example(s)' <<<'~~~text
a picture
~~~'
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
expect fails 'no mark says what tests this block of language "sh"' <<<"$good
~~~sh
true
~~~"
expect fails 'no mark says what tests this block of language ""' <<<"$good
~~~
true
~~~"
expect passes '0 block(s) not run' <<<"$good
~~~text
true
~~~"
expect fails 'this block is indented' <<<"$good
Do this:

    true"
expect passes 'not run: line 9: it installs packages' <<<"$good
<!-- not run: it installs packages -->
~~~sh
false
~~~"
expect fails 'this mark is not understood' <<<"$good
<!-- not run: -->
~~~sh
false
~~~"
expect fails 'no code block follows' <<<"$good
<!-- not run: nothing does -->
text"
expect passes '0 command(s)' <<<"$good
<!-- lines of quickstart.c -->
~~~c
#include <scute/scute.h>
#include <stdio.h>
~~~"
expect fails 'the block is not part of examples/quickstart.c' <<<'<!-- lines of quickstart.c -->
~~~c
#include <scute/none.h>
~~~'
expect fails 'there is no examples/none.c' <<<'<!-- lines of none.c -->
~~~c
int main;
~~~'
commands='
<!-- commands -->
~~~sh'
expect passes '3 command(s) did what is said' <<<"$good$commands
cc planted-a.c -o a \$(pkg-config --cflags --libs scute)
./a  # prints some version
false  # status 1
~~~"
expect passes '2 command(s)' <<<"$good$commands
echo a >/dev/shm/planted; echo \\
  /dev/shm/planted  # prints /dev/shm/planted
test -s /dev/shm/planted
~~~"
expect passes '5 command(s)' <<<"$good$commands
export PLANTED=some
echo \$PLANTED  # prints some
cat planted.txt  # prints a file
test -f quickstart.c
test -d build/release
~~~
<!-- file: planted.txt -->
~~~text
a file
~~~"
expect passes '2 command(s)' <<<"$good$commands
timeout -s KILL 0.1 yes >/dev/null  # status 137
timeout -s KILL 100 true  # status 0
~~~"
expect fails 'status 1: cat planted.txt' <<<"$good$commands
true  # status 0
cat planted.txt
~~~"
expect fails 'status 1: false' <<<"$good$commands
true  # status 0
false
~~~"
expect fails 'status 0: true' <<<"$good$commands
true  # status 1
~~~"
expect fails 'prints "a": echo a' <<<"$good$commands
echo a  # prints b
~~~"
expect fails 'no command says what it does' <<<"$good$commands
true
~~~"

[ "$failures" = 0 ] || { echo "$failures case(s) failed"; exit 1; }
echo "every planted error was found"
