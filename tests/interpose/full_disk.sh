#!/usr/bin/env bash
# A file system becomes full under shielded files. A call that needs room fails and changes nothing
# (GROW-3); a call that needs none succeeds. With more room, everything continues. The test uses a
# small tmpfs in a namespace of its own. If the user may not mount one, only disk/ tests this,
# without programs.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >program.py <<'PYTHON'
# program.py FILE CASE: under the shield, on a disk that `room` fills and empties.
import errno, os, subprocess, sys
path, case_name = sys.argv[1:]
room = lambda pages: subprocess.run(["bash", "room.sh", str(pages)], check=True)
fd = os.open(path, os.O_RDWR | (os.O_APPEND if case_name == "append" else 0))
size = os.fstat(fd).st_size

def refused(call):
    try:
        call()
    except OSError as e:
        assert e.errno == errno.ENOSPC, e
    else:
        raise AssertionError("there was room")

room(8)
if case_name in ("append", "write"):
    # LENGTH-3
    refused(lambda: os.write(fd, b"a" * 400000) if case_name == "append" else os.pwrite(fd, b"a" * 400000, size))
    assert os.fstat(fd).st_size == size
    os.fsync(fd)
    room(2000)
    assert os.write(fd, b"a" * 400000) == 400000 if case_name == "append" else os.pwrite(fd, b"a" * 400000, size) == 400000
    os.fsync(fd)
    assert os.fstat(fd).st_size == size + 400000
elif case_name == "copy":
    # The kernel copies the bytes into memory. Both syncs find no room; after room(), one does.
    with open("letters", "rb") as letters:
        os.lseek(fd, 0, os.SEEK_END)
        assert os.sendfile(fd, letters.fileno(), 0, 400000) == 400000
    refused(lambda: os.fsync(fd))
    refused(lambda: os.fsync(fd))
    room(2000)
    os.fsync(fd)
    assert os.fstat(fd).st_size == size + 400000
else:
    more = size + 3000000
    refused(lambda: os.ftruncate(fd, more) if case_name == "truncate" else os.posix_fallocate(fd, size, 3000000))
    assert os.fstat(fd).st_size == size
    # The bytes within the file can be changed, and the changes made durable.
    for at in (0, 4096 * 7 + 5, size - 3):
        os.pwrite(fd, b"new", at)
    os.fsync(fd)
    room(2000)
    os.ftruncate(fd, more)
    os.pwrite(fd, b"end", more - 3)
    os.fsync(fd)
PYTHON
cat >appends.py <<'PYTHON'
# appends.py FILE CASE: the bytes that it appends find no room. The bytes that it writes elsewhere
# are not synced, or are synced by a call that reports this.
import errno, os, signal, subprocess, sys
path, case_name = sys.argv[1:]
subprocess.run(["bash", "room.sh", "8"], check=True)
fd = os.open(path, os.O_RDWR)
os.pwrite(fd, b"elsewhere", 70000)
os.lseek(fd, 0, os.SEEK_END)
with open("letters", "rb") as letters:
    assert os.sendfile(fd, letters.fileno(), 0, 400000) == 400000
if case_name == "loses_power":
    try:
        os.fsync(fd)
    except OSError as e:
        assert e.errno == errno.ENOSPC, e
    else:
        raise AssertionError("there was room")
    os.kill(os.getppid(), signal.SIGKILL)
if case_name != "exits":
    os.kill(os.getpid(), signal.SIGKILL)
PYTHON
cat >room.sh <<'ROOM'
# room.sh PAGES: another file takes all room but these pages.
rm -f "$small/.others"
free=$(($(stat -f -c %a "$small") - $1))
[ "$free" -le 0 ] || head -c $((free * 4096)) /dev/zero >"$small/.others"
ROOM

drill() {
  local file=$small/file case_name
  head -c 2000001 /dev/urandom >"$file"
  cp "$file" original
  head -c 400000 /dev/zero | tr '\0' a >letters
  # The file is not added to the shield, or not a second time, and is unchanged.
  bash room.sh 8
  expect 6 "$scute" shield add "$file" --capacity 6000000
  one_error_line
  in_err 'room'
  equal "$(ls "$small")" file
  cmp "$file" original || fail "the file was changed"
  bash room.sh 4000
  expect 0 "$scute" shield add "$file" --capacity 6000000
  cp "$file.scute" sidecar
  bash room.sh 8
  expect 6 "$scute" shield adopt "$file" --capacity 12000000
  one_error_line
  cmp "$file.scute" sidecar || fail "a refused adopt has changed FILE.scute"
  expect 0 "$scute" shield check "$file"
  for case_name in append write copy truncate fallocate; do
    bash room.sh 4000
    rm -f "$file.scute"
    cp original "$file"
    expect 0 "$scute" shield add "$file" --capacity 6000000
    expect 0 "$scute" shield run -- "$python" program.py "$file" "$case_name"
    bash room.sh 4000
    sound "$file"
    case $case_name in
      append | write | copy) cat original letters >wanted ;;
      *)
        cp original wanted
        for at in 0 28677 1999998; do printf new | dd of=wanted bs=1 seek=$at conv=notrunc status=none; done
        truncate -s 5000001 wanted
        printf end | dd of=wanted bs=1 seek=4999998 conv=notrunc status=none
        ;;
    esac
    cmp "$file" wanted || fail "$case_name: the file holds something else"
  done
  # Bytes that have no room when the program syncs, ends or is killed keep no others from the file
  # (GROW-4). They are reported.
  for case_name in exits is_killed loses_power; do
    bash room.sh 4000
    rm -f "$file.scute"
    cp original "$file"
    expect 0 "$scute" shield add "$file" --capacity 6000000
    expect "$([ $case_name = exits ] && echo 3 || echo 137)" "$scute" shield run -- "$python" appends.py "$file" "$case_name"
    [ $case_name = loses_power ] ||
      in_err 'cannot extend the file to the size that its program has left (2400001 bytes; all bytes up to its end are in it): .*No space left'
    bash room.sh 4000
    sound "$file"
    cp original wanted
    printf elsewhere | dd of=wanted bs=1 seek=70000 conv=notrunc status=none
    cmp "$file" wanted || fail "$case_name: the file holds something else"
  done
}

python=$(command -v python3)
small=$PWD/small
mkdir "$small"
export small
mount_small='mount -t tmpfs -o size=24m,huge=never none "$small"'
if unshare -Urm true 2>/dev/null && unshare -Urm bash -c "$mount_small" 2>/dev/null; then
  export -f drill fail expect in_out in_err equal one_error_line sound
  export scute pools python
  unshare -Urm bash -c "set -euo pipefail; export LC_ALL=C; $mount_small; drill"
else
  echo "a small tmpfs cannot be mounted here"
fi
