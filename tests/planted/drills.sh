#!/usr/bin/env bash
# Planted bugs that no scenario of the explorer can see, since they are about files, processes
# and other programs. Each is switched on (switch.cpp), and its drill has to fail. Without it the
# same drill has to pass. homes.txt names the drills; the part before the colon is one of these:
#   test:FILTER   of the tests that are linked with the planted core (test-drilled)
#   case:NAME     of tests/interpose/cases.sh
#   script:NAME   of tests/interpose; script:NAME/CASE for one of its cases
# Each home is a test of its own (CMakeLists.txt).
# drills.sh BUG... tries some bugs; drills.sh --home HOME those of a home.
set -uo pipefail
export LC_ALL=C

source=$SCUTE_SOURCE_DIR
homes=$source/tests/planted/homes.txt
export SCUTE_TEST_SCUTE_EXE=$SCUTE_PLANTED_SCUTE
here=$PWD
limit=600      # seconds without any bug; a drill that hangs fails
declare -A took  # without any bug, in tenths of a second

# With a bug what never comes true is waited for half as long (tests/support/wait.hpp).
bounded() { if [ -n "${SCUTE_PLANT:-}" ]; then SCUTE_TEST_WAIT_SECONDS=$((limit / 2)) "$@"; else "$@"; fi; }
# drill HOME: in a folder of its own. Its output is in $here/reported.
drill() {
  local kind=${1%%:*} name=${1#*:} status=0
  local folder=$here/drill
  rm -rf "$folder" && mkdir "$folder" && cd "$folder" || exit 2
  case $kind in
    test) bounded timeout -k 5 $limit "$SCUTE_DRILLED" "--gtest_filter=$name" ;;
    case) SCUTE_TEST_CASES=$name bounded timeout -k 5 $limit bash "$source/tests/interpose/cases.sh" ;;
    script)
      [ "${name%/*}" = "$name" ] || local -x SCUTE_TEST_CASES=${name#*/}
      bounded timeout -k 5 $limit bash "$source/tests/interpose/${name%/*}.sh"
      ;;
    *) echo "no kind of drill: $1" && false ;;
  esac >"$here/reported" 2>&1 || status=$?
  cd "$here" || exit 2
  end_left_overs
  return $status
}
# A command with a bug that hangs outlives its drill, and so does the program that it runs. Those
# of this drill have its mark in their environment; other drills may run at the same time.
export SCUTE_TEST_DRILL=$here
end_left_overs() {
  local file pid
  for file in $(grep -lszxF "SCUTE_TEST_DRILL=$here" /proc/[0-9]*/environ); do
    pid=${file//[!0-9]/}
    if [ "/proc/$pid/exe" -ef "$SCUTE_PLANTED_SCUTE" ] ||
      grep -qs "${SCUTE_PLANTED_SCUTE%/*}/libscute-shield.so" "/proc/$pid/maps"; then
      kill -9 "$pid" || true
    fi
  done
}
why() { grep -aE 'FAILED at|Failure|Expected|rror|died|scute: ' reported | head -n 1 | cut -c 1-100; }

awk '!/^#/ && $2 ~ /:/ { print $1, $2 }' "$homes" >all
if [ "${1:-}" = --home ]; then
  awk -v home="$2" '$2 == home' all >wanted
elif [ $# -gt 0 ]; then printf '%s\n' "$@" | grep -wFf - all >wanted; else cp all wanted; fi
[ -s wanted ] || { echo "no drill in $homes"; exit 1; }
failures=0 failed=

# tenths SINCE: of a second, of $EPOCHREALTIME.
tenths() { echo $(((${EPOCHREALTIME/./} - ${1/./}) / 100000)); }
seconds() { echo "$(($1 / 10)).$(($1 % 10))"; }

for home in $(cut -d' ' -f2 wanted | sort -u); do
  begin=$EPOCHREALTIME
  if ! SCUTE_PLANT='' drill "$home" || grep -q 'Running 0 tests' reported; then
    echo "$home fails without any bug:"
    tail -n 20 reported
    failures=$((failures + 1)) failed+=" $home"
  fi
  took[$home]=$(tenths "$begin")
  printf '%-18s %-58s %5s s\n' '(no bug)' "$home" "$(seconds "${took[$home]}")"
done

caught=0
while read -r bug home <&3; do
  if ! grep -q "^SCUTE_BUG($bug, " "$source/tests/planted/planted_bugs.inc"; then
    echo "$bug is in no list"
    failures=$((failures + 1)) failed+=" $bug"
    continue
  fi
  # A bug that depends on the order of processes may not show at once. A drill hangs if it takes
  # three times as long as without the bug, and some seconds more.
  begin=$EPOCHREALTIME
  limit=$((took[$home] * 3 / 10 + 15))
  for turn in 1 2 3; do
    status=0
    SCUTE_PLANT=$bug drill "$home" || status=$?
    [ $status = 0 ] || break
  done
  case $status in
    0) result=MISSED failures=$((failures + 1)) failed+=" $bug" ;;
    97) result='not switched on' failures=$((failures + 1)) failed+=" $bug" ;;
    124 | 137) result=hangs caught=$((caught + 1)) ;;
    *) result=$(why) caught=$((caught + 1)) ;;
  esac
  [ "$turn" = 1 ] || result+=" ($turn tries)"
  printf '%-18s %-58s %5s s  %s\n' "$bug" "$home" "$(seconds "$(tenths "$begin")")" "$result"
done 3<wanted
echo "$caught of $(wc -l <wanted) planted bugs caught by drills"
[ -z "$failed" ] || echo "not as they should be:$failed"
[ "$failures" -eq 0 ]
