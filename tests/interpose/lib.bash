# lib.bash: what the tests of the shield share. Sourced; the working folder is empty and is removed afterwards.
# shellcheck source=tests/cli/lib.bash
source "$SCUTE_SOURCE_DIR/tests/cli/lib.bash"

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
