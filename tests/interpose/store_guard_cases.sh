#!/usr/bin/env bash
# Every case again, with lines that are copied while stores wait (STORE-1, STORE-2), if userfaultfd
# is available (store_guard.sh).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export SCUTE_CPU=avx2

shielded "$pools/file" 65536
if ! "$scute" shield run -- cat "$pools/file" >/dev/null 2>err && grep -q 'needs userfaultfd' err; then
  echo "no userfaultfd on this machine"
  exit 0
fi
exec bash "$SCUTE_SOURCE_DIR/tests/interpose/cases.sh"
