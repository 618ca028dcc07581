#!/usr/bin/env bash
# words_planted.sh WORDS_SH
# words.sh can fail: builds a small correct tree in the current folder, then breaks one thing at a
# time and requires that the check names the violation.
set -euo pipefail

check=$1
failures=0

plant_tree() {
  rm -rf tree
  mkdir -p tree/{src/core/pool,src/core/heap,src/testing,docs/internals,tests/layout}
  cat >tree/src/core/pool/claims.hpp <<'EOF'
// A claim of this and that.
namespace scute::core::pool {
class claims {
  bool take(int word);
};
}  // namespace scute::core::pool
EOF
  printf 'namespace scute::core::heap {\nvoid give(int claim);\nconst std::lock_guard settle(lock_);\n}\n' \
    >tree/src/core/heap/heap.hpp
  printf 'namespace scute::testing {\nstruct claim {};\n}\n' >tree/src/testing/claim.hpp
  printf '| word | meaning |\n|---|---|\n| claim | a lock |\n| settle, settled | an end |\n' >tree/docs/internals/architecture.md
  printf '# Words.\nclaim: core/pool/claims.hpp testing/claim.hpp\nsettle:\n-grip: in_flight_write\n' >tree/tests/layout/words.txt
}

run_check() { bash "$check" tree; }
. "$(dirname "$0")/expect_violation.sh"

plant_tree
output=$(bash "$check" tree 2>&1) || true
grep -Fqx 'words: 2 of the glossary are used in one meaning' <<<"$output" ||
  { printf 'the correct tree fails:\n%s\n' "$output"; failures=1; }

another='in another meaning than the glossary'"'"'s, or tests/layout/words.txt lacks the file'
echo 'struct slot_claim {' >>tree/src/core/heap/heap.hpp
expect_violation "src/core/heap/heap.hpp: \"slot_claim\" uses \"claim\" $another"
echo '  bool is_settled() const noexcept;' >>tree/src/core/heap/heap.hpp
expect_violation "src/core/heap/heap.hpp: \"is_settled\" uses \"settle\" $another"
echo 'enum class settling : int {' >>tree/src/core/heap/heap.cpp
expect_violation "src/core/heap/heap.cpp: \"settling\" uses \"settle\" $another"
echo 'struct grip_scope {' >>tree/src/core/heap/heap.hpp
expect_violation 'src/core/heap/heap.hpp: "grip_scope" uses "grip", a former name: say in_flight_write'
mkdir -p tree/include/scute && echo 'SCUTE_API int scute_grip(void);' >tree/include/scute/a.h
expect_violation 'include/scute/a.h: "scute_grip" uses "grip", a former name: say in_flight_write'
sed -i 's|^-grip.*|& testing/claim.hpp|' tree/tests/layout/words.txt
expect_violation 'tests/layout/words.txt: testing/claim.hpp declares no name with "grip"'
mkdir -p tree/src/testing && echo 'struct scene_claim {' >tree/src/testing/scene.hpp
expect_violation "src/testing/scene.hpp: \"scene_claim\" uses \"claim\" $another"
sed -i 's/class claims/class locks/' tree/src/core/pool/claims.hpp
expect_violation 'tests/layout/words.txt: core/pool/claims.hpp declares no name with "claim"'
sed -i '/claim/d' tree/docs/internals/architecture.md
expect_violation 'docs/internals/architecture.md: no entry for "claim", which tests/layout/words.txt lists'
echo '# none' >tree/tests/layout/words.txt
expect_violation 'tests/layout/words.txt: no words'
echo 'namespace scute::pool {' >>tree/src/core/pool/claims.hpp
expect_violation 'src/core/pool/claims.hpp:7: opens a namespace outside of scute::core'
mkdir tree/include && printf '#pragma once\n%s::size_t f();\n' std >tree/include/f.hpp
expect_violation 'include/f.hpp:2: std::size_t; without std:: everywhere else'

[ "$failures" -eq 0 ] || exit 1
echo 'the check names every violation'
