#!/usr/bin/env bash
# Every case again, with less memory than its file has (PAGEOUT-1, PAGEOUT-2).
SCUTE_TEST_RUN_WITH='--page-in --max-memory 64K' exec bash "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
