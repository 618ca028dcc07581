#!/usr/bin/env bash
# scute pow: keys and values in a persist-on-write file, through kills, damage and compaction.
. "${BASH_SOURCE[0]%/*}/lib.bash"
file=$pools/a.pow
records 2000 >records.tsv

expect 1 "$scute" pow nonsense
in_err 'there is no command "nonsense"'
expect 1 "$scute" pow info "$file"
expect 0 "$scute" pow kv load "$file" records.tsv --create --batch 10 --json --quiet
valid_json
equal "$(json loaded)" 2000
same() { "$scute" pow kv scan "$file" | cmp - records.tsv || fail "the records differ"; }
same
expect 0 "$scute" pow kv load "$file" records.tsv
in_out '^resumed after 2,000 records$'
expect 0 "$scute" pow info "$file" --json
valid_json
equal "$(json clean)" true
equal "$(json protection)" always
expect 0 "$scute" pow info "$file"
in_out '^objects  *2,001 with'
digest=$("$scute" pow verify "$file" --json | sed -n 's/^  "digest": "\(.*\)",*$/\1/p')
expect 0 "$scute" pow verify "$file" --expect "$digest"
expect 3 "$scute" pow verify "$file" --expect 0000000000000000

# One key.
expect 0 "$scute" pow kv put "$file" "a key" "a value"
expect 0 "$scute" pow kv get "$file" "a key"
in_out '^a value$'
expect 0 "$scute" pow kv del "$file" "a key"
expect 4 "$scute" pow kv del "$file" "a key"
expect 4 "$scute" pow kv get "$file" "a key"
expect 0 "$scute" pow verify "$file" --expect "$digest"

# The file stays as it is for commands that read.
cp "$file" before
for command in info check dump verify "kv scan" "kv count"; do
  # shellcheck disable=SC2086
  expect 0 "$scute" pow $command "$file"
done
expect 0 "$scute" pow dump "$file" --segments --table "kv sources" --hex --json
valid_json
expect 4 "$scute" pow dump "$file" --table none
cmp "$file" before || fail "a command that reads changed the file"

# Damage within the redundancy; compaction.
noise() { # OFFSET LENGTH
  head -c "$2" /dev/urandom | dd of="$file" bs=1 seek="$1" conv=notrunc status=none iflag=fullblock
}
noise 20480 4096
noise 0 4096
expect 2 "$scute" pow check "$file" --json
valid_json
in_out '"result": "damaged, repairable with --repair"'
same
expect 2 "$scute" pow check "$file" --repair --quiet
silent
in_out '^result  *repaired$'
expect 0 "$scute" pow check "$file"
for _ in 1 2 3; do "$scute" pow kv load "$file" records.tsv --restart --quiet >/dev/null; done
size=$(stat -c %s "$file")
expect 0 "$scute" pow compact "$file" --json
valid_json
[ "$(stat -c %s "$file")" -lt "$size" ] || fail "compaction left the file as large as it was"
expect 0 "$scute" pow verify "$file" --expect "$digest"
expect 0 "$scute" pow check "$file"

# Damage beyond it: reported, refused, salvaged.
none=$pools/none.pow
"$scute" pow kv load "$none" records.tsv --create --protection none --batch 10 --quiet >/dev/null
at=$(grep -abo "$(sed -n '700s/\t.*//p' records.tsv)" "$none" | head -n 1 | cut -d: -f1)
file=$none noise "$at" 4
expect 3 "$scute" pow check "$none"
in_out '^lost: batch [0-9]* of lane 1, session 1, in segment [0-9]*: objects [0-9]* to [0-9]* of table kv'
expect 3 "$scute" pow kv count "$none"
expect 3 "$scute" pow check "$none" --repair
expect 0 "$scute" pow kv scan "$none" --salvage --keys
[ "$(wc -l <out)" -ge 1980 ] || fail "too much is lost"
expect 3 "$scute" pow check "$none" --repair --salvage
expect 0 "$scute" pow check "$none"

# In numbers.
cp "$none" wrecked
# (Salvaging has copied it: the first one that is found is void.)
at=$(grep -abo "$(sed -n '900s/\t.*//p' records.tsv)" wrecked | tail -n 1 | cut -d: -f1)
file=wrecked noise "$at" 4
expect 3 "$scute" pow check wrecked --json
valid_json
in_out '"table": "kv"'
in_out '"first_section": [1-9]'
expect 0 "$scute" pow info wrecked --json
valid_json
in_out '"lost": 1'
in_out '"table": "kv"'

# Groups: a file that was closed can lose any page.
sealed=$pools/sealed.pow
"$scute" pow kv load "$sealed" records.tsv --create --protection sealed --segment-size 8K --batch 10 --quiet >/dev/null
expect 0 "$scute" pow info "$sealed" --json
valid_json
equal "$(json protection)" sealed
[ "$(json groups)" -ge 2 ] || fail "there are no groups"
file=$sealed noise 20480 4096
expect 2 "$scute" pow check "$sealed"
file=$sealed same
expect 2 "$scute" pow check "$sealed" --repair
expect 0 "$scute" pow check "$sealed"
file=$sealed same

# Sizes are those that were asked for, or refused with their numbers.
sized=$pools/sized.pow
expect 0 "$scute" pow kv put "$sized" k v --create
expect 1 "$scute" pow kv put "$sized" k v --max-size 1M
one_error_line
in_err 'a max_size of 1048576 was asked for'
expect 0 "$scute" pow kv put "$sized" k v --max-size 5M
rm "$sized"
for again in 1 2; do # the same command continues
  expect 0 "$scute" pow kv put "$sized" k v --create --size 8M --segment-size 72K
