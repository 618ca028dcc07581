# lib.bash: helpers that the tests with Debian's examples of libpmemobj share. Sourced. Each file
# begins as the example makes it, and is $plain. A copy of it, $guarded, gets the shield. Then both
# undergo the same.
# shellcheck source=tests/interpose/lib.bash
source "$SCUTE_SOURCE_DIR/tests/interpose/lib.bash"

bin=$PWD/bin
mkdir "$bin"
# examples NAME...: builds them, or all.
examples() { bash "$SCUTE_SOURCE_DIR/tests/interpose/examples/build.sh" "$bin" "$@" || fail "the examples do not build"; }

seed=${SCUTE_TEST_SEED:-$RANDOM}
echo "seed $seed: SCUTE_TEST_SEED=$seed repeats it"
RANDOM=$seed

plain=$pools/plain guarded=$pools/guarded
runs=0
: >input

# twin: $plain gets one, under the shield.
twin() {
  cp "$plain" "$guarded"
  "$scute" shield add "$guarded" >add.out || fail "shield add"
}

# begin PROGRAM ARGS...: makes $plain, and its twin.
begin() {
  rm -f "$pools"/plain* "$pools"/guarded*
  "$bin/$1" "${@:2}" <input >begin.out 2>begin.err || fail "$*: $(cat begin.err)"
  twin
}

# compared COMMAND-BEFORE... -- PROGRAM ARGS...: on $plain, and then on its twin by that command.
# Both end alike, and print the same.
compared() {
  local by=() a=0 b=0
  while [ "$1" != -- ]; do by+=("$1"); shift; done
  shift
  "$bin/$1" "${@:2}" <input >plain.out 2>plain.err || a=$?
  local words=("${@/#$plain/$guarded}")
  "${by[@]}" "$bin/$1" "${words[@]:1}" <input >out 2>err || b=$?
  [ "$b" = "$a" ] || fail "$*: status $b instead of $a"
  [ "$a" -lt 128 ] || fail "$*: it crashes without the shield"
  sed "s|$guarded|$plain|g" out | diff plain.out - >&2 || fail "$*: other output"
  sed "s|$guarded|$plain|g" err | diff plain.err - >&2 || fail "$*: other messages"
  runs=$((runs + 1))
}

# both OPTIONS-OF-RUN... -- PROGRAM ARGS...: without and with the shield.
both() {
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  compared "$scute" shield run "${options[@]}" "$@"
}

# alike PROGRAM ARGS...: $guarded is sound, and the program finds the same in both when the shield
# is removed. (Their bytes differ: libpmemobj leaves addresses and the contents of freed memory.)
alike() {
  sound "$guarded"
  compared -- "$@"
}

# some_page FILE: one that holds data, in $page.
some_page() {
  python3 "$SCUTE_SOURCE_DIR/tests/interpose/examples/pages.py" "$1" >pages
  [ -s pages ] || fail "$1 holds nothing"
  page=$(sed -n "$((RANDOM % $(wc -l <pages) + 1))p" pages)
}

# layout_of FILE: where FILE.scute has its first byte, in $payload, and what it says about its first
# page, in $fragments (docs/reference/format.md, Foreign pools).
layout_of() {
  payload=$("$scute" dump "$1.scute" | awk '$1 == "root" && !seen++ { print $2 }')
  fragments=$(($("$scute" dump "$1.scute" --regions | awk '$3 == "object" && !seen++ { print $1 }')))
  [ "$payload" -gt "$fragments" ] || fail "$1.scute has a strange layout"
}

# was_repaired FILE PAGE: it is among the last events, as a page or as a fragment.
was_repaired() {
  "$scute" events "$1.scute" >events.out
  grep -qE "repaired .*($(printf '0x%012x \\+4096|0x%012x \\+[0-9]+ ' $((payload + 4096 * $2)) $((fragments + 32 * $2))))" events.out
}
