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

# What scan prints loads into the same records, in both forms.
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

# A bad record stops the load; those before it are loaded, and it can go on when repaired.
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
for line in '{' '[]' '{"key":"a"}' '{"value":"a"}' '{"key":"a","value_base64":"?"}' 'x'; do
  echo "$line" >bad.jsonl
  expect 1 "$scute" kv load "$pool" bad.jsonl --quiet --restart
  one_error_line
  in_err 'record 1: '
done
expect 1 "$scute" kv load "$pool" missing.tsv
one_error_line
