# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the report share. They run in a fresh folder.
set -euo pipefail

tool=$SCUTE_SOURCE_DIR/tools/report
synthetic=$SCUTE_SOURCE_DIR/tests/report/synthetic.py
python=/usr/bin/python3
[ -x "$python" ] || python=python3
export PYTHONDONTWRITEBYTECODE=1

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# has FILE TEXT: a line of the file contains the text.
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "$1 does not say: $2"; }; }
lacks() { ! grep -F -- "$2" "$1" || fail "$1 says: $2"; }

# expect STATUS COMMAND...: runs it, its output in out.txt and err.txt.
expect() {
  local code=0
  "${@:2}" >out.txt 2>err.txt || code=$?
  [ "$code" = "$1" ] || { cat out.txt err.txt; fail "exit status $code instead of $1: ${*:2}"; }
}
