#!/usr/bin/env bash
# Children outlive the view of their parent. Bytes that a call reported to a child as written are in
# the file, and for others the call fails (SUPER-4, INHERIT-3, INHERIT-5). Some children are made in
# other ways than by fork() (LIFE-2).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# A process that has outlived its parent's view is refused writes there, since no supervisor would
# process them.
file=$pools/file
shielded "$file" 262144
cp "$file" before
mkfifo over
expect 0 "$scute" shield run -- bash -c 'exec 5<>"$0"; (trap "" HUP; exec 4<&0; read -r _ <over; if printf late >&5; then echo written; else echo refused; fi >reported) & exit 0' "$file"
echo >over
wait_until test -s reported
equal "$(cat reported)" refused
cmp "$file" before || fail "what came late is in the file"
sound "$file"
# Every record that a write reported as written is in the file, also if the parent closes the file
# meanwhile or is killed.
cat >meanwhile.py <<'END'
import mmap, os, signal, struct, sys, time
name, way = sys.argv[1:]
done = mmap.mmap(-1, 4096)
fd = os.open(name, os.O_RDWR)
child = os.fork()
if child == 0:
    os.setsid()
    for i in range(32000):
        try:
            os.pwrite(fd, struct.pack("<I", i + 1), i * 8)
        except OSError:
            break
        done[0:4] = struct.pack("<I", i + 1)
    open("count.new", "w").write("%d\n" % struct.unpack("<I", done[0:4]))
    os.rename("count.new", "count")
    os._exit(0)
while struct.unpack("<I", done[0:4])[0] < 50:
    pass
if way == "close":
    os.close(fd)
    os.waitpid(child, 0)
else:
    os.kill(os.getpid(), signal.SIGKILL)
END
for way in close kill close kill; do
  shielded "$file" 262144
  rm -f count
  status=0
  timeout "$wait_seconds" "$scute" shield run -- python3 meanwhile.py "$file" $way 2>err || status=$?
  [ "$status" = 0 ] || [ "$status" = 137 ] || fail "$way: status $status: $(cat err)"
  wait_until test -s count
  python3 -c 'import struct, sys
data = open(sys.argv[1], "rb").read()
n = int(open("count").read())
lost = [i for i in range(n) if struct.unpack_from("<I", data, i * 8)[0] != i + 1]
sys.exit("%d of %d are not in the file" % (len(lost), n) if lost or n < 50 else 0)' "$file" || fail "what a child has written while its parent ended ($way)"
  sound "$file"
done
# A child stores through a mapping of its parent's descriptor: its parent has to write that. When no
# process does so any longer, the child gets an error (INHERIT-5).
cat >mapped.py <<'END'
import mmap, os, sys
go, ended = os.pipe(), os.pipe()
fd = os.open(sys.argv[1], os.O_RDWR)
child = os.fork()
if child == 0:
    def tried(call):
        try: call(); return 0
        except OSError as e: return e.errno
    view = mmap.mmap(fd, 4096)
    view[100:105] = b"early"
    print(tried(view.flush), tried(lambda: os.fsync(fd)), flush=True)
    for i in range(600):  # as often as one likes
        mmap.mmap(fd, 4096).close()
    os.write(go[1], b"1")
    os.read(ended[0], 1)
    view[200:205] = b"later"
    print(tried(view.flush), tried(lambda: os.fsync(fd)), flush=True)
    # A later mapping at its place does not concern that view.
    view.close()
    again = mmap.mmap(fd, 4096, prot=mmap.PROT_READ)
    again.close()
    plain = os.open("mapped.py", os.O_RDWR)
    others = [mmap.mmap(plain, 512) for i in range(20)]
    print([tried(other.flush) for other in others if tried(other.flush)], tried(lambda: os.fsync(plain)), flush=True)
    os._exit(0)
os.read(go[0], 1)
os.close(fd)
os.write(ended[1], b"1")
print(os.waitpid(child, 0)[1])
END
shielded "$file" 262144
expect 0 timeout "$wait_seconds" "$scute" shield run -- python3 mapped.py "$file"
equal "$(cat out)" "$(printf '0 0\n5 5\n[] 0\n0')"
[ "$(tail -c +101 "$file" | head -c 5)" = early ] || fail "what the child had stored before is not in the file"
sound "$file"
# A child opens the files that it wants, however it was made. A file that was opened for it is not
# cut.
cat >children.py <<'END'
import ctypes, errno, os, sys
c = ctypes.CDLL(None, use_errno=True)
c.syscall.restype = ctypes.c_long
name = sys.argv[1]
for i, make in enumerate((lambda: c.syscall(57), lambda: c.syscall(56, 17, 0, 0, 0, 0), lambda: c._Fork(), os.fork)):
    child = make()
    if child == 0:
        fd = os.open(name, os.O_RDWR)
        os.pwrite(fd, b"child %d" % i, 100 * i)
        os.fsync(fd)
        os.close(fd)
        os._exit(7)
    print(os.waitpid(child, 0)[1])
fd = os.open(name, os.O_RDWR)
print([os.pread(fd, 7, 100 * i) for i in range(4)])
os.close(fd)
try:
    os.posix_spawn("/bin/echo", ["echo", "x"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, name, os.O_WRONLY | os.O_TRUNC, 0)])
    os.wait()
except OSError as e:
    print(e.errno == errno.EBUSY)
END
shielded "$file" 262144
for way in '' --page-in; do
  expect 0 timeout "$wait_seconds" "$scute" shield run $way -- python3 children.py "$file"
  sed -i '/pages cannot be loaded on demand/d' err
  in_out "^\[b'child 0', b'child 1', b'child 2', b'child 3'\]$"
  in_out '^True$'
  equal "$(grep -c '^1792$' out)" 4
  [ "$(wc -c <"$file")" = 262144 ] || fail "it was cut"
done
sound "$file"
