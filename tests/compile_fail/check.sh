#!/usr/bin/env bash
# check.sh misuse|control FILE COMPILER [FLAG...]
# misuse:  FILE must not compile, and the output must match the extended regular expression in its
#          first line, "// expect: REGEX".
# control: FILE must compile with -DCONTROL.
set -euo pipefail
export LC_ALL=C

mode=$1 file=$2
shift 2

fail() {
  printf '%s\n' "$file: $1"
  [ -z "${output:-}" ] || printf -- '--- compiler output ---\n%s\n' "$output"
  exit 1
}

IFS= read -r first <"$file" || true
regex=${first#// expect: }
if [ "$regex" = "$first" ] || [ -z "$regex" ]; then
  fail "the first line must be '// expect: REGEX', the message that the compiler should give"
fi

case $mode in
  misuse)
    if output=$("$@" -fsyntax-only "$file" 2>&1); then
      fail "this misuse compiles"
    fi
    grep -Eq -- "$regex" <<<"$output" || fail "the compiler's message does not match: $regex"
    ;;
  control)
    grep -q 'CONTROL' "$file" || fail "has no CONTROL branch with the correct use"
    output=$("$@" -DCONTROL -fsyntax-only "$file" 2>&1) ||
      fail "does not compile with -DCONTROL, so it fails for another reason than the misuse"
    ;;
  *)
    fail "unknown mode $mode"
    ;;
esac
