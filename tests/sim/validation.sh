#!/usr/bin/env bash
# The model of the machine at hand beside what was measured on it (sim/report/validation.jsonl): of
# five works, three engines' ratios to libpmemobj within the bound of each work, and the programs
# still those that were measured. And the check can fail.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
validate() {
  python3 "$SCUTE_SOURCE_DIR/sim/tool" --build "$SCUTE_BINARY_DIR" --validate --check --jobs 2 \
    --systems redo-none,logfree-mlpc,spec-mlpc --works overwrite-256,overwrite-4096,insert-ctree,insert-hashmap,ycsb-a "$@"
}
committed=$SCUTE_SOURCE_DIR/sim/report/validation.jsonl
validate --measured "$committed" --kept kept
# The same runs, beside a machine on which libpmemobj takes half of the time, and beside another
# program.
python3 - "$committed" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
fast = [dict(m, ns=m["ns"] / 2) if m["system"] == "libpmemobj" and "ns" in m else m for m in lines]
other = [dict(m, instructions=m["instructions"] * 1.2) if "instructions" in m else m for m in lines]
for name, made in (("fast", fast), ("other", other)):
    open(name, "w").write("".join(json.dumps(m) + "\n" for m in made))
PYTHON
if validate --measured fast --kept kept 2>errors; then echo "a wrong model passes"; exit 1; fi
grep -q 'percent off, the bound is' errors
if validate --measured other --kept kept 2>errors; then echo "another program passes"; exit 1; fi
grep -q 'measure again' errors
