#!/usr/bin/env bash
# diagrams_planted.sh DIAGRAMS_SH SOURCE_DIR
# diagrams.sh can fail: copies the pictures to a tree in the current folder, then breaks one thing
# at a time and requires that the check names the violation.
set -euo pipefail

check=$1 source=$2
failures=0

plant_tree() {
  local svg
  rm -rf tree
  mkdir -p tree/docs
  cp -r "$source/docs/images" tree/docs/images
  for svg in tree/docs/images/*.svg; do echo "![a](docs/images/${svg##*/})"; done >tree/README.md
}

run_check() { bash "$check" tree; }
. "$(dirname "$0")/expect_violation.sh"

plant_tree
run_check >output || { echo 'the correct tree fails:'; cat output; failures=1; }

sed -i 's/A pool is one file/A pool is two files/' tree/docs/images/pool.svg
expect_violation 'docs/images/pool.svg: is not what docs/images/draw.py makes'
rm tree/docs/images/store.svg
expect_violation 'docs/images/store.svg: is not what docs/images/draw.py makes'
echo '<svg/>' >tree/docs/images/other.svg
expect_violation 'docs/images/other.svg: docs/images/draw.py does not make it'
sed -i '/repair/d' tree/README.md
expect_violation 'docs/images/repair.svg: no page shows it'
sed -i 's/(prefers-color-scheme:dark)/(never)/' tree/docs/images/draw.py
expect_violation 'docs/images/pool.svg: has no dark look'
rm tree/docs/images/draw.py
expect_violation 'docs/images/draw.py is missing'

[ "$failures" -eq 0 ] || exit 1
echo 'the check names every violation'
