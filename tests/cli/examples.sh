#!/usr/bin/env bash
# Every example that --help shows is accepted. (tests/readme follows those of pages.)
. "${BASH_SOURCE[0]%/*}/lib.bash"
PATH=${scute%/*}:$PATH
export HOME=$PWD/home
mkdir -p "$HOME/.local/share/bash-completion/completions" "$HOME/.config/fish/completions"

# The files that the examples read.
printf 'milk\t2 litres\nuser/ada\t1\nuser/bob\t2\n' >notes.tsv
printf '{"key":"a","value":1}\n' >events.jsonl
gzip -c events.jsonl >events.jsonl.gz
gzip -c notes.tsv >big.tsv.gz
head -c 3000 /dev/urandom >logo.png
"$scute" kv load base notes.tsv --create --size 2M --quiet >/dev/null
"$scute" kv put base logo <logo.png
"$scute" pow kv load base.file notes.tsv --create --quiet >/dev/null
"$scute" pow kv put base.file logo <logo.png

for command in '' create info check scrub dump stats events inject kv 'kv put' 'kv get' 'kv del' 'kv scan' \
  'kv load' 'kv count' completion version \
  pow 'pow info' 'pow check' 'pow dump' 'pow compact' 'pow verify' 'pow kv' 'pow kv put' 'pow kv get' 'pow kv del' 'pow kv scan' 'pow kv load' 'pow kv count'; do
  # shellcheck disable=SC2086
  "$scute" $command --help | sed -n '/^Examples\{0,1\}:/,$s/^  \(.*scute .*\)/\1/p'
done | sed 's/  *# .*//' | sort -u >examples
[ "$(wc -l <examples)" -ge 50 ] || fail "only $(wc -l <examples) examples"

n=0
while IFS= read -r example; do
  # In this folder, and without gigabytes or programs that may not be here.
  here=$(sed -e 's#\(/dev/shm\|/mnt/pmem\|/var/lib/app\)/##g' -e 's/--size [0-9]*[MG]/--size 2M/g' \
    -e 's/--rows [0-9]*/--rows 4/g' -e 's/| jq .*/| cat/' <<<"$example")
  # The pools that it names are present, except for those that it makes.
  for name in $(grep -o '[a-z]*\.pool' <<<"$here" | sort -u); do rm -f "$name".log*; cp base "$name"; done
  # shellcheck disable=SC2013
  for name in $(tr '|' '\n' <<<"$here" | grep 'create' | grep -o '[a-z]*\.pool'); do rm -f "$name"; done
  for name in $(grep -o '[a-z]*\.pow' <<<"$here" | sort -u); do cp base.file "$name"; done
  status=0
  bash -o pipefail -c 'fpath=(. .); mail() { cat; }; '"$here" </dev/null >out 2>err || status=$?
  case $status in
    0 | 2 | 3) ;;
    *) fail "status $status: $example" ;;
  esac
  rm -f ./*.pool ./*.pow
  n=$((n + 1))
done <examples
echo "$n examples"
