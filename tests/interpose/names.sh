#!/usr/bin/env bash
# Calls that a program makes on a whole file, by its name, are refused while the file is shielded,
# and change nothing (NAME-1). Calls on names next to it, on links to it and on its metadata do what
# they do to a plain file (DESC-1).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run() { timeout "$wait_seconds" "$scute" shield run "${run_with[@]}" -- "$@"; }

for folder in "$pools" "$PWD"; do
  cd "$folder"
  rm -f file* other
  shielded "$folder/file" 65536
  cp file before
  bytes_of 5000 >other
  mkdir -p into archive
  cp other archive/file
  tar -C archive -cf whole.tar file
  ctypes='import ctypes, os, sys; c = ctypes.CDLL(None, use_errno=True); r = '
  refused=0
  while read -r command; do
    status=0
    run bash -c "$command" >out 2>err </dev/null || status=$?
    [ "$status" != 0 ] || fail "$command: not refused"
    in_err 'a shielded file is not'
    cmp before file || fail "$command: other bytes in the file"
    [ -e other ] || fail "$command: the other file has gone"
    rm -f sed?????? tmp.*
    expect 0 "$scute" shield check "$folder/file"
    refused=$((refused + 1))
  done <<END
rm -f file
mv file into/
mv file renamed
mv other file
mv -f into/../other file
sed -i 1d file
install other file
cp --remove-destination other file
tar -xf whole.tar
python3 -c 'import os; os.remove("file")'
rm -f file.scute
mv file.scute elsewhere
python3 -c 'import os; [os.remove(n) for n in ("file.scute.log", "file.scute") if os.path.exists(n)]'
mv other file.scute
python3 -c 'import os; os.replace("other", "file")'
python3 -c 'import os; os.unlink("file", dir_fd=os.open(".", os.O_RDONLY))'
python3 -c '$ctypes c.syscall(316, -100, b"other", -100, b"file", 2); sys.exit(os.strerror(ctypes.get_errno()) if r else 0)'
python3 -c '$ctypes c.syscall(87, b"file"); sys.exit(os.strerror(ctypes.get_errno()) if r else 0)'
python3 -c '$ctypes c.remove(b"file"); sys.exit(os.strerror(ctypes.get_errno()) if r else 0)'
END
  equal "$refused" 19

  # A folder with all that is in it.
  mkdir -p within
  shielded "$folder/within/file" 65536
  cp within/file inside
  status=0
  run rm -rf within 2>err || status=$?
  equal "$status" 1
  cmp within/file inside || fail "rm -rf of its folder"
  # The command itself is not under the shield that it is run in.
  # shellcheck disable=SC2016  # (Of the inner shell.)
  run bash -c '"$0" shield check within/file && "$0" shield remove within/file && rm -rf within' "$scute" >out 2>err || fail "the command under the shield: $(cat err)"
  [ ! -e within ] || fail "it is still there"

  # Next to it.
  run bash -c 'ln -s file link && rm link && ln -s file link && mv link into/link && rm into/link && mv other moved && mv moved other &&
    touch new && rm new && ! rm gone 2>/dev/null && ! rm "" 2>/dev/null && mkdir empty && rmdir empty && rm -r into archive whole.tar' ||
    fail "names next to the file: $?"
  # An open that would create a file creates none if it fails: the protection of the file that was
  # moved away still exists.
  mv file aside
  expect 1 run python3 -c 'import os; os.open("file", os.O_RDWR | os.O_CREAT | os.O_EXCL)'
  [ ! -e file ] || fail "a file that no program can open"
  mv aside file

  # A second open by another name, and by none.
  ln file second
  # shellcheck disable=SC2016  # (Of the inner shell.)
  run bash -c 'exec 5<>file; printf first >&5; exec 6<>second; head -c 5 <&6; printf "|second" >&6; exec 7<>/proc/self/fd/6; head -c 12 <&7' >out 2>err ||
    fail "by a second name: $(cat err)"
  equal "$(cat out)" "firstfirst|second"
  rm second
  expect 0 "$scute" shield check "$folder/file"

  # Facts.
  cp file plain
  for name in plain file; do
    run python3 -c 'import ctypes, fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, b"before", 10)
