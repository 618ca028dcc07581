#!/usr/bin/env bash
# On overlayfs, which the root of every container is, and on a FUSE file system: what a running
# program has open is busy (status 5) for every command, and free when it has ended.
if [ -z "${SCUTE_TEST_MOUNTED:-}" ]; then
  # Mounts of its own, which go with it.
  [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null && exec env SCUTE_TEST_MOUNTED=1 unshare -m "$BASH" "$0"
  exec env SCUTE_TEST_MOUNTED=1 unshare -Urm "$BASH" "$0"
fi
. "${BASH_SOURCE[0]%/*}/lib.bash"

mkdir layers root
mount -t tmpfs layers layers
mkdir layers/{lower,upper,work}
layers=lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/work
mount -t overlay overlay -o "$layers" root 2>/dev/null || mount -t overlay overlay -o "$layers,userxattr" root
equal "$(stat -f -c %T root)" overlayfs
records 200 >records.tsv
busy() {
  expect 5 "$scute" "$@"
  in_err 'is open in another process\|is being made by another process\|is in use by'
}

# hold COMMAND...: runs it, with what comes to its standard input, until let_go.
hold() {
  rm -f input
  mkfifo input
  "$@" <input >held 2>&1 &
  holder=$!
  exec 7>input
  printf 'first\t1\n' >&7
}
let_go() {
  exec 7>&-
  wait "$holder" || fail "what held it failed: $(cat held)"
}
# until_locked FILE. (A process that tried to open it meanwhile could be what keeps the holder
# out.)
until_locked() {
  wait_until is_locked "$1"
}
is_locked() {
  ! grep -q " [0-9a-f]*:[0-9a-f]*:$(stat -c %i "$1") " /proc/locks || return 0
  kill -0 "$holder" 2>/dev/null || fail "what should hold $1 has ended: $(cat held)"
  return 1
}

try_in() {
  local pool=$1/a.pool log store=$1/a.pow
  for engine in redo spec; do
    expect 0 "$scute" create "$pool" --size 4M --engine "$engine" --overwrite
    expect 0 "$scute" kv put "$pool" a 1
    hold "$scute" kv load "$pool" - --quiet
    until_locked "$pool"
    busy kv put "$pool" b 2
    busy kv get "$pool" a
    busy check "$pool"
    busy check "$pool" --repair
    busy engine "$pool" logfree
    busy create "$pool" --size 4M --overwrite
    cat records.tsv >&7
    let_go
    expect 0 "$scute" check "$pool"
    in_out clean
    expect 0 "$scute" kv get "$pool" a
    equal "$(cat out)" 1
  done

  expect 0 "$scute" pow kv load "$store" records.tsv --create --quiet
  hold "$scute" pow kv load "$store" - --quiet
  until_locked "$store"
  busy pow kv put "$store" b 2
  busy pow check "$store" --repair
  busy pow compact "$store"
  let_go
  expect 0 "$scute" pow check "$store"

  # The lock of the supervisor, while its program has the file open.
  [ -e "$SCUTE_BINARY_DIR/lib/libscute-shield.so" ] || return 0
  head -c 100000 /dev/zero >"$1/file"
  expect 0 "$scute" shield add "$1/file" --quiet
  hold "$scute" shield run -- bash -c 'exec 8<>"$1"; cat >&8' - "$1/file"
  until_locked "$1/file.scute"
  busy shield remove "$1/file"
  busy shield adopt "$1/file"
  printf 'hello' >&7
  let_go
  expect 0 "$scute" shield check "$1/file"
  equal "$(head -c 13 "$1/file")" $'first\t1\nhello'
}
try_in root

if [ -c /dev/fuse ] && { : <>/dev/fuse; } 2>/dev/null; then
  command -v bindfs >/dev/null || fail "bindfs (Debian's package of that name) is not here"
  mkdir below fuse
  bindfs below fuse
  [[ $(stat -f -c %T fuse) == fuse* ]] || fail "bindfs has mounted nothing"
  try_in "$PWD/fuse"
  umount fuse
else
  echo "/dev/fuse cannot be used here: tried on overlayfs only"
fi
umount root layers
