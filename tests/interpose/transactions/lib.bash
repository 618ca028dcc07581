# lib.bash: what the tests of the cases in this folder share. Sourced.
# shellcheck source=tests/interpose/lib.bash
source "$SCUTE_SOURCE_DIR/tests/interpose/lib.bash"

actor=$programs/scute-transactions
file=$pools/file second=$pools/second

"$actor" make "$pools/base" || fail "there is no pool"
"$actor" make "$pools/base2" || fail "there is no second pool"

# fresh PATH BASE [shielded]
fresh() {
  rm -f "$1" "$1".*
  cp --sparse=always "$2" "$1"
  [ "${3:-}" != shielded ] || "$scute" shield add "$1" >add.out 2>&1 || fail "shield add: $(cat add.out)"
}

# ended STATUS: the program has ended in the requested way.
ended() { equal "$1" "$([ "$end" = closes ] || [ "$end" = exits ] && echo 0 || echo 137)"; }

# plainly CASE PATH...: the case without the shield. When that program is killed, the file keeps all
# its stores. The results of its calls are then in plain.out.
plainly() {
  local status=0
  { "$actor" "$1" dies "${@:2}" >plain.out 2>err || status=$?; } 2>/dev/null
  equal "$status" 137
}

# under_shield CASE END PATH...: the same calls have the same results. `waits` is a power failure:
# the program and its supervisor are killed where the case ends.
under_shield() {
  local case_name=$1 status=0 run child
  end=$2
  shift 2
  if [ "$end" = waits ]; then
    "$scute" shield run "${run_with[@]}" -- "$actor" "$case_name" waits "$@" >out 2>err &
    run=$!
    until_said '^here$' out "$run"
    child=$(child_of "$run")
    {
      power_failure "$run" "$child"
      wait "$run" || true
    } 2>/dev/null
    sed -i '$d' out
  else
    { "$scute" shield run "${run_with[@]}" -- "$actor" "$case_name" "$end" "$@" >out 2>err || status=$?; } 2>/dev/null
    ended "$status"
  fi
  diff plain.out out || fail "$case_name, $end: calls have other results"
}

# as_plain FILE PLAIN: FILE is sound, and holds the same, opened under the shield and without.
as_plain() {
  checked 0 "$1"
  "$scute" shield run -- "$actor" show "$1" >shown 2>err || fail "$case_name, $end: it does not open under the shield"
  diff "$2" shown || fail "$case_name, $end: the file holds something else"
  cp --sparse=always "$1" kept
  "$scute" shield remove "$1" >remove.out || fail "shield remove"
  cmp "$1" kept || fail "shield remove has changed $1"
  "$actor" show "$1" >shown 2>err || fail "$case_name, $end: it does not open"
  diff "$2" shown || fail "$case_name, $end: without the shield the file holds something else"
}

# tried CASE END...: with one pool.
tried() {
  case_name=$1
  shift
  fresh "$file" "$pools/base"
  plainly "$case_name" "$file"
  "$actor" show "$file" >plain || fail "$case_name: there is nothing to see"
  for end in "$@"; do
    fresh "$file" "$pools/base" shielded
    under_shield "$case_name" "$end" "$file"
    as_plain "$file" plain
    count=$((count + 1))
  done
}
count=0
