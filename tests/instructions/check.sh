#!/usr/bin/env bash
# Instructions per operation against golden.txt: with the AVX2 kernels, which valgrind can run, and
# a fixed seed. The file names the compiler it was made with. With that compiler the counts may
# differ by 2 percent, with another one by 25. SCUTE_UPDATE_GOLDEN=1 writes the file again.
set -euo pipefail
export LC_ALL=C SCUTE_CPU=avx2
# The C library chooses its memcpy by the machine, and so the length from which on that repeats one
# instruction.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=0x10000000
[ -z "$(ls -A)" ] || { echo "check.sh leaves files where it is run: in an empty folder, as ctest does"; exit 1; }
golden=$SCUTE_SOURCE_DIR/tests/instructions/golden.txt
times=2000

count() {  # PROGRAM COLUMN OPERATION: instructions of one
  "$SCUTE_TEST_VALGRIND" --tool=callgrind --instr-atstart=no --toggle-collect=measured --callgrind-out-file=counted \
    "$1" "$2" "$3" "$times" >said 2>&1 || { cat said; exit 1; }
  awk -v times="$times" '/^(summary|totals):/ { n = $2 } END { printf "%d", n / times }' counted
}

table() {  # PROGRAM HEADING COLUMN...
  local program=$1 operation column
  printf '%-22s' "$2"
  shift 2
  printf ' %9s' "$@"
  echo
  while IFS= read -r operation; do
    printf '%-22s' "$operation"
    for column; do printf ' %9d' "$(count "$program" "$column" "$operation")"; done
    echo
  done < <("$program" --list)
}

{
  echo "# $SCUTE_TEST_COMPILER, AVX2 kernels: instructions of one transaction, or section of a persist-on-write store"
  table "$SCUTE_TEST_OPERATIONS_EXE" operation logfree redo spec spec-none
  table "$SCUTE_TEST_SECTIONS_EXE" sections none always
} >now

if [ "${SCUTE_UPDATE_GOLDEN:-}" = 1 ]; then
  cp now "$golden"
  cat now
  exit 0
fi
percent=25
[ "$(head -1 now)" != "$(head -1 "$golden")" ] || percent=2
status=0
paste -d '|' now "$golden" | awk -F '|' -v percent="$percent" '
  /^#/ { next }
  /^(operation|sections) / { columns = split($1, name, " ") - 1; next }
  {
    n = split($1, is, " "); m = split($2, was, " ")
    for (k = columns - 1; k >= 0; --k) {
      a = is[n - k]; b = was[m - k]
      if (substr($1, 1, 22) != substr($2, 1, 22) || b == 0 || a > b * (1 + percent / 100) || a < b * (1 - percent / 100)) {
        printf "%s: %d instructions with %s, golden are %d\n", substr($1, 1, 22), a, name[columns + 1 - k], b
        bad = 1
      }
    }
    ++rows
  }
  END { exit bad || rows == 0 }' || status=$?
if [ "$status" != 0 ]; then
  echo "More or less than golden.txt allows ($percent percent). If it is meant: SCUTE_UPDATE_GOLDEN=1 ctest -R instructions/golden"
  cat now
fi
exit "$status"
