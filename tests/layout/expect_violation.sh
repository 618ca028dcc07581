# Sourced by the tests of the checks in this folder, which define run_check, which runs the check on
# a tree, and plant_tree, which makes that tree again, and correct. Needs `failures`.

# expect_violation TEXT: the check must fail and print TEXT. The tree is correct again afterwards.
expect_violation() {
  local output
  if output=$(run_check 2>&1); then
    printf 'not found: %s\n' "$1"; failures=$((failures + 1))
  elif ! grep -Fqx -- "$1" <<<"$output"; then
    printf 'expected: %s\nprinted:\n%s\n' "$1" "$output"; failures=$((failures + 1))
  fi
  plant_tree
}
