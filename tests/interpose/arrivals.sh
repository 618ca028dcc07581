#!/usr/bin/env bash
# A program gets descriptors of a shielded file by other ways than open() and dup(): over a socket,
# by syscall(). Bytes that it makes durable by such a descriptor are durable. The file stays open
# until that descriptor is closed (DESC-4). A shielded file that another process sends is taken over
# (INHERIT-4).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >arrives.py <<'END'
import ctypes, mmap, os, signal, socket, sys

way, name = sys.argv[1:]
c = ctypes.CDLL(None, use_errno=True)
SYS_dup, SYS_dup3, SYS_fcntl, SYS_close, SYS_openat, SYS_fsync = 32, 292, 72, 3, 257, 74


def called(*arguments):
    result = c.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(arguments))
    return result


def sent(fd):
    a, b = socket.socketpair()
    socket.send_fds(a, [b"one"], [fd])
    return socket.recv_fds(b, 8, 4)[1][0]


fd = called(SYS_openat, -100, name.encode(), os.O_RDWR, 0) if way == "openat" else os.open(name, os.O_RDWR)
os.lseek(fd, 4000, 0)
other = {
    "dup": lambda: called(SYS_dup, fd),
    "dup3": lambda: called(SYS_dup3, fd, 77, 0),
    "fcntl": lambda: called(SYS_fcntl, fd, 0, 50),
    "socket": lambda: sent(fd),
    "openat": lambda: fd,
}[way]()
inode = os.fstat(fd).st_ino
if other != fd:
    os.close(fd)
print(os.lseek(other, 0, 1), os.fstat(other).st_ino == inode == os.stat(name).st_ino)
print(os.pwrite(other, b"by the number", 1000))
if way == "dup":
    called(SYS_fsync, other)
else:
    os.fsync(other)
print(os.pwrite(other, b"not yet durable", 1500))  # in another line than the durable bytes
view = mmap.mmap(other, 262144)
view[2000:2011] = b"by the view"
view.flush()
called(SYS_close, other)
view[3000:3004] = b"late"
view.flush()
view.close()
os.close(os.open(name, os.O_RDWR))  # can be opened again
print("done\n", end="", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
END

for way in dup dup3 fcntl socket openat; do
  bytes_of 262144 >plain
  shielded "$pools/file" 262144
  status=0
  timeout "$wait_seconds" python3 arrives.py "$way" plain >wanted || status=$?
  equal "$status" 137
  status=0
  timeout "$wait_seconds" "$scute" shield run --unflushed drop "${run_with[@]}" -- python3 arrives.py "$way" "$pools/file" >out 2>err || status=$?
  equal "$status" 137
  diff wanted out || fail "$way: calls have other results: $(cat err)"
  cmp plain "$pools/file" || fail "$way: what was made durable is not in the file"
  sound "$pools/file"
done

# Another library in between, whose calls are made of syscall(), as some allocators' are.
cat >between.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void *mmap(void *at, size_t n, int access, int flags, int fd, off_t offset) {
  return (void *)syscall(SYS_mmap, at, n, access, flags, fd, offset);
}
int munmap(void *at, size_t n) { return (int)syscall(SYS_munmap, at, n); }
int close(int fd) { return (int)syscall(SYS_close, fd); }
int dup(int fd) { return (int)syscall(SYS_dup, fd); }
int fsync(int fd) { return (int)syscall(SYS_fsync, fd); }
int unlink(const char *path) { return (int)syscall(SYS_unlink, path); }
END
cc -shared -fPIC -O1 -o between.so between.c || fail "cc"
bytes_of 262144 >plain
shielded "$pools/file" 262144
cat >usual.py <<'END'
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
view = mmap.mmap(fd, 0)
view[77:84] = b"between"
other = os.dup(fd)
os.close(fd)
os.pwrite(other, b"written", 5000)
os.fsync(other)
view.close()
os.close(other)
open("gone", "w").close()
os.unlink("gone")
print("done")
END
LD_PRELOAD=$PWD/between.so python3 usual.py plain >wanted || fail "without the shield"
LD_PRELOAD=$PWD/between.so timeout "$wait_seconds" "$scute" shield run "${run_with[@]}" -- python3 usual.py "$pools/file" >out 2>err || fail "between: $?: $(cat err)"
diff wanted out || fail "with a library between"
cmp plain "$pools/file" || fail "other bytes with a library between"
sound "$pools/file"

# Another process sends FILE itself, without knowing that it is shielded.
cat >sends.py <<'END'
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(1)
peer, _ = server.accept()
socket.send_fds(peer, [b"one"], [os.open(sys.argv[2], os.O_RDWR)])
peer.recv(1)
END
cat >takes.py <<'END'
import os, signal, socket, sys
from waiting import wait_until
s = socket.socket(socket.AF_UNIX)
wait_until(lambda: s.connect_ex(sys.argv[1]) == 0)  # (It may not listen yet.)
fd = int.from_bytes(s.recvmsg(8, socket.CMSG_LEN(4), socket.MSG_CMSG_CLOEXEC)[1][0][2], sys.byteorder)
print(os.get_inheritable(fd))
print(os.pwrite(fd, b"of another one's number", 5000))
os.fsync(fd)
print(os.pread(fd, 10, 4998), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
END
shielded "$pools/file" 262144
python3 sends.py socket "$pools/file" &
sender=$!
wait_until test -S socket
status=0
timeout "$wait_seconds" "$scute" shield run --unflushed drop "${run_with[@]}" -- python3 takes.py socket "$pools/file" >out 2>err || status=$?
equal "$status" 137
wait "$sender" || fail "the sender"
in_out '^False$'
in_out '^23$'
[ "$(tail -c +5001 "$pools/file" | head -c 23)" = "of another one's number" ] || fail "it is not in the file"
sound "$pools/file"
