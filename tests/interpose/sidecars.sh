#!/usr/bin/env bash
# Runs programs under the shield on a FILE whose FILE.scute is missing, stale or foreign
# (docs/internals/shield.md, "A file that changed without Scute"). The program either gets FILE
# whole and protected, or it is refused with a message. FILE is not changed.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file
# begin: a file and its FILE.scute, both in copies as well.
begin() {
  rm -rf "$pools"/*
  head -c 300000 /dev/urandom >"$file"
  printf a | dd of="$file" bs=1 seek=70000 conv=notrunc status=none  # what is an x later was none
  "$scute" shield add "$file" --rows 10 >add.out || fail "shield add"
  cp -p "$file" original
  cp -p "$file.scute" original.scute
}
run=("$scute" shield run --)
# refused TEXT: the program is refused the file, the message contains TEXT, and the file is
# unchanged.
refused() {
  expect 1 "${run[@]}" cat "$file"
  in_err 'Input/output error'
  in_err "scute.*$file"
  in_err "$1"
  [ ! -s out ] || fail "it has read something"
  "$scute" shield run --require "$file" -- cat "$file" >out 2>err && fail "--require lets it pass"
  cmp "$file" now || fail "the file was changed"
}

begin
expect 0 "${run[@]}" cat "$file"
cmp out original || fail "it reads something else"
expect 0 "$scute" shield run --require "$file" -- cat "$file"
cmp out original || fail "it reads something else"

# Missing: a plain file, unless an option requires more. The message says what to do.
begin
rm "$file.scute"
expect 0 "${run[@]}" cat "$file"
cmp out original || fail "it reads something else"
expect 1 "$scute" shield run --require "$file" -- touch "$pools/begun"
in_err "$file: it is not shielded, so the program was not started"
in_err 'shield add'
[ ! -e "$pools/begun" ] || fail "it was begun"
expect 1 "$scute" shield run --require "$file" --require "$pools/nothing" -- true
# When FILE.scute is back, the shield notices what a program has changed in FILE meanwhile.
expect 0 "${run[@]}" bash -c "printf x | dd of='$file' bs=1 seek=70000 conv=notrunc status=none"
cp "$file" now
cp -p original.scute "$file.scute"
refused 'changed without Scute'

# Of another file.
begin
head -c 300000 /dev/urandom >"$pools/other"
"$scute" shield add "$pools/other" --rows 10 >add.out || fail "shield add"
cp "$pools/other.scute" "$file.scute"
cp "$file" now
refused 'changed without Scute'

# Of the same file at another time.
begin
expect 0 "${run[@]}" bash -c "printf x | dd of='$file' bs=1 seek=70000 conv=notrunc status=none"
cp original.scute "$file.scute"
cp "$file" now
refused 'changed without Scute'

# Of a newer release, and with a feature that this one does not know.
for field in 8:4 24:8; do
  begin
  python3 - "$file.scute" "${field%:*}" "${field#*:}" <<'PYTHON'
import os, struct, sys
path, at, width = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def crc32c(data):
    c = 0xffffffff
    for b in data:
        c ^= b
        for _ in range(8):
            c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    return c ^ 0xffffffff
with open(path, "r+b") as f:
    for place in (0, 4096, os.path.getsize(path) // 4096 * 4096 - 4096):
        f.seek(place)
        copy = bytearray(f.read(512))
        assert copy[:5] == b"SCUTE", place
        copy[at + width - 1] |= 0x40
        copy[508:512] = struct.pack("<I", crc32c(copy[:508]))
        f.seek(place)
        f.write(copy)
PYTHON
  cp "$file" now
  refused 'release\|version\|newer'
done

# Damaged, within its redundancy: repaired on the way. Beyond it: refused.
begin
for at in 5 4101 9000; do printf 'damage' | dd of="$file.scute" bs=1 seek=$at conv=notrunc status=none; done
expect 0 "${run[@]}" cat "$file"
cmp out original || fail "it reads something else"
begin
printf 'damage' | dd of="$file.scute" bs=1 seek=5 conv=notrunc status=none
printf 'damage' | dd of="$file" bs=1 seek=5000 conv=notrunc status=none
touch -r original "$file"
expect "0 2" "$scute" shield check "$file" --repair --damaged
cmp "$file" original || fail "it was not repaired"
expect 0 "${run[@]}" cat "$file"
cmp out original || fail "it reads something else"
begin
head -c "$(stat -c %s "$file.scute")" /dev/urandom >"$file.scute"
cp "$file" now
refused 'not a pool\|no pool\|not.* pool'
begin
echo "a text" >"$file.scute"
cp "$file" now
refused 'pool'
begin
: >"$file.scute"
cp "$file" now
refused 'pool'

# A runtime that is none: the program would run without protection, so it is not begun.
begin
echo text >"$pools/text"
head -c 200 "$(type -P true)" >"$pools/cut"
for wrong in /etc/passwd "$pools" "$pools/text" "$pools/cut" "$(type -P true)" "$(ldd "$scute" | sed -n 's/.*libc.so.6 => \([^ ]*\) .*/\1/p')" "$pools/nothing"; do
  expect 1 "$scute" shield run --require "$file" --runtime "$wrong" -- touch "$pools/begun"
  in_err "the shield's runtime library"
  [ ! -e "$pools/begun" ] || fail "it was begun with $wrong"
done
expect 0 "$scute" shield run --require "$file" --runtime "$runtime" -- cat "$file"
cmp out original || fail "it reads something else"
# The same for the runtime library in the command's own folder, cut short by an interrupted
# installation.
begin
mkdir cut
cp "$scute" cut/scute
head -c 100000 "$runtime" >cut/libscute-shield.so
expect 1 cut/scute shield run -- touch "$pools/begun"
in_err 'or not all of it'
[ ! -e "$pools/begun" ] || fail "it was begun without a runtime"

# FILE.scute exists but does not protect FILE (OUTLOOK-2): every command that is given FILE says so,
# and a program is refused FILE. No command waits or changes anything.
# reported TEXT STATUS COMMAND...
reported() {
  local text=$1
  expect "$2" timeout "$wait_seconds" "$scute" "${@:3}"
  in_err "$text"
}
# kept: FILE.scute is unchanged: the same file, link or folder, with the same bytes and the same
# time.
what_is() { stat -c '%i %F %s %Y %a' "$file.scute"; [ ! -f "$file.scute" ] || cksum "$file.scute"; }
run=(timeout "$wait_seconds" "$scute" shield run --)
# stays TEXT STATUS: no command changes anything. Those that read FILE.scute end with STATUS.
stays() {
  local text=$1 status=$2 what
  what=$(what_is)
  cp "$file" now
  refused "$text"
  reported "$text" "$status" shield run --require "$file" -- touch "$pools/begun"
  [ ! -e "$pools/begun" ] || fail "it was begun"
  for command in check 'check --repair' 'check --repair --damaged' info scrub 'inject --kind flip' remove; do
    # shellcheck disable=SC2086
    reported "$text" "$status" shield ${command%% *} "$file" $([[ $command != *' '* ]] || echo "${command#* }")
  done
  reported "$text" "1 7" shield add "$file"
  reported "$text" "1 7" shield adopt "$file"
  ! grep -q 'shield adopt' err || fail "it advises what does not work"
  reported "$text" 2 shield list "$pools"
  in_out "^unreadable .* $file\$"
  reported "$text" 2 shield list "$file"
  # A program under the shield cannot cut or remove the file either. No message advises a command
  # that would fail.
  for command in ': >"$0"' 'rm "$0"' 'truncate -s 5 "$0"' 'mv "$0" "$0.away"'; do
    status=0
    "${run[@]}" bash -c "$command" "$file" >out 2>err || status=$?
    [ "$status" != 0 ] || fail "$command: done"
    in_err "$text"
    ! grep -q 'see .scute shield' err || fail "it advises what does not work"
  done
  cmp "$file" now || fail "the file was changed"
  equal "$(what_is)" "$what"
  rm -rf "$file.scute"
  expect 0 "${run[@]}" cat "$file"
}
for engine in redo spec; do
  begin
  rm "$file.scute"
  "$scute" create "$file.scute" --size 2M --engine "$engine" >out
  "$scute" kv put "$file.scute" key value
  stays 'is a pool of its own; it protects no other file' 1
done
# A pool that is open in another process is treated alike.
begin
rm "$file.scute"
"$scute" create "$file.scute" --size 2M >out
mkfifo "$pools/records"
"$scute" kv load "$file.scute" - --quiet <"$pools/records" >loaded &
loader=$!
exec 9>"$pools/records"
wait_until grep -q "$file.scute" "/proc/$loader/maps"
expect 5 "$scute" check "$file.scute"
for command in check remove; do reported 'is a pool of its own' 1 shield $command "$file"; done
cp "$file" now
refused 'is a pool of its own'
printf 'key\tvalue\n' >&9
exec 9>&-
wait "$loader" || fail "the pool's own program was disturbed"
expect 0 "$scute" check "$file.scute"
equal "$("$scute" kv get "$file.scute" key)" value
begin
rm "$file.scute"
mkfifo "$file.scute"
stays 'is not a regular file' 7
begin
rm "$file.scute"
mkdir "$file.scute"
stays 'is not a regular file' 7
begin
rm "$file.scute"
python3 -c 'import os, socket, sys; os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).bind("file.scute")' "$pools"
stays 'is not a regular file' 7
begin
rm "$file.scute"
ln -s nothing "$file.scute"
stays 'is a symbolic link to a missing file' 7
begin
: >"$file.scute"
stays 'is empty, so it is no pool' 7
begin
echo "a text" >"$file.scute"
stays 'is not a Scute pool' 7
# FILE.scute is a link to the pool that protects another file: a program that opens FILE does not
# get that file.
begin
rm "$file.scute"
mkdir "$pools/there"
bytes_of 200000 >"$pools/there/other"
"$scute" shield add "$pools/there/other" >add.out
ln -s there/other.scute "$file.scute"
cp "$pools/there/other.scute" other.scute
stays "leads to what protects $pools/there/other, not " 1
cmp "$pools/there/other.scute" other.scute || fail "what protects the other file was changed"
expect 0 "$scute" shield check "$pools/there/other"
# A second name (hard link) of another file's pool: repairs do not write that file's content to
# FILE.
begin
rm "$file.scute"
mkdir "$pools/there"
bytes_of 300000 >"$pools/there/other"
"$scute" shield add "$pools/there/other" >add.out
ln "$pools/there/other.scute" "$file.scute"
cp "$file" as_it_was
reported 'has further names (hard links), and what it protects is another file' 1 shield check --repair --damaged "$file"
cmp "$file" as_it_was || fail "the file got another one's content"
expect 0 "$scute" shield check "$pools/there/other"
# Both files copied by hard links are unchanged.
mkdir "$pools/copy"
ln "$pools/there/other" "$pools/there/other.scute" "$pools/copy"
expect 0 "$scute" shield check --repair --damaged "$pools/copy/other"
rm -r "$pools/copy"

# Without its log, after a kill: the message names both files, and the command that continues.
rm -rf "$pools"/*
head -c 300000 /dev/urandom >"$file"
"$scute" shield add "$file" --rows 10 --engine spec --medium file >add.out || fail "shield add"
"${run[@]}" python3 -c 'import os, signal, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, b"x", 70000)
os.fsync(fd)
for process in (os.getppid(), os.getpid()): os.kill(process, signal.SIGKILL)' "$file" >/dev/null 2>&1 || true
is_unclean() { "$scute" shield list "$file" | grep -q '^unclean'; }
wait_until is_unclean
[ -f "$file.scute.log" ] || fail "it has no log"
rm "$file.scute.log"
cp "$file" now
refused "$file.scute: its log $file.scute.log is missing"
in_err "\`scute shield check $file --repair --without-log\`"
expect 3 "$scute" shield check "$file"
in_err "its log $file.scute.log is missing"
read -ra continue < <(sed -n 's/.*`scute \(shield check [^`]*\)`.*/\1/p' err)
expect "0 3" env SCUTE_MEDIUM=file "$scute" "${continue[@]}"
expect 0 "${run[@]}" cat "$file"
sound "$file"
