#!/usr/bin/env bash
# program.sh SOURCE
# Compiles a program of programs/ with scute-cc at every level, and runs it alone and under the
# recorder. Compares the recorder's log with the log in the program's head comment:
#   // options: OPTIONS   for -fscute=                   // flags: FLAGS       for the compiler
#   // levels: LEVELS     instead of -O0 -O1 -O2
#   // log: LINE          the hooks in their order, without file and line, which must have a comment
#                         that names the hook; "any": the log may say anything
#   // shadow: LINE       with detect: strays, in their order; "none"
# SCUTE_PASS_PLANT: a bug that the pass is to have.
# A processor without the instructions that the flags ask for compiles the program, and runs
# nothing.
set -euo pipefail

source=$1
name=${source##*/}
compiler=$SCUTE_PASS_BIN/scute-cc
case $name in *.cpp) compiler=$SCUTE_PASS_BIN/scute-c++ standard=-std=c++20 ;; *) standard=-std=gnu11 ;; esac
head_of() { sed -n "s|^// $1: ||p" "$source"; }
options=$(head_of options) flags=$(head_of flags) levels=$(head_of levels)
missing=
for flag in $flags; do
  case $flag in -mclwb | -mclflushopt | -mavx | -mavx2 | -mfma) grep -qw "${flag#-m}" /proc/cpuinfo || missing+=" ${flag#-m}" ;; esac
done
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

# Every line of the log names a line of the source, whose statement ends with a comment that names
# the hook.
check_sites() {
  awk -v dir="${source%/*}" '
    function marked(file, line, hook,    i) {
      if (!(file in read)) {
        read[file] = 1
        for (i = 1; (getline text < (dir "/" file)) > 0; ++i) source[file, i] = text
      }
      for (i = line; i < line + 14 && (file, i) in source; ++i)
        if (match(source[file, i], /\/\/ [a-z ]*$/)) return index(source[file, i], hook) > 0
      return 0
    }
    {
      for (field = 1; field <= NF; ++field) if ($field ~ /^[A-Za-z_.]+:[0-9]+$/) break
      split($field, site, ":")
      if (field > NF || !marked(site[1], site[2] + 0, $1)) { print "no such place: " $0; wrong = 1 }
    }
    END { exit wrong }' "$1"
}

compile() {
  # shellcheck disable=SC2086
  "$compiler" $standard -Wall -Wextra -Werror $level -g $flags ${SCUTE_PASS_PLANT:+-mllvm "-scute-shield-plant=$SCUTE_PASS_PLANT"} \
    "-fscute=$1" -o program "$source" -lm
}

for level in ${levels:--O0 -O1 -O2}; do
  compile "${options:-flush}"
  if [ -n "$missing" ]; then
    echo "$level: compiled; the processor lacks$missing"
    continue
  fi
  ./program || fail "$level: alone, it ends with $?"

  if [ -n "$(head_of log)" ]; then
    for registers in RECORDER_GENERAL=1 RECORDER_SAVING=0 RECORDER_SAVING=1 RECORDER=; do
      rm -f log
      env RECORDER_LOG="$PWD/log" "$registers" LD_PRELOAD="$SCUTE_PASS_RECORDER" ./program ||
        fail "$level: under the recorder ($registers), it ends with $?"
      [ -s log ] || fail "$level: nothing was reported"
      [ "$(head_of log)" != any ] || continue
      check_sites log || fail "$level: sites"
      sed -E 's/ [A-Za-z_.]+:[0-9]+ / /' log >reported
      head_of log | diff -u - reported || fail "$level: - expected, + reported"
    done
  fi
  if [ -n "$(head_of shadow)" ]; then
    compile detect
    : >log
    env RECORDER_LOG="$PWD/log" RECORDER_SHADOW=1 LD_PRELOAD="$SCUTE_PASS_RECORDER" ./program ||
      fail "$level: under the shadow, it ends with $?"
    { head_of shadow | grep -vx none || true; } | diff -u - log || fail "$level: - expected, + found"
  fi
done
echo "as expected"
