#!/usr/bin/env bash
# A program passes descriptors of a shielded file to others: redirections of shells, standard
# streams of subprocesses, exec() (INHERIT-1, INHERIT-2, INHERIT-3, INHERIT-4). Commands do with a
# shielded file what they do with a plain one.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

count=0
# same COMMAND: the same output, status and bytes, with $F. Also with pages that are loaded when
# they are touched (PAGEIN-4), if userfaultfd is available.
same() {
  local folder way status=0 shielded_status=0
  for way in "$pools" "$PWD" "$pools --page-in"; do
    read -r folder run_with <<<"$way"
    rm -f "$folder"/plain* "$folder"/guarded*
    bytes_of 262144 >"$folder/plain"
    shielded "$folder/guarded" 262144
    (cd "$folder" && F=plain bash -c "$1") >plain.out 2>plain.err || status=$?
    # shellcheck disable=SC2086
    (cd "$folder" && F=guarded timeout "$wait_seconds" "$scute" shield run $run_with -- bash -c "$1") >out 2>err || shielded_status=$?
    equal "$shielded_status" "$status"
    diff plain.out out || fail "$1: other output: $(cat err)"
    sed -i '/pages cannot be loaded on demand/d' err
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
os.waitpid(os.posix_spawnp(\"sh\", [\"sh\", \"-c\", \"head -c 40 <&%d\" % a], os.environ), 0)
"'

same 'env F=$F python3 -c "import os
f = os.path.abspath(os.environ[\"F\"])
a = [(os.POSIX_SPAWN_OPEN, 0, f, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, f, os.O_WRONLY, 0)]
os.waitpid(os.posix_spawnp(\"sh\", [\"sh\", \"-c\", \"tail -c 9; echo spawned\"], os.environ, file_actions=a), 0)
print(open(f).read(30))
"'

# A file that is opened outside of the shield is shielded inside, or unavailable.
bytes_of 100000 >plain
shielded "$pools/guarded" 100000
expect 0 "$scute" shield run sh -c 'head -c 5; cat - >&2' <"$pools/guarded" 3>&1
cat plain | cmp - <(cat out err) || fail "a redirection of the shield's own shell"
expect 0 "$scute" shield run sh -c 'echo inside' >>"$pools/guarded"
expect 0 "$scute" shield run sh -c 'echo more >&4' 4>>"$pools/guarded"
[ "$(tail -c 5 "$pools/guarded")" = more ] || fail "what was appended from inside is not there"
sound "$pools/guarded"

echo "$count commands with what they were given"
