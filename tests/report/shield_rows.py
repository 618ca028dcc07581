# SPDX-License-Identifier: BSD-3-Clause
"""shield_rows.py FILE: writes results of an invented run of the shield, with times that make round
ratios: in each round another moment is slow, by a factor that a ratio does not see."""
from __future__ import annotations

import json
import sys

FACTORS = {"plain": 1.0, "interposed": 1.1, "windows": 1.4, "per-fence": 2.4, "redo-none": 1.3, "redo-ml": 1.5, "redo-mlp": 1.75,
           "redo-mlpc": 2.0, "logfree-mlpc": 1.4, "N = 1": 1.6, "N = 20": 1.4, "N = 50": 1.4, "N = 100": 1.4, "P = 2": 1.5, "P = 4": 1.7}
SLOW = (1.0, 3.0, 1.5, 1.0, 2.0)
SETS = {"overhead": (("plain", "interposed", "windows", "per-fence"), "mapcli", ("btree", "hashmap_tx")),
        "huge": (("plain", "windows", "per-fence"), "mapcli", ("btree",)),
        "values": (("plain", "interposed", "windows", "per-fence"), "values", ("ctree", "rtree")),
        "server": (("plain", "windows"), "item_server", ("4 clients",)), "warm": (("plain", "windows"), "mapcli", ("btree", "hashmap_tx")),
        "schemes": (("plain", "interposed", "redo-none", "redo-ml", "redo-mlp", "redo-mlpc", "logfree-mlpc"), "mapcli", ("btree",)),
        "ratio": (("plain", "N = 1", "N = 20", "N = 50", "N = 100", "P = 2", "P = 4"), "mapcli", ("btree",))}


def main() -> None:
    rows = []
    for name, (configs, program, maps) in SETS.items():
        for m in maps:
            for config in configs:
                factor = FACTORS[config] * (1.5 if m == "rtree" and config == "windows" else 1.0)
                if name == "server" and config == "windows":
                    factor = 1.1
                net = [100.0 * factor * s for s in SLOW]
                rows.append({"set": name, "program": program, "map": m, "config": config, "operations": 1000, "rounds": len(SLOW), "pool_bytes": 160 << 20,
                             "content": "same", "cpu_ms": net, "wall_ms": [t * 2 for t in net],
                             "open_cpu_ms": [40.0, 30, 20, 50, 60], "open_wall_ms": [400.0] * len(SLOW), "close_cpu_ms": [4.0] * len(SLOW),
                             **({"huge_pages": 72} if name == "huge" else {})})
    for config, commits in (("windows", 1000), ("per-fence", 4000)):
        rows.append({"set": "counters", "program": "mapcli", "map": "btree", "config": config, "operations": 1000, "flushes": 30000,
                     "repeated_flushes": 2000, "unchanged_flushes": 1000, "fences": 5000, "empty_fences": 500, "commits": commits,
                     "committed_lines": 20000})
    for size in (64 << 20, 512 << 20, 4 << 30):
        for rows_, parity in ((100, 1), (20, 1), (100, 2)):
            rows.append({"set": "space", "size": size, "engine": "logfree", "rows": rows_, "parity": parity, "capacity": size * 5 // 4,
                         "sidecar_bytes": int(size * (0.01 + parity / rows_)) + (3 << 20), "log_bytes": 0})
    for rate, back, within in ((1e-8, 10, 10), (1e-7, 10, 9), (1e-6, 4, 5)):
        rows.append({"set": "faults", "size": 64 << 20, "rows": 100, "parity": 1, "bits": 8, "rate": rate, "trials": 10, "all_back": back,
                     "all_survivable": 0, "within": within, "within_back": min(back, within),
                     "errors": 1000, "errors_beside": 20, "objects": 16384, "right": 16000,
                     "silently_wrong": 0, "survivable": 15000})
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.writelines(json.dumps(r) + "\n" for r in rows)


if __name__ == "__main__":
    main()
