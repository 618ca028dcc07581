#!/usr/bin/env bash
# Descriptors of a shielded file that a program hands down to others: redirections of shells, standard streams of subprocesses, exec() (DOWN-1, DOWN-2,
# DOWN-3, DOWN-4, KEEPER-4). Commands do with a shielded file what they do with a plain one, and a descriptor that has outlived its view takes nothing in.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

count=0
# same COMMAND: the same output, status and bytes, with $F. Also where pages come when they are touched (PAGEIN-4), where there is userfaultfd for that.
same() {
  local folder way status=0 shielded_status=0
  for way in "$pools" "$PWD" "$pools --page-in"; do
    read -r folder run_with <<<"$way"
    rm -f "$folder"/plain* "$folder"/guarded*
    bytes_of 262144 >"$folder/plain"
    shielded "$folder/guarded" 262144
    (cd "$folder" && F=plain bash -c "$1") >plain.out 2>plain.err || status=$?
    # shellcheck disable=SC2086
    (cd "$folder" && F=guarded timeout 60 "$scute" shield run $run_with -- bash -c "$1") >out 2>err || shielded_status=$?
    equal "$shielded_status" "$status"
    diff plain.out out || fail "$1: other output: $(cat err)"
    sed -i '/pages cannot come when they are touched/d' err
    diff <(sed 's/plain/F/g' plain.err) <(sed 's/guarded/F/g' err) || fail "$1: other messages"
    cmp "$folder/plain" "$folder/guarded" || fail "$1: other bytes in the file"
    sound "$folder/guarded"
    count=$((count + 1))
  done
}

