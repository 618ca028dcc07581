#!/usr/bin/env bash
# Two shielded pools of libpmemobj and one thread. If the second is made durable in a transaction of
# the first, all earlier reports to the first are durable as well. From then on there is no window
# (DUR-2): after a power failure both hold what was reported to them. A transaction of both is
# refused, as without the shield.
source "$(dirname "${BASH_SOURCE[0]}")/transactions/lib.bash"

for case_name in ${SCUTE_TEST_CASES:-$("$actor" list two)}; do
  fresh "$file" "$pools/base"
  fresh "$second" "$pools/base2"
  plainly "$case_name" "$file" "$second"
  "$actor" show "$file" >plain || fail "$case_name: there is nothing to see"
  "$actor" show "$second" >plain2 || fail "$case_name: there is nothing to see in the second one"
  for end in dies waits; do
    fresh "$file" "$pools/base" shielded
    fresh "$second" "$pools/base2" shielded
    under_shield "$case_name" "$end" "$file" "$second"
    as_plain "$file" plain
    as_plain "$second" plain2
    count=$((count + 1))
  done
done

# At every moment, if the second file has a report, the first file has the earlier ones.
if [[ "${SCUTE_TEST_CASES:-in_turns}" == *in_turns* ]]; then
  fresh "$file" "$pools/base"
  fresh "$second" "$pools/base2"
  "$scute" shield add "$file" >add.out && "$scute" shield add "$second" >add.out || fail "shield add"
  "$actor" watch "$pools/base" "$file" "$second" >watched 2>&1 &
  watcher=$!
  trap 'kill "$watcher" 2>/dev/null || true; rm -rf "$pools"' EXIT
  until_said '' watched "$watcher"
  expect 0 "$scute" shield run "${run_with[@]}" -- "$actor" in_turns closes "$file" "$second"
  wait "$watcher" || fail "the watcher: $(cat watched)"
  equal "$(tail -n 1 watched)" "ahead: 0"
fi

[ -n "${SCUTE_TEST_CASES:-}" ] || [ "$count" -ge 18 ] || fail "only $count ends"
echo "$count ends with two pools"
