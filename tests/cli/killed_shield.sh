#!/usr/bin/env bash
# kill -9 while a file comes under the shield, is adopted, or leaves it (MAKE-1, MAKE-3). The
# file keeps its bytes, its protection is whole or absent, and the same command continues.
. "${BASH_SOURCE[0]%/*}/lib.bash"
file=$pools/a.dat
head -c 2000003 /dev/urandom >"$file"
cp "$file" original

kill_soon() {
  "$@" >/dev/null 2>&1 &
  local victim=$!
  pause "0.0$((RANDOM % 4))$((RANDOM % 10))"
  kill -9 "$victim" 2>/dev/null || true
  wait "$victim" 2>/dev/null || true
}
sound() { # whole, if it is there
  cmp "$file" original || fail "round $round: the file has changed"
  [ ! -e "$file.scute" ] || expect 0 "$scute" shield check "$file" --quiet
}

seed=${SCUTE_TEST_SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
killed=0
for round in $(seq 15); do
  for engine in logfree spec; do
    kill_soon "$scute" shield add "$file" --engine $engine --quiet
    [ -e "$file.scute" ] || killed=$((killed + 1))
    sound
    [ -e "$file.scute" ] || expect 0 "$scute" shield add "$file" --engine $engine --quiet
    kill_soon "$scute" shield adopt "$file" --quiet
    sound
    expect 0 "$scute" shield adopt "$file" --quiet
    kill_soon "$scute" shield remove "$file"
    sound
    [ ! -e "$file.scute" ] || expect 0 "$scute" shield remove "$file"
    equal "$(ls "$pools")" a.dat
  done
done
echo "$killed of 30 had not come under the shield"
