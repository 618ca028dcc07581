#!/usr/bin/env bash
# shm_open() of a shielded file in /dev/shm gives its view, and O_TRUNC is refused (SHIELD-7,
# LENGTH-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=/dev/shm/scute-shm-$$
trap 'rm -f "$file"*' EXIT
shielded "$file" 65536
opens='import _posixshmem, os, sys
fd = _posixshmem.shm_open("/" + os.path.basename(sys.argv[1]), os.O_RDWR | (os.O_TRUNC if len(sys.argv) > 2 else 0), 0o600)
assert os.pwrite(fd, b"by name", 5000) == 7'
expect 0 "$scute" shield run -- python3 -c "$opens" "$file"
[ "$(tail -c +5001 "$file" | head -c 7)" = "by name" ] || fail "not written"
expect 0 "$scute" check "$file.scute"
expect 1 "$scute" shield run -- python3 -c "$opens" "$file" cut
in_err 'resource busy'
sound "$file"
