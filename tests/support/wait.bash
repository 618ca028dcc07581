# wait.bash: how shell tests wait. A test waits for a condition with a generous bound, never for a
# fixed time. Sourced after the functions `fail`. (tests/layout/check.sh refuses every other sleep.)

# Programs in Python that a test writes wait with waiting.py.
export PYTHONPATH=${BASH_SOURCE[0]%/*}${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1

# Longer than anything takes that ends at all, on a busy machine.
wait_seconds=${SCUTE_TEST_WAIT_SECONDS:-120}

# wait_until COMMAND...: runs the command again and again until it succeeds. Fails the test after so
# many seconds.
wait_until() {
  local until=$((SECONDS + wait_seconds))
  until "$@"; do
    [ "$SECONDS" -lt "$until" ] || fail "this did not become true: $*"
    sleep 0.02
  done
}

# sleeps_in NUMBER... of PID: its main thread is in one of these system calls.
sleeps_in() { # PID NUMBER...
  local call
  read -r call _ <"/proc/$1/syscall" || return 1
  [[ " ${*:2} " == *" $call "* ]]
} 2>/dev/null

# has_read_all PID FD: the pipe at our descriptor FD is empty, and the process, its reader, waits
# for more. (read, poll and ppoll, by their numbers on x86-64)
has_read_all() {
  python3 -c 'import array, fcntl, sys, termios
n = array.array("i", [0])
fcntl.ioctl(int(sys.argv[1]), termios.FIONREAD, n)
sys.exit(n[0] != 0)' "$2" && sleeps_in "$1" 0 7 271
}

# gone PID: it has ended, though its parent may not have waited for it.
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

# until_said PATTERN FILE PID: the file has a line that matches, which the process writes. Fails the
# test if it ends without.
until_said() { wait_until has_said "$@"; }
has_said() {
  ! grep -q -e "$1" "$2" || return 0
  gone "$3" || return 1
  grep -q -e "$1" "$2" || fail "$2 has no line '$1', and the program has ended"
}

# pause SECONDS: before a signal that may come at any moment. No assertion may depend on how long
# this is.
pause() { sleep "$1"; }