same 'cksum <$F; cat <$F | cksum; sh -c "cksum <$F"; wc -c <$F'
same 'exec <$F; read -r line; echo "$line"; exec cksum'
same '{ head -c 100; dd bs=1 count=3 status=none; tail -c 5; } <$F'
same 'exec 5<>$F; head -c 3 <&5; echo between >&5; head -c 3 <&5; (printf sub >&5); sh -c "printf shell >&5"; head -c 3 <&5'
same 'printf x | cat >>$F; seq 3 >>$F; sh -c "echo appended >>$F"; tail -c 20 $F'
# Two numbers of one open file.
same 'sh -c "exec sh -c \"echo out; echo error >&2; echo out again\" 1<>$F 2>&1"; head -c 60 $F | cksum'
same 'sh -c "exec dd bs=10 count=2 status=none skip=1 <$F"; sh -c "exec 3<>$F; head -c 20 <&3; exec sh -c \"echo third >&3\""; head -c 100 $F'
same 'env F=$F python3 -c "import os, subprocess, sys
f = os.environ[\"F\"]
print(subprocess.run([\"cksum\"], stdin=open(f, \"rb\"), capture_output=True))
with open(f, \"r+b\") as to:
    to.seek(1000)
    print(subprocess.run([\"echo\", \"from below\"], stdout=to))
    print(to.seek(0, 1))
print(subprocess.run([\"sh\", \"-c\", \"ls /proc/self/fd | wc -l\"], capture_output=True, close_fds=False))
a = os.open(f, os.O_RDWR)
os.set_inheritable(a, True)
os.lseek(a, 500, 0)
print(subprocess.run([\"sh\", \"-c\", \"head -c 4 <&%d; printf inherited >&%d\" % (a, a)], pass_fds=[a], capture_output=True))
print(os.pread(a, 16, 500), os.get_inheritable(a))
os.execvp(\"sh\", [\"sh\", \"-c\", \"head -c 4 <&%d; printf replaced >&%d\" % (a, a)])
"'

same 'env F=$F python3 -c "import os
f = os.environ[\"F\"]
a = os.open(f, os.O_RDONLY)
os.set_inheritable(a, True)
os.lseek(a, 100000, 0)
print(os.system(\"head -c 40 <&%d | cksum\" % a), os.popen(\"head -c 40 <&%d\" % a).read())
os.posix_spawnp(\"sh\", [\"sh\", \"-c\", \"head -c 40 <&%d\" % a], os.environ)
os.wait()
"'

same 'env F=$F python3 -c "import os
f = os.path.abspath(os.environ[\"F\"])
a = [(os.POSIX_SPAWN_OPEN, 0, f, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, f, os.O_WRONLY, 0)]
os.waitpid(os.posix_spawnp(\"sh\", [\"sh\", \"-c\", \"tail -c 9; echo spawned\"], os.environ, file_actions=a), 0)
print(open(f).read(30))
"'

# What is opened outside of the shield is shielded inside, or not to be had.
bytes_of 100000 >plain
shielded "$pools/guarded" 100000
expect 0 "$scute" shield run sh -c 'head -c 5; cat - >&2' <"$pools/guarded" 3>&1
cat plain | cmp - <(cat out err) || fail "a redirection of the shield's own shell"
expect 0 "$scute" shield run sh -c 'echo inside' >>"$pools/guarded"
expect 0 "$scute" shield run sh -c 'echo more >&4' 4>>"$pools/guarded"
[ "$(tail -c 5 "$pools/guarded")" = more ] || fail "what was appended from inside is not there"
sound "$pools/guarded"

# A process that has outlived its parent's view is not let write there, since nobody would look at it.
file=$pools/file
shielded "$file" 262144
cp "$file" before
expect 0 "$scute" shield run -- bash -c 'exec 5<>"$0"; (trap "" HUP; exec 4<&0; sleep 1; if printf late >&5; then echo written; else echo refused; fi >told) & exit 0' "$file"
for _ in $(seq 50); do [ ! -s told ] || break; sleep 0.1; done
equal "$(cat told)" refused
cmp "$file" before || fail "what came late is in the file"
sound "$file"
# What it is told it has written is in the file, to the last record, also where its parent closes the file meanwhile, or is killed.
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
  timeout 60 "$scute" shield run -- python3 meanwhile.py "$file" $way 2>err || status=$?
  [ "$status" = 0 ] || [ "$status" = 137 ] || fail "$way: status $status: $(cat err)"
  for _ in $(seq 100); do [ ! -s count ] || break; sleep 0.1; done
  python3 -c 'import struct, sys
data = open(sys.argv[1], "rb").read()
n = int(open("count").read())
lost = [i for i in range(n) if struct.unpack_from("<I", data, i * 8)[0] != i + 1]
sys.exit("%d of %d are not in the file" % (len(lost), n) if lost or n < 50 else 0)' "$file" || fail "what a child has written while its parent ended ($way)"
  sound "$file"
done
# What it stores through a mapping of its parent's descriptor is its parent's to write; when nobody does any more it is told so (DOWN-5).
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
    os.write(go[1], b"1")
    os.read(ended[0], 1)
    view[200:205] = b"later"
    print(tried(view.flush), tried(lambda: os.fsync(fd)), flush=True)
    os._exit(0)
os.read(go[0], 1)
os.close(fd)
os.write(ended[1], b"1")
print(os.waitpid(child, 0)[1])
END
shielded "$file" 262144
expect 0 timeout 60 "$scute" shield run -- python3 mapped.py "$file"
equal "$(cat out)" "$(printf '0 0\n5 5\n0')"
[ "$(tail -c +101 "$file" | head -c 5)" = early ] || fail "what the child had stored before is not in the file"
sound "$file"
# However it is made, a child is one, and opens what it wants. What is opened for it is not cut.
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
  expect 0 timeout 60 "$scute" shield run $way -- python3 children.py "$file"
  sed -i '/pages cannot come/d' err
  in_out "^\[b'child 0', b'child 1', b'child 2', b'child 3'\]$"
  in_out '^True$'
  equal "$(grep -c '^1792$' out)" 4
  [ "$(wc -c <"$file")" = 262144 ] || fail "it was cut"
done
sound "$file"
echo "$count commands with what they were given"
