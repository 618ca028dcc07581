#!/usr/bin/env bash
# plants.sh: every bug of plants.txt is noticed, and how. PASS-1 to PASS-3 serve HOOK-3 and HOOK-4.
set -euo pipefail

dir=${BASH_SOURCE[0]%/*}
failed=0
while read -r plant rule program notice; do
  case $plant in '#'* | '') continue ;; esac
  status=0
  SCUTE_PASS_PLANT=$plant bash "$dir/program.sh" "$dir/programs/$program" >output 2>&1 || status=$?
  if [ "$status" = 0 ] && grep -q 'the processor lacks' output; then
    echo "$plant ($rule): the processor cannot run $program"
  elif [ "$status" = 1 ] && grep -qE "$notice" output; then
    echo "$plant ($rule): $(grep -m 1 -E "$notice" output)"
  else
    cat output
    echo "FAILED: $plant breaks $rule, and $program does not notice"
    failed=1
  fi
done <"$dir/plants.txt"
exit "$failed"
