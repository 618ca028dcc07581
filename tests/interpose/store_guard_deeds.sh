#!/usr/bin/env bash
# Every deed once more, with lines that are copied while stores wait (STORE-1, STORE-2).
SCUTE_CPU=avx2 exec bash "$(dirname "${BASH_SOURCE[0]}")/deeds.sh"
