#!/usr/bin/env bash
# Processors without a load of a whole line (SCUTE_CPU=avx2 makes every processor one). The shield
# copies lines while stores to them wait, the kernel's as well, for any user (STORE-1, STORE-2,
# STORE-4, STORE-5, THREADS-1, THREADS-2, THREADS-3, THREADS-4, SHIELD-5). SCUTE_TEST_CASES names
# ways of threads: then only these are tried, for longer.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export SCUTE_CPU=avx2

file=$pools/file
shielded "$file" 65536
# Without any userfaultfd, the file is refused, with the reason.
if ! "$scute" shield run -- cat "$file" >/dev/null 2>err && grep -q 'needs userfaultfd' err; then
  echo "no userfaultfd on this machine"
  exit 0
fi
sound "$file"
seconds=${SCUTE_TEST_CASES:+10} seconds=${seconds:-2}
shielded "$pools/other" 65536
for way in ${SCUTE_TEST_CASES:-unintercepted raw forked awaited}; do
  shielded "$file" 65536
  other=
  [ "$way" != forked ] || other=$pools/other
  expect 0 timeout "$wait_seconds" "$scute" shield run -- "$programs/scute-torn" "$way" "$file" "$seconds" ${other:+"$other"}
  in_out ', 0 torn lines, 0 failed reads$'
  sound "$file"
done

[ -z "${SCUTE_TEST_CASES:-}" ] || exit 0

shielded "$file" 65536
expect 0 "$scute" shield run -- "$programs/scute-torn" "$file" 2
in_out ', 0 torn lines, 0 failed reads$'
sound "$file"
shielded "$file" 65536
expect 0 timeout "$wait_seconds" "$scute" shield run -- "$programs/scute-unwoken" "$file"
in_out '^stored again$'
sound "$file"

# One thread, and a handler that stores.
shielded "$file" 65536
expect 0 "$scute" shield run -- "$programs/scute-interrupted" "$file" 2
in_out ', 0 torn lines, signals came$'
sound "$file"

# An ordinary user's userfaultfd is not complete: the kernel's stores do not wait, and so are
# repeated.
if [ "$(id -u)" = 0 ]; then
  users_folder "$pools/users"
  shielded "$pools/users/file" 65536
  users_own "$pools/users"/file*
  cp "$programs/scute-torn" "$pools/users"
  expect 0 "${as_user[@]}" "$scute" shield run -- "$pools/users/scute-torn" "$pools/users/file" 2
  in_out ', 0 torn lines, 0 failed reads$'
  sound "$pools/users/file"
fi

# A view in a folder on a disk cannot be guarded.
mkdir folder
shielded "$file" 65536
if [ "$(stat -f -c %T folder)" != tmpfs ]; then
  expect 1 "$scute" shield run --view-dir folder -- cat "$file"
  in_err 'AVX-512.*no --view-dir'
fi