done
expect 1 "$scute" pow kv put "$sized" k v --max-size 1M
in_err 'a max_size of 1048576 was asked for'
expect 1 "$scute" pow kv put "$sized" k v --max-size 1M --size 2M
in_err '^scute: [^:]*: --max-size 1048576 is less than --size 2097152$'
for create in --create ''; do
  # shellcheck disable=SC2086
  expect 1 "$scute" pow kv put "$sized" k w $create --size 64M
  one_error_line
  in_err 'has [0-9]* bytes, and not --size 67108864 as asked for'
done
expect 0 "$scute" pow kv put "$sized" k w --create --size 2M
expect 0 "$scute" pow kv get "$sized" k
in_out '^w$'
# A new one is not larger than it may become.
expect 0 "$scute" pow kv put "$pools/tiny.pow" k v --create --max-size 1M --segment-size 72K
[ "$(stat -c %s "$pools/tiny.pow")" -le $((1 << 20)) ] || fail "a new store is larger than --max-size"

# Foreign files, and a file that is open.
head -c 20000 /dev/urandom >foreign
expect 7 "$scute" pow info foreign
"$scute" create "$pools/b.pool" --size 2M >/dev/null
expect 7 "$scute" pow info "$pools/b.pool"
expect 7 "$scute" info "$none"
mkfifo feed
exec 9<>feed
"$scute" pow kv load "$pools/c.pow" - --create --batch 7 --quiet <feed >/dev/null 2>&1 9>&- &
loader=$!
cat records.tsv >&9
has_loaded() { cp "$pools/c.pow" copy.pow 2>/dev/null && [ "$("$scute" pow kv count copy.pow 2>/dev/null)" = 1995 ]; }
wait_until has_loaded
expect 5 "$scute" pow kv count "$pools/c.pow"
kill -9 $loader
wait $loader 2>/dev/null || true
expect 0 "$scute" pow check "$pools/c.pow"
expect 0 "$scute" pow kv load "$pools/c.pow" records.tsv --name - --quiet
file=$pools/c.pow same

# A first load that fails leaves no file that it made. One that was there stays, and so does one
# that has got its name meanwhile.
printf 'no tab\na\t1\n' >bad.tsv
expect 1 "$scute" pow kv load "$pools/d.pow" bad.tsv --create --quiet
in_err 'no tab'
[ ! -e "$pools/d.pow" ] || fail "the file was left"
printf 'a\t1\n' | expect 0 "$scute" pow kv load "$pools/d.pow" - --create --quiet
"$scute" pow kv del "$pools/d.pow" a
for batch in 1 2; do
  expect 1 "$scute" pow kv load "$pools/d.pow" bad.tsv --create --quiet --batch $batch
  [ -e "$pools/d.pow" ] || fail "a file that was there has gone"
done
printf 'no tab' >&9
"$scute" pow kv load "$pools/e.pow" - --create --quiet <feed >/dev/null 2>&1 9>&- &
loader=$!
# It reads, so it knows which file it has made.
wait_until has_read_all $loader 9
rm "$pools/e.pow"
echo mine >"$pools/e.pow"
exec 9>&-
wait $loader && fail "the load has not failed"
equal "$(cat "$pools/e.pow")" mine

# CSV: the message has the way on. An array of JSON is read as its lines would be, and continues
# where it ended.
printf 'a,1\nb,2\n' >list.csv
expect 1 "$scute" pow kv load "$pools/csv.pow" list.csv --create --quiet
one_error_line
way=$(sed -n "s/.*no tab.* after \`\(sed [^\`]*\)\`.*/\1/p" err)
[ -n "$way" ] || fail "the message has no way on: $(cat err)"
eval "$way list.csv" | "$scute" pow kv load "$pools/csv.pow" - --create --quiet >/dev/null || fail "the way does not work"
equal "$("$scute" pow kv get "$pools/csv.pow" b)" 2
printf '[{"key":"a","value":1},\n {"value":[1, {"x": "]}"}], "key":"b \\"],[\\""}' >array.json
array=("$scute" pow kv load "$pools/array.pow" array.json --quiet)
expect 1 "${array[@]}" --create --batch 1
in_err 'record 3: not JSON'
equal "$("$scute" pow kv count "$pools/array.pow")" 2
printf ', {"key":"c","value":""}]' >>array.json
expect 0 "${array[@]}" --json
equal "$(json resumed_at) $(json loaded)" "2 1"
printf 'a\t1\nb "],["\t[1, {"x": "]}"}]\nc\t\n' | cmp - <("$scute" pow kv scan "$pools/array.pow") || fail "an array is not read as it is"

# Pipes have no names of their own: one after the other is loaded, and each continues by itself.
for n in 1 2; do
  printf 'a%s\t1\nb%s\t2\n' $n $n | expect 0 "$scute" pow kv load "$pools/pipes.pow" - --create --quiet --json
  equal "$(json added)" 2
done
printf 'a1\t1\nb1\t2\ne1\t3\n' | expect 0 "$scute" pow kv load "$pools/pipes.pow" - --quiet --json
equal "$(json resumed_at) $(json added)" "2 1"

# Names of any length: it works, or the message says how long a name may be, and nothing is left.
mkdir "$pools/names"
for length in 200 231 232 255 256; do
  name=$pools/names/$(head -c $length /dev/zero | tr '\0' n)
  status=0
  "$scute" pow kv put "$name" k v --create >out 2>err || status=$?
  if [ $status = 0 ]; then
    expect 0 "$scute" pow check "$name"
    rm "$name"
  else
    [ $length -gt 231 ] || fail "a name of $length bytes: $(cat err)"
    one_error_line
    in_err 'choose a name of at most 231 bytes'
  fi
  [ -z "$(ls "$pools/names")" ] || fail "$length: left: $(ls "$pools/names")"
done
