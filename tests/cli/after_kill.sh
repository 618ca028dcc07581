#!/usr/bin/env bash
# A pool whose program was killed: check says clean, and there is no event. Damage in addition is
# reported by text, status and an event, as for a pool that was closed.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool
records 400 >records.tsv
mkfifo feed
exec 9<>feed  # which the loader never sees the end of

# Leaves a pool whose loader was killed when it had loaded some and waited for more.
killed_pool() { # ENGINE
  rm -f "$pool"
  SCUTE_ENGINE=$1 "$scute" create "$pool" --size 16M >/dev/null
  local loader
  "$scute" kv load "$pool" - --batch 7 --quiet <feed >/dev/null 2>&1 9>&- &
  loader=$!
  cat records.tsv >&9
  wait_until has_loaded
  kill -9 $loader
  wait $loader 2>/dev/null || true
}
has_loaded() { cp --sparse=always "$pool" copy.pool && [ "$("$scute" kv scan copy.pool 2>/dev/null | wc -l)" -ge 390 ]; }
objects() { "$scute" dump "$1" --objects | grep -c '^  0x'; }
noise() { # OFFSET LENGTH
  head -c "$2" /dev/urandom |
    dd of="$pool" bs=1 seek="$1" conv=notrunc status=none iflag=fullblock
}

for engine in redo logfree spec; do
  killed_pool $engine
  cp "$pool" killed.pool
  expect 0 "$scute" check "$pool"
  in_out '^result  *clean$'
  expect 0 "$scute" check "$pool" --repair
  expect 0 "$scute" events "$pool"
  in_out '^no events$'
  n=$(objects "$pool")

  # One page, object and neighbours: found, reported, all objects there.
  cp killed.pool "$pool"
  at=$("$scute" dump "$pool" --type scute.string | grep '^  0x' | sed -n '120s/^  \(0x[0-9a-f]*\).*/\1/p')
  noise $((at)) 4096
  cp "$pool" damaged.pool
  expect 2 "$scute" check "$pool"
  in_out "^damaged: object at 0x[0-9a-f]*, [0-9]* bytes, object $(printf '0x%x' "$at")\(,\|\$\)"
  in_out '^result  *damaged, repairable with --repair$'
  in_out "^objects  *$n with"
  cmp "$pool" damaged.pool || fail "check without --repair changed the file"
  equal "$(objects "$pool")" "$n"
  "$scute" stats "$pool" | grep -q "^objects  *$n with" || fail "stats counts other objects"
  expect 2 "$scute" check "$pool" --repair
  in_out '^result  *repaired$'
  expect 0 "$scute" events "$pool"
  in_out '  object  *repaired  *\(open\|check\)  '
  expect 0 "$scute" check "$pool"
  equal "$(objects "$pool")" "$n"

  # The drill of docs/guides/operate.md.
  cp killed.pool "$pool"
  for kind in "lose-page --count 3 --seed 7" "scribble --length 8192 --seed 8"; do
    # shellcheck disable=SC2086
    "$scute" inject "$pool" --region object --kind $kind >/dev/null
    expect 2 "$scute" scrub "$pool"
  done
  expect 0 "$scute" events "$pool"
  in_out '  page  *repaired  '
  in_out '  object  *repaired  '
done

# Beyond the redundancy: the remaining objects are listed, and that there were more.
SCUTE_PROTECTION=ml "$scute" create "$pools/ml.pool" --size 4M >/dev/null
"$scute" kv load "$pools/ml.pool" records.tsv --quiet >/dev/null
n=$(objects "$pools/ml.pool")
pool=$pools/ml.pool
at=$("$scute" dump "$pool" --type scute.string | grep '^  0x' | sed -n '120s/^  \(0x[0-9a-f]*\).*/\1/p')
noise $((at / 4096 * 4096)) 4096
for command in "dump $pool --objects" "dump $pool --objects --json" "stats $pool"; do
  # shellcheck disable=SC2086
  expect 3 "$scute" $command
  in_err 'not all objects could be returned'
  [ "$(wc -l <out)" -gt 10 ] || fail "nothing was printed by $command"
done
left=$("$scute" dump "$pool" --objects 2>/dev/null | grep -c '^  0x' || true)
[ "$left" -lt "$n" ] && [ "$left" -gt $((n / 2)) ] || fail "$left of $n objects"
