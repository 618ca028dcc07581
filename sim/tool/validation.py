# SPDX-License-Identifier: BSD-3-Clause
"""The model of the machine that bench/report was measured on, beside that report. What is compared is the time of an
engine over that of libpmemobj: machines cancel, as far as they may."""
from __future__ import annotations

import json
from pathlib import Path

from engines import value_of
from figures import Table
from runs import Run

ENGINES = ("redo-none", "redo-mlpc", "logfree-mlpc")
BASE = "libpmemobj"
# The benchmark that a work stands for: name, size, structure.
MEASURED = {"overwrite-64": ("overwrite_random", 64, None), "overwrite-256": ("overwrite_random", 256, None),
            "overwrite-1024": ("overwrite_random", 1024, None), "overwrite-4096": ("overwrite_random", 4096, None),
            "insert-ctree": ("map_insert", None, "ctree"), "insert-rbtree": ("map_insert", None, "rbtree"),
            "insert-hashmap": ("map_insert", None, "hashmap")}
BOUND = 25  # percent


def runs_of(machine: str, numbers: tuple, scale: str) -> list[Run]:
    return [Run(w, s, machine, numbers, scale) for w in MEASURED for s in (*ENGINES, BASE)]


def measured(report: Path) -> dict[tuple[str, str], float]:
    """ns by work and system; libpmemobj in huge pages, which Scute's pools have as well."""
    times = {}
    for line in report.read_text().splitlines():
        row = json.loads(line)
        if row.get("threads") != 1:
            continue
        name = row["config"] if row["system"] == "scute" else row["system"]
        name = BASE if name == "libpmemobj-huge" else "" if name == BASE else name
        for work, (bench, size, structure) in MEASURED.items():
            if row["work"] == bench and size in (None, row["size"]) and row.get("structure") == structure:
                times[work, name] = row["ns_per_op"]
    return times


def tables(results: dict[Run, dict], report: Path) -> list[Table]:
    there = measured(report)
    model = {(r.work, r.system): value_of(x) for r, x in results.items()}
    table = Table("Time over libpmemobj: the model's, the measured one, and the error in percent",
                  ["work"] + [f"{e}, {what}" for e in ENGINES for what in ("model", "measured", "error")], "times")
    table.picture = False
    errors = []
    for work in MEASURED:
        cells = []
        for e in ENGINES:
            if not all((work, s) in of for s in (e, BASE) for of in (model, there)):
                cells += [None] * 3
                continue
            ours, theirs = model[work, e] / model[work, BASE], there[work, e] / there[work, BASE]
            errors.append(100 * (ours / theirs - 1))
            cells += [ours, theirs, f"{errors[-1]:+.0f}"]
        table.add(work, *cells)
    if errors:
        inside = sum(abs(e) <= BOUND for e in errors)
        table.notes.append(f"{inside} of {len(errors)} within {BOUND} percent; the largest error is "
                           f"{max(errors, key=abs):+.0f} percent.")
    return [table]
