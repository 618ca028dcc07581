#!/usr/bin/env bash
# check.sh PAGE
# Compiles and runs the programs that a page in Markdown shows, and follows its commands, so that
# they cannot rot.
# Marks in the file, each on a line of its own before a fenced block (blank lines may lie between):
#
#   <!-- example: NAME.cpp -->  (or NAME.c)  the block is a program. If examples/NAME.cpp exists,
#                               the block must be a run of consecutive lines of it, and the file
#                               gets compiled; otherwise the block must be complete.
#   <!-- output: NAME.cpp -->   the block is what the program prints.
#   <!-- lines of NAME.cpp -->  the block is a run of consecutive lines of examples/NAME.cpp, which
#                               is a test itself.
#   <!-- file: NAME -->         the block is a file that the commands use.
#   <!-- commands -->           the block, of language sh, is one command to a line. All of a page's
#                               are run in turn in one folder, where its programs and files are,
#                               those of examples/ (also as examples/NAME), and build/release.
#                               /dev/shm/ means a folder of the test's own, and timeout kills by
#                               processor time (tests/support/bin). A comment after two blanks
#                               may say what happens: "# status N", or "# prints TEXT", the last
#                               line of standard output. Otherwise the status must be 0.
#   <!-- not run: REASON -->    nothing tests the block. The test prints the reason.
#
# A block without a mark is an error, unless its language is text; so is one that is indented
# instead of fenced. A program gets the path for a pool file as its only argument. Runs in an empty
# folder; takes the library, the command and the compilers from the environment (CMakeLists.txt).
set -euo pipefail
export LC_ALL=C

page=$1
examples=$SCUTE_SOURCE_DIR/examples
failures=0
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }

[ -f "$page" ] || { echo "$page does not exist, so it shows no example to test"; exit 1; }

