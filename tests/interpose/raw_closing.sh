#!/usr/bin/env bash
# A program closes all descriptors by a system call that is not intercepted, and opens files of its
# own, which get their numbers. These are not touched (NUMBER-1, NUMBER-2). Its next sync fails, or
# puts its stores into the shielded file.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

actor=$programs/scute-actor
size=262144 page=4096
bytes_of $size >original
cp original plain
mkdir own
expect 0 "$actor" close_all_raw plain own
cp plain before
dd if=original of=before bs=$page skip=4 seek=4 count=1 conv=notrunc status=none
cmp -s -n $size plain before && fail "the program has changed nothing"

for folder in "$pools" "$PWD"; do
  for how in in_memory "--view-dir $folder" --page-in --huge-pages; do
    what="$folder, $how" file=$folder/file
    rm -rf own "$file"*
    mkdir own
    shielded "$file" $size
    options=()
    [ "$how" = in_memory ] || read -ra options <<<"$how"
    status=0
    "$scute" shield run "${options[@]}" -- "$actor" close_all_raw "$file" own >out 2>err || status=$?
    grep -qx 'touched: 0' out || fail "$what: $(cat err)"
    grep -q '^msync: ' out || fail "$what: $(cat out)"
    if grep -qx 'msync: 0' out; then
      cmp -n $size plain "$file" || fail "$what: what was synced is not in the file"
    else
      cmp -s -n $size plain "$file" || cmp -n $size before "$file" || fail "$what: other bytes in the file"
    fi
    sound "$file"
  done
done
