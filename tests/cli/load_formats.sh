#!/usr/bin/env bash
# scute kv load: the forms of a source, and what scan prints can be loaded.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool

cat >a.jsonl <<'JSON'
{"key":"text","value":"a \"quoted\"\ttab \u00e4"}
{"key":"number","value":1.50}
{"value": [1, {"x": "}"}, 2e3] ,"key":"list"}

{"key":"object","more":true,"value":{"b":1,  "a":"]"}}
{"key":"null","value":null}
{"key":"big","value":123456789012345678901234567890}
{"key_base64":"/wA=","value_base64":"AP8="}
JSON
expect 0 "$scute" kv load "$pool" a.jsonl --create --size 4M --quiet
in_out '^loaded 7 records (7 new, 0 replaced)'
silent
value() {
  expect 0 "$scute" kv get "$pool" "$1" --raw
  cat out
}
equal "$(value text)" "a \"quoted\"	tab ä"
equal "$(value number)" 1.50
equal "$(value list)" '[1, {"x": "}"}, 2e3]'
equal "$(value object)" '{"b":1,  "a":"]"}'
equal "$(value null)" null
equal "$(value big)" 123456789012345678901234567890
expect 0 "$scute" info "$pool" --json
equal "$(json layout)" scute-kv

# Nor does a number have to be one that a double can hold.
long=$(head -c 100000 /dev/zero | tr '\0' 7)
cat >huge.jsonl <<JSON
{"key":"huge","value":1e999}
{"key":"n: 1e999","value":[-1E+999,{"1e999":"2e999\\" 3e999"}, 0, -7.5e-999 ]}
{"key":"long","value":$long}
{"key":-1e999,"value":"as text"}
JSON
expect 0 "$scute" kv load "$pools/huge.pool" huge.jsonl --create --size 4M --quiet
from() {
  expect 0 "$scute" kv get "$pools/huge.pool" --raw -- "$1"
  cat out
}
equal "$(from huge)" 1e999
equal "$(from 'n: 1e999')" '[-1E+999,{"1e999":"2e999\" 3e999"}, 0, -7.5e-999 ]'
equal "$(from long)" "$long"
equal "$(from -1e999)" "as text"
for bad in 1e999x 01e999 -e999 1.e999 '1e999,'; do
  printf '{"key":"k","value":%s}\n' "$bad" >bad.jsonl
  expect 1 "$scute" kv load "$pools/huge.pool" bad.jsonl --quiet
  one_error_line
  in_err 'record 1: not JSON, at byte'
done

# The lines that scan prints load into the same records, in both forms.
"$scute" kv scan "$pool" >scan.tsv
"$scute" kv scan "$pool" --json >scan.jsonl
for form in tsv jsonl; do
  expect 0 "$scute" kv load "$pools/$form.pool" "scan.$form" --create --size 4M --quiet --json
  valid_json
  equal "$(json loaded)" 7
  equal "$(json complete)" true
  "$scute" kv scan "$pools/$form.pool" | cmp - scan.tsv || fail "records changed through $form"
done
# The extension decides, --format overrides.
cp scan.jsonl scan.txt
expect 0 "$scute" kv load "$pools/f.pool" scan.txt --format json --create --size 4M --quiet
"$scute" kv scan "$pools/f.pool" | cmp - scan.tsv || fail "records changed through --format"

# A bad record stops the load. Those before it are loaded, and the load can continue when the
# record is repaired.
bad() {
  printf 'one\t1\ntwo\t2\n%s\nfour\t4\n' "$1" >bad.tsv
  rm -f "$pools/bad.pool"
  expect 1 "$scute" kv load "$pools/bad.pool" bad.tsv --create --size 4M --quiet
  one_error_line
  in_err 'record 3: '
  expect 0 "$scute" kv count "$pools/bad.pool"
  equal "$(cat out)" 2
}
bad 'no tab'
bad 'three	3	3'
bad 'three	\x'
bad 'three	3\'
printf 'one\t1\ntwo\t2\nthree\t3\nfour\t4\n' >bad.tsv
expect 0 "$scute" kv load "$pools/bad.pool" bad.tsv --quiet
in_out '^resumed after 2 records'
in_out '^loaded 2 records (2 new, 0 replaced)'
for line in '{' '[1]' '["a"]' '[{}]' '["' '[{"key":"a"' '[] x' '{"key":"a"}' '{"value":"a"}' '{"key":"a","value_base64":"?"}' 'x'; do
  echo "$line" >bad.jsonl
  expect 1 "$scute" kv load "$pool" bad.jsonl --quiet --restart
  one_error_line
  in_err 'record 1: '
done

# An array of JSON is read as its lines would be, in any layout, and the load continues where it
# ended.
want_array() {
  printf 'a\t1\nb "],[" \\\\ c\t[1,\\n {"x": "]}"}]\nd\t\n' >wanted.tsv
  "$scute" kv scan "$pools/array.pool" | cmp - wanted.tsv || fail "an array is not read as it is: $1"
}
two='{"key":"a","value":1}' four='{"value":[1,
 {"x": "]}"}],  "key":"b \"],[\" \\ c"}' six='{"key":"d","value":""}'
for form in "[$two,$four,$six]" "  [
  $two ,
  $four,
  $six
]
" "$two
$(tr -d '\n' <<<"${four/\[1,/[1,}")
$six"; do
  rm -f "$pools/array.pool"
  printf '%s' "$form" >array.json
  expect 0 "$scute" kv load "$pools/array.pool" array.json --create --size 1M --batch 1 --quiet
  in_out '^loaded 3 records'
  case $form in "{"*) ;; *) want_array "$form" ;; esac
  expect 0 "$scute" kv load "$pools/array.pool" array.json --quiet --json
  equal "$(json loaded)" 0
