# wait.bash: how shell tests wait. A test waits for a condition with a generous bound, never for a fixed time.
# Sourced after the functions `fail`.

# wait_until COMMAND...: runs the command again and again until it succeeds. Fails the test after a minute
# (SCUTE_TEST_WAIT_SECONDS).
wait_until() {
  local until=$((SECONDS + ${SCUTE_TEST_WAIT_SECONDS:-60}))
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

# has_read_all PID FD: the pipe at our descriptor FD is empty, and the process, its reader, waits for more.
# (read, poll and ppoll, by their numbers on x86-64)
has_read_all() {
  python3 -c 'import array, fcntl, sys, termios
n = array.array("i", [0])
fcntl.ioctl(int(sys.argv[1]), termios.FIONREAD, n)
sys.exit(n[0] != 0)' "$2" && sleeps_in "$1" 0 7 271
}

# pause SECONDS: before a signal that may come at any moment. No assertion may depend on how long this is.
pause() { sleep "$1"; }
