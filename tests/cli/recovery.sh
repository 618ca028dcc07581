#!/usr/bin/env bash
# Pools as a crash leaves them: the reports of info and check, and which command writes what.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 300 >records.tsv

has_all() {
  cp "$pools/live.pool" "$pool" 2>/dev/null || true
  "$scute" kv scan "$pool" >found 2>/dev/null && [ "$(wc -l <found)" = 300 ]
}
# crash ENGINE: a copy of the file of a process that is still loading.
crash() {
  local writer
  rm -f "$pools"/*.pool
  mkfifo pipe
  SCUTE_ENGINE=$1 "$scute" kv load "$pools/live.pool" - --create --size 8M --batch 100 --quiet <pipe >/dev/null &
  writer=$!
  exec 9>pipe
  rm pipe
  cat records.tsv >&9
  # Until all of them are in it, three batches: a copy of a file that is being written is no crash.
  wait_until has_all
  exec 9>&-
  wait "$writer"
}

crash logfree
before=$(cksum <"$pool")
expect 0 "$scute" info "$pool"
in_out '^last session  *ended without closing the pool'
in_out '^recovery  *0 transactions completed in .*; columns of .* not looked at yet'
expect 0 "$scute" info "$pool" --json
valid_json
equal "$(json clean)" false
[ "$(json unresolved)" -gt 0 ] || fail "nothing waits for recovery"
expect 0 "$scute" check "$pool"
in_out '^result  *clean'
expect 0 "$scute" check "$pool" --json
valid_json
equal "$(json lost)" 0
equal "$(cksum <"$pool")" "$before"

# A session that is closed before recovery is over leaves the rest to the next one. A check finishes
# recovery.
expect 0 env SCUTE_LAZY_RECOVERY=1 "$scute" kv put "$pool" added value
expect 0 "$scute" info "$pool" --json
equal "$(json clean)" true
[ "$(json unresolved)" -gt 0 ] || fail "the next session has nothing to do"
expect 0 "$scute" check "$pool" --repair
expect 0 "$scute" info "$pool" --json
equal "$(json unresolved)" 0
equal "$("$scute" kv get "$pool" added)" value

crash redo
expect 0 "$scute" info "$pool" --json
equal "$(json clean)" false
equal "$(json unresolved)" 0
expect 0 "$scute" check "$pool"
