#!/usr/bin/env bash
# Code that writes lines back by its own instructions gets no mapping, and is named. The user can
# allow it. A file that is cut, or whose protection is open elsewhere, is refused (MEM-2, SCAN-1,
# LENGTH-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
shielded "$file" 65536
cp "$file" before

expect 2 "$scute" shield run -- "$programs/scute-flusher" "$file"
in_err "$programs/scute-flusher flushes cache lines by instructions of its own"
in_err 'mmap: Operation not permitted'
cmp "$file" before || fail "a refused mapping has changed the file"

# An unshielded file is not its business.
bytes_of 65536 >"$pools/other"
expect 0 "$scute" shield run -- "$programs/scute-flusher" "$pools/other"
[ "$(head -c 6 "$pools/other")" = stored ] || fail "an unshielded file was not stored to"

# Allowed: the store is not flushed as far as the shield knows, but an exit keeps it.
expect 0 "$scute" shield run --allow-inline-flush scute-flusher -- "$programs/scute-flusher" "$file"
[ "$(head -c 6 "$file")" = stored ] || fail "the store is lost"

# Held open by one, refused to another.
mkfifo go is_open
"$scute" shield run -- bash -c 'exec 5<>"$1" || exit; echo yes >is_open; read -r line <go' - "$file" &
holder=$!
[ "$(timeout "$wait_seconds" cat is_open)" = yes ] || fail "the first one cannot open it"
expect 1 "$scute" shield run -- bash -c 'exec 5<>"$1"' - "$file"
in_err 'busy'
echo >go
wait "$holder"

expect 1 "$scute" shield run -- bash -c ': >"$1"' - "$file"
in_err 'not cut short'
expect 1 "$scute" shield run -- truncate -s 100 "$file"
in_err 'cannot shrink'

expect 1 "$scute" shield run -- "$pools/no-such-program"
in_err 'there is no program'
sound "$file"
