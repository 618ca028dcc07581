# lib.bash: helpers that the tests of the shield share. Sourced; the working folder is empty and is
# removed afterwards.
# shellcheck source=tests/cli/lib.bash
source "$SCUTE_SOURCE_DIR/tests/cli/lib.bash"
# shellcheck source=tests/support/budget.bash
source "$SCUTE_SOURCE_DIR/tests/support/budget.bash"

programs=$SCUTE_BINARY_DIR/tests
# Options of `shield run` that a test is repeated with.
read -ra run_with <<<"${SCUTE_TEST_RUN_WITH:-}"
runtime=$SCUTE_BINARY_DIR/lib/libscute-shield.so

# Bytes that are no zeros, and the same every time.
bytes_of() { head -c "$1" < <(yes "what a program has kept in a file for years" 2>/dev/null); }

# shielded FILE SIZE: a file with bytes in it, under the shield.
shielded() {
  bytes_of "$2" >"$1"
  "$scute" shield add "$1" --capacity 2M >add.out || fail "shield add"
}

# numbered FILE PAGES: each of its pages begins with its number, in 15 digits.
numbered() {
  rm -f "$1"*
  python3 -c 'import sys
with open(sys.argv[1], "wb") as f:
    for i in range(int(sys.argv[2])): f.write(b"%015d\n" % i * 256)' "$1" "$2"
  "$scute" shield add "$1" >add.out || fail "shield add"
}

# The file is sound, and stays what it is without the shield.
sound() {
  "$scute" check "$1.scute" >check.out || fail "$(cat check.out)"
  cp "$1" "$1.before"
  "$scute" shield remove "$1" >remove.out || fail "shield remove"
  cmp "$1" "$1.before" || fail "shield remove has changed $1"
  rm "$1.before"
}

# An ordinary user's command: "${as_user[@]}" COMMAND. (Root may open everything.) The test's own
# programs must lie in a folder that this user can reach: users_folder() makes one.
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# users_own FILE...: they are his.
users_own() { [ "$(id -u)" != 0 ] || chown 65534:65534 "$@"; }

# users_folder FOLDER: in the folder of pools, where all users may make files. If that user cannot
# reach the build (a checkout in a private folder), FOLDER also gets a copy of the command and its
# runtime library.
users_folder() {
  local library
  chmod 755 "$pools"
  mkdir -m 777 "$1"
  for library in "${scute%/*}"{,/../lib,/../../lib}/libscute-shield.so; do [ ! -e "$library" ] || break; done
  "${as_user[@]}" test -r "$library" && "${as_user[@]}" test -x "$scute" && return
  mkdir "$pools/bin"
  cp "$scute" "$library" "$pools/bin"
  scute=$pools/bin/scute
}

# child_of PID: its first child, or nothing. (The file has no end of line.)
child_of() {
  local children=()
  read -r -a children <"/proc/$1/task/$1/children" || true
  echo "${children[0]:-}"
} 2>/dev/null

# feed FILE: to the next reader of `fed`. Its end comes when damage has been done (`touch struck`).
# If another process changes a file after the end of its program, `scute check` must be asked for
# more.
feed() {
  [ -p fed ] || mkfifo fed
  rm -f struck
  { cat "$1" && wait_until test -e struck; } >fed 2>/dev/null &
}

# power_failure SUPERVISOR PROGRAM: stops both. The caller's shell waits for the supervisor.
power_failure() {
  kill -9 "$1" || true
  kill -9 "$2" || true
  wait_until gone "$2"
}

# is_checked FILE [--repair]: `status` is that of scute check. False if the pool is locked.
is_checked() {
  status=0
  "$scute" check "$1.scute" "${@:2}" >out 2>err || status=$?
  [ "$status" != 5 ]
}
# checked WANTED FILE [--repair]: scute check of FILE ends with WANTED. A process that has ended may
# keep the pool's lock for a moment (CRASHWB-3).
checked() {
  local wanted=$1 status
  wait_until is_checked "${@:2}"
  [[ " $wanted " == *" $status "* ]] || fail "status $status instead of $wanted: scute check: $(cat out)"
}
