# budget.bash: how much of an instrument a test runs. `./dev test` has a part of it; `./dev test
# --all` has all, and so has a test that is run by hand (docs/internals/testing.md). Sourced.

# budget EVERYDAY WHOLE: one of them.
budget() { if [ "${SCUTE_TEST_TIER:-}" = everyday ]; then echo "$1"; else echo "$2"; fi; }