done
printf '%s' "[$two,$four,$six]" >array.json
rm -f "$pools/array.pool"
expect 0 "$scute" kv load "$pools/array.pool" array.json --create --size 1M --quiet
printf '%s' "[$two,$four,$six,{\"key\":\"e\",\"value\":5}]" >array.json
expect 0 "$scute" kv load "$pools/array.pool" array.json --quiet --json
equal "$(json resumed_at) $(json loaded)" "3 1"
echo '[]' >array.json
expect 0 "$scute" kv load "$pools/array.pool" array.json --restart --quiet
in_out '^loaded 0 records'
# One that is cut off: what is whole is loaded.
printf '%s' "[$two,$six" >array.json
rm -f "$pools/array.pool"
expect 1 "$scute" kv load "$pools/array.pool" array.json --create --size 1M --batch 1 --quiet
in_err 'record 3: not JSON'
expect 0 "$scute" kv count "$pools/array.pool"
equal "$(cat out)" 2
# A large one, over many reads of the file.
awk 'BEGIN { printf "["; for (i = 0; i < 40000; i++) printf "%s{\"key\": \"k%06d\", \"value\": \"a \\\" value ] }, of some length, number %d\"}", i ? ",\n" : "", i, i; print "]" }' >array.json
rm -f "$pools/array.pool"
expect 0 "$scute" kv load "$pools/array.pool" array.json --create --size 32M --batch 10000 --quiet
in_out '^loaded 40,000 records (40,000 new'

# CSV: the message has the way on.
printf 'a,1\nb,2\n' >list.csv
expect 1 "$scute" kv load "$pools/csv.pool" list.csv --create --size 1M --quiet
one_error_line
in_err 'no tab'
way=$(sed -n "s/.*after \`\(sed [^\`]*\)\`.*/\1/p" err)
[ -n "$way" ] || fail "the message has no way on: $(cat err)"
eval "$way list.csv" | "$scute" kv load "$pools/csv.pool" - --create --size 1M --quiet >/dev/null || fail "the way does not work"
equal "$("$scute" kv get "$pools/csv.pool" b)" 2

# A first load that fails leaves no pool that it made, and none of its files; one that was there
# stays.
rm -f "$pools/csv.pool"
echo mine >"$pools/csv.pool.log"
for engine in redo spec; do
  expect 1 "$scute" kv load "$pools/new.pool" list.csv --create --size 4M --engine $engine --medium file --quiet
  [ -z "$(ls "$pools"/new.pool* 2>/dev/null)" ] || fail "left: $(ls "$pools"/new.pool*)"
done
expect 1 "$scute" kv load "$pools/csv.pool" list.csv --create --size 1M --engine redo --quiet
[ ! -e "$pools/csv.pool" ] || fail "the pool was left"
equal "$(cat "$pools/csv.pool.log")" mine
# Nor does it take away a file that got the name of its pool, or of the log, meanwhile.
for name in moved.pool moved.pool.log; do
  rm -f records.fifo
  mkfifo records.fifo
  "$scute" kv load "$pools/moved.pool" - --create --size 4M --engine spec --medium file --quiet <records.fifo 2>err &
  loader=$!
  exec 6>records.fifo
  wait_until test -e "$pools/moved.pool.log"
  wait_until sleeps_in "$loader" 0 7 271  # it reads, or polls
  echo mine >other
  mv other "$pools/$name"
  echo 'no tab' >&6
  exec 6>&-
  status=0
  wait "$loader" || status=$?
  equal "$status" 1
  equal "$(cat "$pools/$name")" mine
  rm "$pools/$name"
  [ -z "$(ls "$pools" | grep '^moved')" ] || fail "left: $(ls "$pools")"
done
expect 0 "$scute" create "$pools/new.pool" --size 4M -q
expect 1 "$scute" kv load "$pools/new.pool" list.csv --create --quiet
[ -e "$pools/new.pool" ] || fail "a pool that was there has gone"

# Options that only a new pool can take are not ignored, but the same command continues.
printf 'a\t1\n' >one.tsv
ask='--create --size 4M --rows 5 --engine redo --protection mlp --lanes 3 --chunk-size 16K --checksum adler32'
rm -f "$pools/new.pool"
for again in 1 2; do
  # shellcheck disable=SC2086
  expect 0 "$scute" kv load "$pools/new.pool" one.tsv $ask --quiet
done
for other in '--size 8M' '--rows 6' '--engine spec' '--protection mlpc' '--lanes 4' '--chunk-size 32K' '--checksum crc32c' '--parity 2' '--overwrite'; do
  # shellcheck disable=SC2086
  expect 1 "$scute" kv load "$pools/new.pool" one.tsv --create $other --quiet
  in_err "as asked for\|does not replace it"
done

# Standard input and pipes have no names of their own: one after the other is loaded, and each
# continues by itself.
rm -f "$pools/pipes.pool"
"$scute" create "$pools/pipes.pool" --size 4M -q
for n in 1 2; do
  printf 'a%s\t1\nb%s\t2\n' $n $n | expect 0 "$scute" kv load "$pools/pipes.pool" - --quiet --json
  equal "$(json added)" 2
  expect 0 "$scute" kv load "$pools/pipes.pool" <(printf 'c%s\t1\nd%s\t2\n' $n $n) --quiet --json
  equal "$(json added)" 2
done
printf 'a1\t1\nb1\t2\ne1\t3\n' | expect 0 "$scute" kv load "$pools/pipes.pool" - --quiet --json
equal "$(json resumed_at) $(json added)" "2 1"

expect 1 "$scute" kv load "$pool" missing.tsv
one_error_line
