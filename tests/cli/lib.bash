# lib.bash: what the tests of the scute command share. Sourced; the working folder is empty and is
# removed afterwards.
set -euo pipefail
export LC_ALL=C

scute=${SCUTE_TEST_SCUTE_EXE:-${SCUTE_EXE:?names the scute command}}

# Pools in memory if possible: the tests are about the command, not about the disk.
pools=$PWD
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
  pools=$(mktemp -d /dev/shm/scute-cli.XXXXXX)
  trap 'rm -rf "$pools"' EXIT
fi

fail() {
  local from='' i
  for ((i = 1; i < ${#BASH_LINENO[@]} - 1; i++)); do from+=", from ${BASH_SOURCE[i + 1]##*/}:${BASH_LINENO[i]}"; done
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*$from" >&2
  if [ -s "$PWD/err" ]; then sed 's/^/  stderr: /' "$PWD/err" >&2; fi
  exit 1
}

# expect STATUS COMMAND...: runs it; its output is in the files `out` and `err` then. STATUS may be
# a list: "1 7".
expect() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [[ " $wanted " == *" $status "* ]] || fail "status $status instead of $wanted: $*"
}

# shellcheck source=tests/support/wait.bash
source "${BASH_SOURCE[0]%/*}/../support/wait.bash"

# The last command's output has a line that matches.
in_out() { grep -q -e "$1" out || fail "stdout lacks '$1': $(cat out)"; }
in_err() { grep -q -e "$1" err || fail "stderr lacks '$1'"; }
silent() { [ ! -s err ] || fail "stderr is not empty"; }
equal() { [ "$1" = "$2" ] || fail "'$1' is not '$2'"; }

# An error is one line that begins with the command's name, and nothing is on stdout.
one_error_line() {
  [ "$(wc -l <err)" = 1 ] || fail "stderr is not one line"
  in_err '^scute: '
  [ ! -s out ] || fail "stdout is not empty"
}

# The scalar member NAME of the JSON in `out`.
json() { sed -n 's/^ *"'"$1"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' out | head -n 1; }

# `out` is one JSON document (or with "lines", one per line): the command itself parses JSON.
valid_json() {
  local document
  rm -f "$pools/json.pool"
  if [ "${1:-}" = lines ]; then document=$(cat out); else document=$(tr '\n' ' ' <out); fi
  printf '%s\n' "$document" | sed 's/.*/{"key":"k","value":&}/' |
    "$scute" kv load "$pools/json.pool" - --create --size 2M --format json --quiet >/dev/null ||
    fail "not JSON: $(head -c 300 out)"
}

# records N: N lines of TSV in the order of their keys, with values of 0 to 2,000 bytes.
records() {
  awk -v n="$1" 'BEGIN {
    srand(7)
    for (i = 0; i < 100; i++) filler = filler "the quick fox jumps "
    for (i = 1; i <= n; i++)
      printf "key%07d\tvalue %d\\n\\ttab \\\\ %s\n", i, i, substr(filler, 1, int(rand() ^ 3 * 2000))
  }'
}
