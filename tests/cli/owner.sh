#!/usr/bin/env bash
# Files that protect or replace another one have its user, group and permission bits (FILE-5),
# whatever user makes them. As root those of other users; otherwise the bits alone differ from what
# would be made.
. "${BASH_SOURCE[0]%/*}/lib.bash"
give() { # FILE MODE
  [ "$(id -u)" != 0 ] || chown 1234:2345 "$1"
  chmod "$2" "$1"
}
owner() { stat -c '%u:%g:%a' "$1"; }
umask 077
for where in "$pools" .; do
  file=$where/owned.dat
  for mode in 664 640 600; do
    head -c 300001 /dev/urandom >"$file"
    give "$file" $mode
    expect 0 "$scute" shield add "$file" --engine spec --medium file --quiet
    equal "$(owner "$file.scute")" "$(owner "$file")"
    equal "$(owner "$file.scute.log")" "$(owner "$file")"
    # The owner of a file that an older version made as root is repaired.
    [ "$(id -u)" != 0 ] || chown 0:0 "$file.scute" "$file.scute.log"
    chmod 600 "$file.scute" "$file.scute.log"
    expect 0 "$scute" shield adopt "$file" --engine spec --medium file --quiet
    equal "$(owner "$file.scute")" "$(owner "$file")"
    equal "$(owner "$file.scute.log")" "$(owner "$file")"
    # The file's permissions are with its protection while it is guarded.
    expect 0 "$scute" shield remove "$file" --quiet
    wanted=$(owner "$file")
    expect 0 "$scute" shield add "$file" --guard --quiet
    equal "$(owner "$file.scute")" "$wanted"
    expect 0 "$scute" shield remove "$file" --quiet
    equal "$(owner "$file")" "$wanted"
    rm "$file"
  done

  pool=$where/owned.pool
  expect 0 "$scute" create "$pool" --size 4M --engine spec --medium file
  equal "$(stat -c %a "$pool") $(stat -c %a "$pool.log")" "600 600"
  give "$pool" 660
  expect 0 "$scute" create "$pool" --size 4M --engine spec --medium file --overwrite
  wanted=$(owner "$pool")
  [ "${wanted##*:}" = 660 ] || fail "the mode is that of a new file"
  [ "$(id -u)" != 0 ] || equal "$wanted" 1234:2345:660
  equal "$(owner "$pool.log")" "$wanted"
  # A mode that is asked for is what it gets.
  expect 0 "$scute" create "$pool" --size 4M --engine spec --medium file --overwrite --mode 0640
  equal "$(owner "$pool") $(owner "$pool.log")" "${wanted%:*}:640 ${wanted%:*}:640"
  # A log that is made later has them, too.
  expect 0 "$scute" engine "$pool" redo --medium file
  [ ! -e "$pool.log" ] || fail "the log is still there"
  expect 0 "$scute" engine "$pool" spec --medium file
  [ ! -e "$pool.log" ] || equal "$(owner "$pool.log")" "$(owner "$pool")"
  rm "$pool"*
done

# A user that may not make such a file makes none.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  mkdir "$pools/open"
  chmod 777 "$pools/open" && chmod 755 "$pools"
  file=$pools/open/others.dat
  head -c 30001 /dev/urandom >"$file"
  give "$file" 666
  expect 1 setpriv --reuid 4321 --regid 4321 --clear-groups "$scute" shield add "$file"
  in_err 'must belong to user 1234 and group 2345'
  equal "$(ls -A "$pools/open")" others.dat
  expect 0 setpriv --reuid 1234 --regid 2345 --clear-groups "$scute" shield add "$file" --quiet
  equal "$(owner "$file.scute")" "$(owner "$file")"
fi
