#!/usr/bin/env bash
# Every case once more, with pages that are loaded when they are touched (PAGEIN-1, PAGEIN-3, PAGEIN-4), or where the machine does not let them
# as ever.
SCUTE_TEST_RUN_WITH=--page-in exec bash "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
