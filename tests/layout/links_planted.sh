#!/usr/bin/env bash
# links_planted.sh LINKS_SH
# links.sh can fail: builds a small correct tree in the current folder, then breaks one thing at a
# time and requires that the check names the violation.
set -euo pipefail

check=$1
failures=0

plant_tree() {
  local i
  rm -rf tree
  mkdir -p tree/{docs/start,docs/reference,src}
  printf '# Top\n\n[start](docs/start/a.md#two-words), [docs](docs), [web](https://example.org/x), `[no](no.md)`\n' >tree/README.md
  printf '# A\n\n## `Two` words!\n\n```\n[not](a.link)\n```\n[up](../../README.md#top) [here](#two-words-1)\n\n## Two words\n\n## Limits\n\n- One.\n- Two,\n  in two lines.\n' \
    >tree/docs/start/a.md
  echo '// docs/start/a.md says why.' >tree/src/a.hpp
  {
    for i in $(seq 1 26); do printf '### scute %s PATH\n' "$(printf 'c%.0s' $(seq 1 "$i"))"; done
    printf '### scute kv put PATH KEY\n### scute kv get PATH\n'
  } >tree/docs/reference/scute.1.md
  {
    printf '[a](start/a.md) [b](reference/scute.1.md) `./dev test` `./dev lint`\n'
    sed -nE 's/^### (scute( [a-z]+)+).*/`\1`/p' tree/docs/reference/scute.1.md
  } >tree/docs/README.md
  printf '#!/bin/sh\nprintf "Commands\\n  test [A]   run\\n      --all  more\\n  lint       look\\n\\nOther\\n  none\\n"\n' >tree/dev
  chmod +x tree/dev
}

run_check() { bash "$check" tree; }
. "$(dirname "$0")/expect_violation.sh"

plant_tree
run_check >output || { echo 'the correct tree fails:'; cat output; failures=1; }

echo '[gone](docs/gone.md)' >>tree/README.md
expect_violation 'README.md: the link docs/gone.md leads nowhere'
echo '[wrong](docs/start/a.md#three-words)' >>tree/README.md
expect_violation 'README.md: docs/start/a.md has no heading for the link docs/start/a.md#three-words'
sed -i '/^## Two words$/d' tree/docs/start/a.md
expect_violation 'docs/start/a.md: docs/start/a.md has no heading for the link #two-words-1'
sed -i '/^## Limits/d' tree/docs/start/a.md
expect_violation 'docs/start/a.md: does not end with a list under ## Limits'
echo 'One more.' >>tree/docs/start/a.md
expect_violation 'docs/start/a.md: does not end with a list under ## Limits'
echo '// docs/old.md' >>tree/src/a.hpp
expect_violation 'src/a.hpp: names docs/old.md, which does not exist'
echo '# B' >tree/docs/start/b.md
expect_violation 'docs/README.md: no link to docs/start/b.md'
sed -i '/kv put/d' tree/docs/README.md
expect_violation 'docs/README.md: does not name `scute kv put`'
sed -i 's/`\.\/dev lint`//' tree/docs/README.md
expect_violation 'docs/README.md: does not name `./dev lint`'
sed -i '5,$d' tree/docs/reference/scute.1.md
expect_violation 'docs/README.md: only 6 commands were found to look for'
rm tree/docs/README.md
expect_violation 'docs/README.md: the index is missing'
yes word 2>/dev/null | head -n 1501 >tree/docs/start/a.md || true
expect_violation 'docs/start/a.md: has 1501 words; 1500 are enough'
yes word 2>/dev/null | head -n 1001 >>tree/README.md || true
expect_violation 'README.md: has 1006 words outside of code blocks; 1000 are enough'
{ echo '```'; yes word 2>/dev/null | head -n 1200; echo '```'; } >>tree/README.md || true
expect_violation 'README.md: has 1208 words; 1200 are enough'

[ "$failures" -eq 0 ] || exit 1
echo 'the check names every violation'
