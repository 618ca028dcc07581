#!/usr/bin/env bash
# docs/shield.md, "A program that flushes by itself": the program compiles, each command does what the comment beside it says, and
# what the text says of the result is so.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
PATH=${scute%/*}:$SCUTE_BINARY_DIR/tools/pass/bin:$PATH

# The fenced block behind a mark.
block() {
  awk -v mark="<!-- $1 -->" '
    $0 == mark { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$SCUTE_SOURCE_DIR/docs/shield.md"
}

block "commands: guests.c" >commands
block "example: guests.c" >"$pools/guests.c"
[ "$(wc -l <commands)" -ge 10 ] || fail "docs/shield.md shows no commands"
work=$PWD
cd "$pools"

said=0 last=
while IFS= read -r line; do
  command=${line%%  # *} comment=
  [ "$command" = "$line" ] || comment=${line##*  # }
  status=0
  bash -c "$command" >"$work/out" 2>"$work/err" </dev/null || status=$?
  cd "$work"
  last=$(tail -n 1 out | tr -s " ")
  case $comment in
    "status "*) equal "$status" "${comment#status }"; said=$((said + 1)) ;;
    *) [ "$status" = 0 ] || fail "status $status: $command" ;;
  esac
  case $comment in
    [0-9]*" guests" | "result"*) equal "$last" "$comment"; said=$((said + 1)) ;;
  esac
  cd "$pools"
done <"$work/commands"
cd "$work"
[ "$said" -ge 5 ] || fail "the comments say little: $said"

guests=$(sed -n 's/ guests$//p' "$pools/found")
told=$(grep -c '^[0-9]* eve$' "$pools/told" || true)
[ "$guests" -eq $((told + 2)) ] || [ "$guests" -eq $((told + 3)) ] || fail "$guests guests, and $told told of behind two"
equal "$last" "$((guests + 1)) guests"
[ "$(wc -c <"$pools/book")" -gt 6000000 ] || fail "the file is short"

# What the text says of a persist that is missing.
sed '/the name is durable/d' "$pools/guests.c" >"$pools/forgetful.c"
(cd "$pools" && scute-cc -O2 -mclwb -o forgetful forgetful.c && rm book && echo ada | ./guests book && scute shield add book) >out 2>err ||
  fail "the example without a persist does not start"
cd "$pools"
status=0
echo bob | scute shield audit ./forgetful book >"$work/out" 2>"$work/err" || status=$?
cd "$work"
equal "$status" 2
in_out '^result: stores were never flushed$'
