#!/usr/bin/env bash
# How far a load has come, on a terminal of any width: the line fits, and the time left is on it
# wherever there is room for that.
. "${BASH_SOURCE[0]%/*}/lib.bash"
# load COLUMNS: what is on a terminal of that width meanwhile, a line each.
load() {
  rm -f "$pools/bar.pool"
  python3 - "$1" "$scute" kv load "$pools/bar.pool" records.tsv --create --size 512M --batch 1 >lines <<'END' || fail "no load"
import fcntl, os, pty, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
child = os.fork()
if child == 0:
    os.close(ours)
    os.dup2(theirs, 2)
    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
    os.execv(command[0], command)
os.close(theirs)
text = b""
while True:
    try:
        part = os.read(ours, 65536)
    except OSError:  # the other side is closed
        break
    if not part:
        break
    text += part
_, status = os.waitpid(child, 0)
for line in text.decode().replace("\x1b[K", "").split("\r"):
    print(line)
sys.exit(os.waitstatus_to_exitcode(status))
END
}
for columns in 24 40 60 80 132; do
  # As many records as it takes until there is progress to show.
  for n in 20000 80000 320000; do
    records $n >records.tsv
    load "$columns"
    ! grep -q 'ETA' lines || break
  done
  grep -q '^loading' lines || fail "no line: $(cat -v lines)"
  [ "$(wc -L <lines)" -lt "$columns" ] || fail "a line does not fit into $columns columns: $(cat lines)"
  grep -q '^loading .*  ETA [0-9]' lines || fail "no ETA in $columns columns: $(cat lines)"
  # Narrow terminals leave out the speed, and then the amount: whole facts, from the end of the
  # list.
  size='[0-9.]+ ([KMGT]i)?B'
  whole="^loading( \\[#*\\.*\\])? +[0-9]+%(  $size of $size(  $size/s)?)?(  ETA [0-9:]+( s)?)?(  [0-9,]+ records)?\$"
  ! grep '^loading' lines | grep -vE "$whole" || fail "something is cut off in $columns columns: $(cat lines)"
  [ "$columns" -lt 60 ] || grep -qE " of $size" lines || fail "no amount in $columns columns: $(cat lines)"
  [ "$columns" -lt 80 ] || grep -qE "$size/s" lines || fail "no speed in $columns columns: $(cat lines)"
  [ "$columns" -lt 80 ] || grep -q '^loading \[#*\.*\] ' lines || fail "no bar in $columns columns: $(cat lines)"
done
