#!/usr/bin/env bash
# The shield's messages go to standard error and nowhere else. They do not get into a file that the
# program has opened in its place. If standard error is a pipe without a reader, no process ends.
# Signals to `scute shield run` are the program's (SUPER-5).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
shielded "$file" 65536
run=("$scute" shield run "${run_with[@]}" --)

cat >says.py <<'END'
import errno, os, sys
file, way = sys.argv[1:]
first, second = os.pipe()
os.close(2)
if way == "data":
    os.open("data", os.O_RDWR | os.O_CREAT)
elif way == "log":
    os.open("log", os.O_RDWR | os.O_CREAT | os.O_APPEND)
elif way == "pipe":
    os.dup2(second, 2)
    os.close(second)
    os.close(first)
try:
    os.remove(file)
except OSError as e:
    print(e.errno == errno.EBUSY, flush=True)
END
# (Python itself ignores SIGPIPE.)
for way in data log none pipe; do
  expect 0 "${run[@]}" env -u PYTHONUNBUFFERED python3 -c 'import signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL); sys.argv = ["says.py"] + sys.argv[1:]; exec(open("says.py").read())' "$file" $way
  equal "$(cat out)" True
done
[ ! -s data ] || fail "the program's own file has: $(cat data)"
grep -q 'not removed, moved or replaced' log || fail "a log that has taken the place of standard error has nothing"

for signal in TERM INT HUP QUIT USR1 USR2 ALRM PIPE XFSZ VTALRM IO WINCH RTMIN; do
  : >out  # otherwise the output of the signal before could be taken for this one's
  "${run[@]}" python3 -c 'import signal, sys
from waiting import wait_until
def reported(number, frame):
    print("SIG" + sys.argv[1] if number == getattr(signal, "SIG" + sys.argv[1]) else number, flush=True)
    sys.exit(7)
signal.signal(getattr(signal, "SIG" + sys.argv[1]), reported)
print("ready\n", end="", flush=True)
wait_until(lambda: False)' $signal >out 2>err &
  run_by=$!
  until_said ready out "$run_by"
  kill -s $signal $run_by
  status=0
  wait $run_by || status=$?
  equal "$status" 7
  in_out "^SIG$signal$"
done

# A descriptor that is closed when the program begins is closed for it. The supervisor survives a
# failed write of its messages.
"${run[@]}" python3 -c 'import os, sys
closed = []
for fd in range(3):
    try: os.fstat(fd)
    except OSError: closed.append(fd)
open(sys.argv[1], "w").write(str(closed))' closed 0<&- 2>&- || fail "with closed streams: $?"
equal "$(cat closed)" '[0, 2]'
mkfifo broken
exec 6<>broken 7>broken
exec 6<&-
status=0
"$scute" shield run --unflushed drop -- python3 -c 'import mmap, os, sys
view = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 4096)
view[0:4] = b"lost"
os.kill(os.getpid(), 9)' "$file" 2>&7 || status=$?
equal "$status" 137
exec 7>&-
rm -f "$file.scute-unflushed"
# An alarm() before exec() is the program's.
status=0
python3 -c 'import os, signal, sys
signal.alarm(1)
os.execv(sys.argv[1], sys.argv[1:])' "${run[@]}" python3 -c 'from waiting import wait_until; wait_until(lambda: False)' || status=$?
equal "$status" 142
sound "$file"
