#!/usr/bin/env bash
# run-in-temp.sh COMMAND [ARG...]
# Runs a command in a fresh folder and removes the folder afterwards. @TEMP@ in an argument stands
# for the folder.
set -euo pipefail

dir=$(mktemp -d "${TMPDIR:-/tmp}/scute-run.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"${@//@TEMP@/$dir}"
