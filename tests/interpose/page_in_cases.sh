#!/usr/bin/env bash
# Every case again, with pages that are loaded when they are touched (PAGEIN-1, PAGEIN-3, PAGEIN-4).
# On machines that do not allow it, they are loaded as without the option.
SCUTE_TEST_RUN_WITH=--page-in exec bash "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
