#!/usr/bin/env bash
# instructions.sh
# Counts the instructions that instrumentation adds to two programs that hold their data in a mapped
# file, with no runtime present. An emulator counts them, so exactly; the instructions of the
# program's start are taken off. Reports of stores (detect) may add a tenth to the cost of flushes
# and fences, and both together a seventh.
set -euo pipefail

dir=${BASH_SOURCE[0]%/*}/programs
limit_detect=100 limit_all=140 # tenths of a percent
failed=0

count() {
  valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null ./program "$1" >output 2>&1 ||
    { cat output >&2; return 1; }
  awk '/I +refs:/ { gsub(",", "", $NF); print $NF }' output
}

for source in tree.c hash.cpp; do
  plain= flushing=
  for options in none flush detect trace loads; do
    compiler=$SCUTE_PASS_BIN/scute-cc standard=
    case $source in *.cpp) compiler=$SCUTE_PASS_BIN/scute-c++ standard=-std=c++20 ;; esac
    instrumented="-fscute=$options"
    if [ "$options" = none ]; then
      compiler=clang-19 instrumented=
      case $source in *.cpp) compiler=clang++-19 ;; esac
    fi
    # shellcheck disable=SC2086
    "$compiler" $standard -O2 -DVIEW_CLFLUSH $instrumented -o program "$dir/$source"
    few=$(count 2000)
    many=$(count 6000)
    work=$((many - few))
    case $options in
      none) plain=$work ;;
      flush) flushing=$work ;;
    esac
    added=$(((work - plain) * 1000 / plain))
    printf '%-9s %-13s %10d instructions, %d.%d percent more\n' "$source" "$options" "$work" $((added / 10)) $((added % 10))
    [ "$options" = detect ] || continue
    stores=$(((work - flushing) * 1000 / flushing))
    printf '%-9s reporting stores adds %d.%d percent\n' "$source" $((stores / 10)) $((stores % 10))
    if [ "$stores" -gt "$limit_detect" ] || [ "$added" -gt "$limit_all" ]; then
      echo "FAILED: more than it may"
      failed=1
    fi
  done
done
exit "$failed"
