#!/usr/bin/env bash
# Help, version and wrong usage.
. "${BASH_SOURCE[0]%/*}/lib.bash"

expect 0 "$scute" --help
in_out '^Exit status:'
in_out 'Examples:'
for code in 0 1 2 3 4 5 6 7 130 143; do in_out "^ *$code  "; done

for command in create info check scrub dump stats events inject kv "kv put" "kv get" "kv del" "kv scan" "kv load" \
  "kv count" completion version pow "pow info" "pow check" "pow dump" "pow compact" "pow verify" "pow kv" "pow kv put" "pow kv get" "pow kv del" "pow kv scan" "pow kv load" "pow kv count"; do
  # shellcheck disable=SC2086
  expect 0 "$scute" $command --help
  in_out 'Examples\{0,1\}:'
  in_out "^  scute "
done

expect 0 "$scute" version
in_out '^scute [0-9]*\.[0-9]*\.[0-9]*$'
expect 0 "$scute" version --json
valid_json
expect 0 "$scute" --version

expect 1 "$scute"
in_err 'Try `scute --help`'
expect 1 "$scute" nonsense
in_err '^scute: there is no command "nonsense"$'
expect 1 "$scute" nonsense --json more
in_err 'no command "nonsense"'
expect 1 "$scute" kv nonsense
in_err '^scute kv: there is no command "nonsense"$'
in_err 'Try `scute kv --help`'
expect 1 "$scute" create
in_err '^scute create: '
in_err 'Try `scute create --help`'
expect 1 "$scute" kv
expect 1 "$scute" kv get "$pools/x.pool"
expect 1 "$scute" info "$pools/x.pool" --nonsense
expect 1 "$scute" kv load "$pools/x.pool" - --batch 0
# Unknown options are named as they were given.
expect 1 "$scute" info "$pools/x.pool" --first 1 --second 2
in_err ' --first 1 --second 2$'
expect 1 "$scute" kv load --frob 3 a b c
in_err ' --frob .*c$'
expect 1 "$scute" engine "$pools/x.pool" --bogus x
in_err '^scute engine: not expected here: --bogus'
expect 1 "$scute" kv get --bogus
in_err ' --bogus$'
# A word that is none of a few: the error names them, without the later checks.
expect 1 "$scute" engine "$pools/x.pool" foo
in_err '"foo" is not redo, logfree or spec$'
expect 1 "$scute" inject "$pools/x.pool" --kind flip --bits 7
in_err '"7" is not 1, 8, 16, 32 or 64$'

# A file of the other kind is named, with the command for it.
printf 'a\t1\n' | expect 0 "$scute" pow kv load "$pools/kind.pow" - --create --quiet
expect 0 "$scute" create "$pools/kind.pool" --size 1M -q
for command in info check "kv get" stats; do
  # shellcheck disable=SC2086
  expect 7 "$scute" $command "$pools/kind.pow" $([ "$command" != "kv get" ] || echo a)
  one_error_line
  in_err "\`scute pow info $pools/kind.pow\`"
done
expect 0 "$scute" pow info "$pools/kind.pow"
for command in info check "kv get"; do
  # shellcheck disable=SC2086
  expect 7 "$scute" pow $command "$pools/kind.pool" $([ "$command" != "kv get" ] || echo a)
  one_error_line
  in_err "\`scute info $pools/kind.pool\`"
done
# A message names the file once, and the option.
expect 1 "$scute" create "$pools/x.pool" --rows 0x
in_err '^scute: --rows: "0x" is not a whole number'
expect 1 "$scute" engine "$pools/kind.pool" redo --log-cap 1M
equal "$(grep -o "$pools/kind.pool" err | wc -l)" 1
(cd "$pools" && expect 1 "$scute" engine kind.pool redo --log-cap 1M && [ "$(grep -o kind.pool err | wc -l)" = 1 ]) || fail "the path is there twice"

# Numbers: what is none is named, in a short line, and not taken for another one.
refuses() { # WORD COMMAND...
  local word=$1
  shift
  expect 1 "$scute" "$@"
  in_err "\"$word\" is not "
  [ "$(head -n 1 err | wc -c)" -lt 200 ] || fail "a long line: $(head -c 300 err)"
}
for bad in -1 -0 +3 1.5 1e3 0x10 ' 4' 4x 18446744073709551616 99999999999999999999999; do
  refuses "$bad" inject x.pool --kind flip --count="$bad"
  refuses "$bad" inject x.pool --kind flip --seed="$bad"
  refuses "$bad" kv scan x.pool --limit="$bad"
  refuses "$bad" kv load x.pool - --batch="$bad"
  refuses "$bad" scrub x.pool --threads="$bad"
done
for bad in -1 1.5G K 64Q 64KB2 16777216T 0; do
  refuses "$bad" inject x.pool --kind scribble --length="$bad"
  refuses "$bad" scrub x.pool --rate="$bad"
done
for bad in -1 0x 0xg 1K; do refuses "$bad" inject x.pool --kind flip --offset="$bad"; done
for bad in -1 2 nan inf 1e-6x; do refuses "$bad" inject x.pool --kind flip --rate="$bad"; done
expect 0 "$scute" kv load "$pools/limits.pool" - --create --size 1M --quiet < <(printf 'a\t1\nb\t2\n')
expect 0 "$scute" kv scan "$pools/limits.pool" --limit 010
equal "$(wc -l <out)" 2
expect 0 "$scute" kv scan "$pools/limits.pool" --limit 01
equal "$(wc -l <out)" 1
expect 1 "$scute" completion ksh
