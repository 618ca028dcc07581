#!/usr/bin/env bash
# Two processes, and one file. The first one to open it is killed while the process that holds its
# view is stopped and cannot have noticed. The other one then asks for the file, and finds in it
# what was stored (SUPER-1, SUPER-2, WIRE-1). Meanwhile the supervisor has the view, and nothing of
# the file (SUPER-3).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
shielded "$file" 65536
mkfifo go never
# The supervisor knows the second process before the first one, so it answers the second one first
# if both have sent something. (No program is started in between: it would ask whose its descriptors
# are, and the supervisor would notice the first one's end then.)
cat >second.sh <<'END'
exec 5<>"$1"
exec 5>&-
(
  exec 5<>"$1"
  printf stored >&5
  echo "$BASHPID" >first
  read -r line <never
) &
echo "$$" >second
read -r line <go
exec 5<>"$1"
IFS= read -r -N 6 text <&5
echo "found: $text"
END

"$scute" shield run -- bash second.sh "$file" >out 2>err &
run=$!
wait_until test -s first
first=$(cat first) second=$(cat second)

[ "$(find "/proc/$run/fd" -lname '*scute-view*' | wc -l)" -ge 2 ] || fail "the supervisor has no view"
if find "/proc/$run/task/"*/fd -lname "$file" -printf '%l\n' | grep .; then fail "the supervisor has the file open"; fi
# The thread that has its locks has FILE.scute open, and no other one has (SUPLOCK-1, LOCK-1).
equal "$(find "/proc/$run/task/"*/fd -lname "$file.*" -printf '%l\n')" "$file.scute"
equal "$(find "/proc/$run/fd" -lname "$file.*" -printf '%l\n')" ""
if grep -F "$file" "/proc/$run/maps"; then fail "the supervisor has the file mapped"; fi

# state_of PID: as the kernel names it; X if it is gone.
state_of() { { sed 's/.*) //; s/ .*//' "/proc/$1/stat" || echo X; } 2>/dev/null; }
kill -STOP "$run"
is_stopped() { [ "$(state_of "$1")" = T ]; }
wait_until is_stopped "$run"
kill -9 "$first"
wait_until gone "$first"
echo go >go
# Until it waits for an answer (recvmsg).
wait_until sleeps_in "$second" 45 47
kill -CONT "$run"
status=0
wait "$run" || status=$?
equal "$status" 0
in_out '^found: stored$'
[ "$(head -c 6 "$file")" = stored ] || fail "what was stored is not in the file"
sound "$file"
