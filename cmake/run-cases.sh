#!/usr/bin/env bash
# run-cases.sh [OPTION] SECONDS PROGRAM [ARG...]
# Runs a GoogleTest program, or the part of it that GTEST_TOTAL_SHARDS and GTEST_SHARD_INDEX choose.
# Of its output only that of cases that fail is shown, then how many passed, and for each that
# failed the command that repeats it alone. A program that ends early has failed in the case that
# was under way; so has one that takes longer than SECONDS.
#
#   --free FILE              its cases may leave their engine to the run: that is SCUTE_TEST_ENGINES
#                            (`rotate`, or nothing for the library's choice). Those that do are
#                            listed in FILE.
#   --engine NAME FILE N     runs with this engine the cases that FILE.1 to FILE.N list, and no
#                            others
set -uo pipefail
export LC_ALL=C

asked= settings=
case $1 in
  --free)
    asked=$2
    [ -z "${SCUTE_TEST_ENGINES:-}" ] || export SCUTE_TEST_ENGINE=$SCUTE_TEST_ENGINES
    shift 2 ;;
  --engine)
    engine=$2 lists=()
    for ((i = 1; i <= $4; i++)); do lists+=("$3.$i"); done
    again=$3.$2
    shift 4 ;;
esac
seconds=$1 program=$2
shift 2

# list FILE COMMAND...: which cases ask for their engine when it is run.
list() {
  mkdir -p "${1%/*}" && rm -f "$1" "$1.new" && : >"$1.new" || exit 1
  SCUTE_TEST_ASKED=$1.new "${@:2}"
  status=$?
  sort -u "$1.new" >"$1" && rm "$1.new"
  return $status
}

if [ -n "${engine:-}" ]; then
  # Older than the program, or not there: then the program is run for them.
  for each in "${lists[@]}"; do
    [ "$each" -nt "$program" ] && continue
    list "$again.asked" timeout -k 5 "$seconds" "$program" >/dev/null 2>&1 </dev/null
    lists=("$again.asked")
    break
  done
  export SCUTE_TEST_ENGINE=$engine
  { printf -- '--gtest_filter=' && sort -u "${lists[@]}" | paste -sd:; } >"$again"
  set -- "--gtest_flagfile=$again"
fi

for name in SCUTE_TEST_ENGINE SCUTE_CPU PMEM_IS_PMEM_FORCE; do
  [ -z "${!name:-}" ] || settings+="$name=${!name} "
done

cases() {
  timeout -k 5 "$seconds" "$program" "$@" 2>&1 </dev/null
}
run() {
  if [ -n "$asked" ]; then list "$asked" cases "$@"; else cases "$@"; fi
}
run "$@" | awk -v program="$program" -v settings="$settings" '
  function failed(name) {
    if (!(name in seen)) { seen[name] = 1; failures[++count] = name }
  }
  /^\[ RUN      \] / { name = substr($0, 14); block = $0 "\n"; next }
  # A case may have written a line without its end.
  name != "" && /\[       OK \] / && index($0, "] " name) { block = name = ""; ++passed; next }
  name != "" && /\[  FAILED  \] / && index($0, "] " name) { printf "%s%s\n", block, $0; failed(name); block = name = ""; next }
  name != "" { if (length(block) < 200000) block = block $0 "\n"; next }
  /^\[[ =-]*\] / || /^\[  (PASSED|FAILED)  \] / || /^Note: / || /^ *[0-9]+ FAILED TESTS?$/ || /^$/ { next }
  { print }
  END {
    if (name != "") {
      printf "%sThe program ended in %s.\n", block, name
      failed(name)
    }
    printf "%d cases passed, %d failed\n", passed, count
    for (i = 1; i <= count; ++i)
      printf "FAILED %s\n  repeat: %s%s --gtest_filter=%s\n", failures[i], settings, program, failures[i]
    exit passed + count == 0
  }'
statuses=("${PIPESTATUS[@]}")
case ${statuses[0]} in
  0) [ "${statuses[1]}" = 0 ] || { echo "no case was run"; exit 1; } ;;
  124 | 137) echo "stopped after $seconds seconds"; exit 1 ;;
  *) exit 1 ;;
esac
