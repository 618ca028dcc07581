#!/usr/bin/env bash
# ir.sh FILE
# Runs the pass on the IR of a file and compares the result with the CHECK lines in it. The first
# line is "; options: OPTIONS".
set -euo pipefail

file=$1
options=$(sed -n '1s/^; options: //p' "$file")
[ -n "$options" ] || { echo "FAILED: the first line of $file names no options"; exit 1; }
opt-19 "-load-pass-plugin=$SCUTE_PASS_PLUGIN" -passes=scute-shield "-scute-shield=$options" -S -o out.ll "$file"
FileCheck-19 --dump-input-context=20 --input-file=out.ll "$file"
# The result is valid for the code generator, too.
llc-19 -O2 -relocation-model=pic -mattr=+clwb,+clflushopt,+movdir64b,+movdiri,+avx512f -filetype=obj -o out.o out.ll
echo "as expected"
