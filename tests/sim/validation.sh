#!/usr/bin/env bash
# Compares the model of this machine with measurements on it (sim/report/validation.jsonl). For five
# workloads, three engines' ratios to libpmemobj are within the workload's bound. The programs are
# still those that were measured. The check can fail.
set -euo pipefail

. "${BASH_SOURCE[0]%/*}/lib.bash"
validate() {
  python3 "$SCUTE_SOURCE_DIR/sim/tool" --build "$SCUTE_BINARY_DIR" --validate --check --jobs 2 \
    --systems redo-none,logfree-mlpc,spec-mlpc --workloads overwrite-256,overwrite-4096,insert-ctree,insert-hashmap,ycsb-a "$@"
}
committed=$SCUTE_SOURCE_DIR/sim/report/validation.jsonl
validate --measured "$committed" --kept kept
# The same runs, compared with a machine on which libpmemobj takes half of the time, and with
# another program.
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
