#!/usr/bin/env bash
# Standard streams that are closed, or cannot be written to: an error with its status; no pool, pipe
# or source gets their numbers.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
printf 'a\t1\nb\t2\n' >records.tsv
bounded() { timeout "$wait_seconds" "$@"; }

expect 0 bounded "$scute" create "$pool" --size 2M <&-
expect 0 bounded "$scute" kv load "$pool" records.tsv --quiet <&-

# Nothing can be read from a closed stream.
expect 1 bounded "$scute" kv load "$pool" - --quiet <&-
one_error_line
in_err '^scute: standard input: Bad file descriptor'
expect 1 bounded "$scute" kv put "$pool" c <&-
one_error_line

# The printed text does not go to the pool, whatever else is closed. Status 1: it could not be
# printed.
closed() {
  local status=0 before=$(cksum <"$pool")
  bounded "$scute" kv get "$pool" a <&- >&- 2>&- || status=$?
  equal "$status" 1
  equal "$(cksum <"$pool")" "$before"
  status=0
  bounded "$scute" info "$pool" >&- 2>err || status=$?
  equal "$status" 1
  in_err 'standard output'
  equal "$(cksum <"$pool")" "$before"
}
closed
head -c 4096 "$pool" >superblock
status=0
bounded "$scute" inject "$pool" --kind scribble --region object --length 64 >&- 2>err || status=$?
equal "$status" 1
expect "0 2" bounded "$scute" check "$pool" --repair
equal "$(head -c 8 "$pool" | cksum)" "$(head -c 8 superblock | cksum)"
expect 0 bounded "$scute" kv scan "$pool"
cmp out records.tsv || fail "the records are not what they were"
expect 0 bounded "$scute" check "$pool"
in_out 'clean'

# Unread errors are errors.
for broken in '2>&-' '2>/dev/full' '>&- 2>&-' '<&- >&- 2>&-'; do
  for command in 'kv get '"$pool"' absent:4' 'info /nowhere.pool:1' 'no-such-command:1' \
    'kv load '"$pool"' records.tsv --restart:0'; do
    status=0
    eval "bounded \"\$scute\" ${command%:*} $broken" >/dev/null || status=$?
    case "$status:$broken" in
      1:*'>&- 2>&-') ;;  # nor could the summary be printed
      *) equal "$status" "${command##*:}" ;;
    esac
  done
done
closed
expect 0 bounded "$scute" check "$pool"