# Writes the blocks to example/NAME, output/NAME, file/NAME, lines/NUMBER-NAME and commands/NUMBER,
# the reasons of those that are not run to unrun, and the faults of the marks to errors.
mkdir example output lines commands file
: >errors >unrun >text
awk '
  function note(text) { print "line " NR ": " text >"errors" }
  inside && /^```[ \t]*$/ { close(target); inside = 0; target = ""; next }
  inside { if (target != "") print >target; next }
  /^<!-- *(example|output|lines|commands|file|not run)/ {
    if (mark != "") note("no code block follows the mark before this one")
    mark = $0; sub(/^<!-- */, "", mark); sub(/ *-->[ \t]*$/, "", mark)
    kind = mark; sub(/( of +|:).*$/, "", kind)
    if (mark == "commands") next
    if (mark !~ /^(example|output|file|not run): *[^ ]|^lines of +[^ ]/) {
      note("this mark is not understood: " $0)
      mark = ""
      next
    }
    sub(/^(lines of +|[a-z ]+: *)/, "", mark)
    if (kind == "not run") print "line " NR ": " mark >"unrun"
    else if (mark !~ /^[A-Za-z0-9_.-]+$/) note("\"" mark "\" is not a plain file name")
    next
  }
  /^```/ {
    inside = 1
    language = $0; sub(/^```[ \t]*/, "", language)
    if (mark != "") {
      if (kind == "example" && !(mark ~ /\.cpp$/ && language == "cpp") &&
          !(mark ~ /\.c$/ && language == "c"))
        note(mark " is in a block of language \"" language "\"")
      if (kind == "commands" && language != "sh") note("commands are in a block of language \"" language "\"")
      target = kind "/" mark
      if (kind == "lines") target = kind "/" sprintf("%03d-", ++excerpts) mark
      if (kind == "commands") target = kind "/" sprintf("%03d", ++blocks)
      if (target in seen && kind != "not run") note("a second " kind " " mark)
      seen[target] = 1
      if (kind == "not run") target = ""
      else printf "" >target
    } else if (language == "text") print >"text"
    else note("no mark says what tests this block of language \"" language "\"")
    mark = ""
    empty = 0
    next
  }
  /^    / && empty { note("this block is indented; fence it, and mark what tests it") }
  { empty = !NF }
  mark != "" && NF { note("no code block follows the mark of " mark); mark = "" }
  END {
    if (inside) note("the last code block has no end")
    if (mark != "") note("no code block follows the mark of " mark)
  }
' "$page"
while IFS= read -r error; do fail "$error"; done <errors

# is_excerpt BLOCK FILE: whether the lines of BLOCK occur one after the other in FILE.
is_excerpt() {
  awk '
    FNR == NR { block[++n] = $0; next }
    { file[++m] = $0 }
    END {
      for (start = 1; start + n - 1 <= m; start++) {
        for (i = 1; i <= n && file[start + i - 1] == block[i]; i++) ;
        if (i > n) exit 0
      }
      exit 1
    }' "$1" "$2"
}

read -ra cflags <<<"${CFLAGS:-}"
read -ra cxxflags <<<"${CXXFLAGS:-}"
libdir=${SCUTE_LIBRARY%/*}
common=(-Wall -Wextra -Werror "-I$SCUTE_SOURCE_DIR/include")
link=("-L$libdir" "-Wl,-rpath,$libdir" -lscute -pthread)

count=0
for block in example/*; do
  [ -f "$block" ] || break
  name=${block#example/}
  count=$((count + 1))
  source=$block
  if [ -f "$examples/$name" ]; then
    source=$examples/$name
    if ! is_excerpt "$block" "$source"; then
      fail "$name: the block is not part of examples/$name"
      diff "$source" "$block" || true
    fi
  fi
  case $name in
    *.c) compile=("$CC" -std=c11 "${cflags[@]}") ;;
    *) compile=("$CXX" -std=c++20 "${cxxflags[@]}") ;;
  esac
  if ! "${compile[@]}" "${common[@]}" "$source" -o "program-$name" "${link[@]}" >log 2>&1; then
    fail "$name: does not compile"
    cat log
    continue
  fi
  mkdir "run-$name"
  if ! (cd "run-$name" && "../program-$name" "$PWD/example.pool") >"printed-$name" 2>log </dev/null; then
    fail "$name: ends with an error"
    cat "printed-$name" log
    continue
  fi
  if [ -f "output/$name" ] && ! diff "output/$name" "printed-$name" >log; then
    fail "$name: prints something else (< the page, > the program)"
    cat log
  fi
done
for block in lines/*; do
  [ -f "$block" ] || break
  count=$((count + 1))
  name=${block#lines/*-}
  if ! [ -f "$examples/$name" ]; then
    fail "there is no examples/$name"
  elif ! is_excerpt "$block" "$examples/$name"; then
    fail "$name: the block is not part of examples/$name"
  fi
done
for block in output/*; do
  [ ! -f "$block" ] || [ -f "example/${block#output/}" ] ||
    fail "the output of ${block#output/} is shown, but there is no such example"
done

# The commands, with compilers that take the build's flags and a package that is the library under
# test.
said=0 commands=0
follow() {
  local line=$1 command comment='' status=0 last
  command=${line%%  # *}
  [ "$command" = "$line" ] || comment=${line##*  # }
  command=${command//"/dev/shm/"/"$memory/"}
  # A variable is meant for the commands that follow.
  if [[ $command == "export "* ]]; then eval "$command"; fi
  (cd shown && bash -o pipefail -c "$command" >../log 2>../log.err </dev/null) || status=$?
  last=$(tail -n 1 log | tr -s ' ' | sed "s|$memory/|/dev/shm/|g; s/ *\$//")
  case $comment in
    "status "*)
      said=$((said + 1))
      [ "$status" = "${comment#status }" ] || { fail "status $status: $line"; cat log log.err; } ;;
    *)
      [ "$status" = 0 ] || { fail "status $status: $line"; cat log log.err; } ;;
  esac
  if [[ $comment == "prints "* ]]; then
    said=$((said + 1))
    [ "$last" = "${comment#prints }" ] || fail "prints \"$last\": $line"
  fi
  commands=$((commands + 1))
}
if [ -f commands/001 ]; then
  mkdir -p bin package shown/build home
  export HOME=$PWD/home
  cp "$examples"/*.c "$examples"/*.cpp shown/
  ln -s "$examples" shown/examples
  for block in example/* file/*; do [ ! -f "$block" ] || cp "$block" shown/; done
  ln -s "$SCUTE_BINARY_DIR" shown/build/release
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$CC" "${CFLAGS:-}" >bin/cc
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$CXX" "${CXXFLAGS:-}" >bin/c++
  chmod +x bin/cc bin/c++
  for name in scute scute-testing; do
    libs=-lscute
    [ "$name" = scute ] || libs="-l:libscute-testing.a -l:libscute.a -lstdc++ -lm"
    printf 'Name: %s\nDescription: under test\nVersion: 0\nLibs: -L%s %s -pthread\nCflags: -I%s\n' \
      "$name" "$libdir" "$libs" "$SCUTE_SOURCE_DIR/include" >"package/$name.pc"
  done
  PATH=$PWD/bin:$SCUTE_SOURCE_DIR/tests/support/bin:${SCUTE_TEST_SCUTE_EXE%/*}:$SCUTE_BINARY_DIR/tools/pass/bin:$PATH
  export PATH PKG_CONFIG_PATH=$PWD/package LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  memory=$PWD/shown
  if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    memory=$(mktemp -d /dev/shm/scute-page.XXXXXX)
    trap 'rm -rf "$memory"' EXIT
  fi
  while IFS= read -r line; do
    [ -z "$line" ] || follow "$line"
  done < <(cat commands/* | sed -e ':a' -e '/\\$/{N' -e 's/ *\\\n */ /' -e 'ba' -e '}')
  [ "$said" -gt 0 ] || fail "no command says what it does: # status N, or # prints TEXT"
fi
[ $((count + commands)) -gt 0 ] || [ -s text ] || fail "$page marks no example"

[ "$failures" = 0 ] || { echo "$page: $failures error(s)"; exit 1; }
sed 's/^/not run: /' unrun
echo "$page: $count example(s) compiled, ran and printed what is shown; $commands command(s) did what is said;" \
  "$(wc -l <unrun) block(s) not run"
