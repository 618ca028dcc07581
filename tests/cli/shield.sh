#!/usr/bin/env bash
# scute shield: a file of another program is protected, checked, repaired, changed without Scute,
# adopted, and let go.
. "${BASH_SOURCE[0]%/*}/lib.bash"
file=$pools/items.dat
head -c 3000001 /dev/urandom >"$file"
cp "$file" original

expect 0 "$scute" shield add "$file" --rows 20
in_out "^protected by  *$file.scute"
in_out '^slices  *20, 1 parity'
cmp "$file" original || fail "add changed the file"
expect 1 "$scute" shield add "$file"
one_error_line
in_err 'adopt'

for command in "check $file.scute" "shield check $file"; do
  # shellcheck disable=SC2086
  expect 0 "$scute" $command
  in_out '^result  *clean'
done
expect 0 "$scute" shield info "$file"
in_out "^protects  *$file, "
expect 0 "$scute" info "$file.scute" --json
valid_json
equal "$(json protects)" "$file"
equal "$(json protected_bytes)" 3000001
expect 0 "$scute" dump "$file.scute" --regions
expect 0 "$scute" shield scrub "$file" --quiet
expect 0 "$scute" stats "$file.scute"

# Damage of every kind comes back, exactly.
for injury in 'flip --region object --count 20' 'lose-page --region object' 'lose-page --region parity' \
  'scribble --region object --length 3000' 'flip --region chunk-header --count 3' 'scribble --region superblock --length 200'; do
  # shellcheck disable=SC2086
  expect 0 "$scute" shield inject "$file" --kind $injury --seed 7
  expect "0 2" "$scute" shield check "$file" --repair --quiet
  expect 0 "$scute" shield check "$file" --quiet
  cmp "$file" original || fail "$injury was not repaired"
done
# Each injury changes one of the two files, at whatever place. One that is reported as an object's
# is found by a check.
for seed in 1 2 3 4 5 6 7 8 9; do
  expect 0 "$scute" shield inject "$file" --kind scribble --region object --seed $seed
  in_out ', object$'
  expect 2 "$scute" shield check "$file" --repair --quiet
  cmp "$file" original || fail "scribble $seed was not repaired"
done
expect 0 "$scute" events "$file.scute"
in_out repaired

# Changed without Scute: refused, and the file left alone. Then its new bytes are adopted, or its
# old ones are restored.
printf X | dd of="$file" bs=1 seek=1234567 conv=notrunc status=none
printf Y | dd of="$file" bs=1 seek=1234568 conv=notrunc status=none
cp "$file" changed
for command in "shield check $file" "shield check $file --repair" "scrub $file.scute" "info $file.scute"; do
  # shellcheck disable=SC2086
  expect 1 "$scute" $command
  in_err 'adopt'
  cmp "$file" changed || fail "$command changed the file"
done
expect 2 "$scute" shield check "$file" --repair --damaged --quiet
cmp "$file" original || fail "the damaged file was not repaired"
cp changed "$file"
expect 0 "$scute" shield adopt "$file"
in_out '^slices  *20, 1 parity'
expect 0 "$scute" shield check "$file"
cmp "$file" changed || fail "adopt changed the file"
# Only touched, or restored from a copy: nothing has happened.
touch "$file"
expect 0 "$scute" shield check "$file"
cp "$file" "$file.copy" && mv "$file.copy" "$file"
expect 0 "$scute" shield check "$file" --repair

# Cut off, made longer, missing.
truncate -s 2990000 "$file"
expect 1 "$scute" shield check "$file"
expect 2 "$scute" shield check "$file" --repair --damaged --quiet
cmp "$file" changed || fail "what was cut off did not come back"
truncate -s 3000002 "$file"
for repair in "" --repair; do
  # shellcheck disable=SC2086
  expect 1 "$scute" shield check "$file" --damaged $repair
  in_err 'shield adopt'
done
advice=$(sed -n 's/.*length with `\(truncate -s [0-9]* [^`]*\)`, and repair it with `scute \([^`]*\)`$/\1;"$scute" \2/p' err)
[ -n "$advice" ] || fail "no advice: $(cat err)"
eval "${advice%;*}"
eval "expect '0 2' ${advice#*;} --quiet"
cmp "$file" changed || fail "the advice does not give it back"
truncate -s 3000001 "$file"
mv "$file" elsewhere
expect 1 "$scute" info "$file.scute"
in_err missing
expect 1 "$scute" shield adopt "$file"
in_err "^scute: $file: there is no such file"
mv elsewhere "$file"

# The log of a file on a disk lies next to the file.
cp "$file" disk.dat
expect 0 "$scute" shield add disk.dat --engine spec --medium file --quiet
[ -e disk.dat.scute.log ] || fail "there is no log next to it"
expect 0 "$scute" shield check disk.dat
expect 0 "$scute" shield remove disk.dat
equal "$(echo disk.dat*)" disk.dat
cmp disk.dat changed || fail "remove changed the file"

expect 0 "$scute" shield remove "$file"
equal "$(cd "$pools" && ls -d items*)" items.dat
cmp "$file" changed || fail "remove changed the file"

# By a symbolic link, from another folder and from its own.
ln -s "$file" link.dat
ln -s items.dat "$pools/near.dat"
for link in link.dat "$pools/near.dat"; do
  expect 0 "$scute" shield add "$link" --rows 20
  in_out "^protected by  *$file.scute\$"
  expect 1 "$scute" shield add "$link"
  in_err 'shielded already'
  expect 0 "$scute" shield adopt "$link"
  in_out '^slices  *20, 1 parity'
  for command in check 'info --json' scrub; do
    # shellcheck disable=SC2086
    expect 0 "$scute" shield ${command%% *} "$link" $([[ $command != *' '* ]] || echo "${command#* }")
  done
  expect 0 "$scute" shield list "$link"
  expect 0 "$scute" shield remove "$link"
  equal "$(cd "$pools" && echo items* near*)" "items.dat near.dat"
done
expect 0 "$scute" shield add link.dat --json --quiet
valid_json
expect 0 "$scute" shield remove link.dat
expect 0 "$scute" shield add link.dat -q
silent
[ ! -s out ] || fail "quiet, and prints: $(cat out)"
expect 0 "$scute" shield remove link.dat

expect 1 "$scute" shield check "$file"
in_err 'not shielded'
expect 1 "$scute" shield remove "$file"
in_err 'not shielded'
expect 1 "$scute" shield add nothing.dat
one_error_line
expect 7 "$scute" shield add .
