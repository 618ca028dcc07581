#!/usr/bin/env bash
# A server with several threads, whose file is shielded, and clients of its Unix socket. The server
# is killed, every other time after its supervisor. Each client then finds the operations that were
# answered, and at most the one that it waited for (SHIELD-2, SHIELD-3).
source "$(dirname "${BASH_SOURCE[0]}")/raw/lib.bash"

seed=${SCUTE_TEST_SEED:-$RANDOM}
rounds=${SCUTE_TEST_ROUNDS:-4}
echo "seed $seed: SCUTE_TEST_SEED=$seed repeats it"
RANDOM=$seed
file=$pools/file socket=$PWD/socket

# serve COMMAND...: starts the server, and waits until clients can come.
serve() {
  rm -f "$socket"
  "$@" "$file" --workers 3 --listen "$socket" >answers 2>err &
  run=$!
  wait_until test -S "$socket"
}

# verify: `found` has what the server has answered to the clients.
verify() { python3 "$here/clients.py" verify result found >verify.out 2>&1 || fail "$(cat verify.out)"; }

make_file item_server "$file"
under_shield "$file"
: >before
for round in $(seq "$rounds"); do
  serve "$scute" shield run -- "$raw/item_server"
  rm -f result*
  python3 "$here/clients.py" talk "$socket" before "$seed/$round" result &
  clients=$!
  wait_until test -e result.begun
  pause "0.$((RANDOM % 3))$((RANDOM % 10))"
  child=$(child_of "$run")
  [ -n "$child" ] || fail "the server has ended"
  if [ $((round % 2)) = 0 ]; then power_failure "$run" "$child"; else kill -9 "$child"; fi
  status=0
  wait "$run" || status=$?
  equal "$status" 137
  wait "$clients" || fail "the clients"
  whole "$file"
  shielded_state found item_server "$file"
  verify
  mv found before
done
[ "$(wc -l <before)" -gt 50 ] || fail "only $(wc -l <before) items"

# To its end, and without the shield.
for command in "$scute shield run -- $raw/item_server" "$(plain_of item_server)"; do
  # shellcheck disable=SC2086
  serve $command
  python3 "$here/clients.py" talk "$socket" before "$seed/$command" result || fail "the clients"
  python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b"shutdown\n")' "$socket"
  wait "$run" || fail "the server ends with $?"
  state_of found $command "$file"
  verify
  mv found before
  [ "$command" = "$(plain_of item_server)" ] || sound "$file"
done