os.utime(fd, ns=(10**18, 10**18 + 5))
print(os.stat(sys.argv[1]).st_mtime_ns, os.fstat(fd).st_atime_ns)
os.pwrite(fd, b"", 10)
try:
    os.setxattr(fd, "user.scute", b"value")
    print(os.getxattr(fd, "user.scute"), os.listxattr(fd), os.getxattr(sys.argv[1], "user.scute"))
    os.removexattr(fd, "user.scute")
    print(os.listxattr(sys.argv[1]))
except OSError as e:
    print(e.errno)
try:
    os.pwrite(os.open(sys.argv[1], os.O_RDONLY), b"nothing", 70000)
except OSError as e:
    print(e.errno, os.fstat(fd).st_size)
c = ctypes.CDLL(None)
c.fopen.restype = ctypes.c_void_p
c.fileno.argtypes = [ctypes.c_void_p]
for mode in b"r", b"re", b"r+e":
    print(fcntl.fcntl(c.fileno(c.fopen(sys.argv[1].encode(), mode)), fcntl.F_GETFD))
os.closerange(3, 100000)
print([n for n in os.listdir("/proc/self/fd") if int(n) < 512])
' "$name" >"$name.facts" 2>err || fail "$name: $(cat err)"
    stat -c %.Y "$name" >>"$name.facts"
  done
  diff plain.facts file.facts || fail "facts of the shielded file are others"
  cmp plain file || fail "other bytes"

  # Of the times, only that of the last change is changed, to the time of the write.
  for way in 'os.pwrite(fd, b"changed", 0)' 'os.pwrite(fd, b"synced", 0); os.fsync(fd); os.kill(os.getpid(), 9)' \
    'mmap.mmap(fd, 4096)[5:6] = b"x"' 'os.pwrite(fd, b"before", 0); os.utime(fd, (5, 5))' 'os.pread(fd, 10, 0)'; do
    touch -d 2001-02-03 file
    run python3 -c "import mmap, os; fd = os.open('file', os.O_RDWR); $way" 2>err || [ $? = 137 ] || fail "$way: $(cat err)"
    changed=$(stat -c %Y file)
    case $way in
      *utime*) equal "$changed" 5 ;;
      *pread*) equal "$changed" "$(date -d 2001-02-03 +%s)" ;;
      *) [ "$changed" -gt 1600000000 ] || fail "$way: the file's time is $changed" ;;
    esac
  done

  # A child of fork() has its parent's descriptors, with the metadata and the locks of the file. It
  # also lacks what its parent has given up.
  for name in plain file; do
    run python3 -c 'import ctypes, fcntl, mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
view = mmap.mmap(fd, 0)
at = ctypes.addressof(ctypes.c_char.from_buffer(view))
c = ctypes.CDLL(None)
print(c.mprotect(ctypes.c_void_p(at + 8192), 4096, 0))
fcntl.flock(fd, fcntl.LOCK_EX)
fcntl.lockf(fd, fcntl.LOCK_EX, 10, 100)
inode = os.stat(sys.argv[1]).st_ino
sys.stdout.flush()
def in_child(f):
    child = os.fork()
    if child == 0:
        try: print(f(), flush=True)
        except OSError as e: print(e.errno, flush=True)
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
copy = lambda: os.dup(fd)
in_child(lambda: (os.fstat(fd).st_ino == inode, os.fstat(copy()).st_ino == inode, os.stat(fd).st_dev == os.stat(sys.argv[1]).st_dev))
in_child(lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
in_child(lambda: fcntl.flock(copy(), fcntl.LOCK_EX | fcntl.LOCK_NB))
in_child(lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 105))
in_child(lambda: fcntl.lockf(copy(), fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 105))
in_child(lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 200))
in_child(lambda: (os.close(fd), os.open("/dev/null", os.O_RDONLY) == fd, os.fstat(fd).st_ino == inode))
in_child(lambda: ctypes.string_at(at, 4) == view[:4])
in_child(lambda: ctypes.string_at(at + 8192, 4))
in_child(lambda: ctypes.memset(at, 0, 1) if sys.argv[1] == "file" else os.kill(os.getpid(), 11))
' "$name" >"$name.child" 2>err || fail "$name: $(cat err)"
  done
  diff plain.child file.child || fail "a child of fork() sees others"
  sound "$folder/file"
  cd - >/dev/null
done
