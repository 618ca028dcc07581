#!/usr/bin/env bash
# diagrams.sh SOURCE_DIR
# The diagrams of the documentation are what docs/images/draw.py makes, and each is shown by a page.
# Prints every violation as "file: what".
set -euo pipefail
export LC_ALL=C

cd "$1"
script=docs/images/draw.py
[ -f "$script" ] || { echo "$script is missing"; exit 1; }
temp=$(mktemp -d "${TMPDIR:-/tmp}/scute-diagrams.XXXXXX")
trap 'rm -rf "$temp"' EXIT
mkdir "$temp/made"
: >"$temp/violations"
python3 -B "$script" "$temp/made"

count=0
for made in "$temp"/made/*.svg; do
  [ -f "$made" ] || { echo "$script makes no picture"; exit 1; }
  name=docs/images/${made##*/}
  count=$((count + 1))
  cmp -s "$made" "$name" || echo "$name: is not what $script makes" >>"$temp/violations"
  grep -q 'prefers-color-scheme:dark' "$made" || echo "$name: has no dark look" >>"$temp/violations"
  grep -rqF "images/${made##*/})" README.md docs --include='*.md' || echo "$name: no page shows it" >>"$temp/violations"
done
for file in docs/images/*.svg; do
  [ -f "$temp/made/${file##*/}" ] || echo "$file: $script does not make it" >>"$temp/violations"
done

if [ -s "$temp/violations" ]; then
  sort "$temp/violations"
  exit 1
fi
echo "diagrams: $count are what the script makes"
