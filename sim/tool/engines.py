# SPDX-License-Identifier: BSD-3-Clause
"""Every engine on memory that is not available: what each workload costs, and which engine wins."""
from __future__ import annotations

from pathlib import Path

from figures import Table, mean
from runs import ENGINES, Run

MACHINES = ("optane", "cxl", "dram")
WORKLOADS = ("overwrite-64", "overwrite-256", "overwrite-1024", "overwrite-4096", "insert-ctree", "insert-rbtree",
         "insert-hashmap", "ycsb-a", "ycsb-b", "stamp-vacation-low", "stamp-kmeans-high", "stamp-intruder",
         "stamp-genome", "stamp-ssca2")
# The engines that are compared with each other: all of a group survive the same faults.
GROUPS = {"crash-consistent alone": ("redo-none", "spec-none", "libpmemobj"),
          "with parity and checksums": ("redo-mlpc", "logfree-mlpc", "spec-mlpc")}
BASE = "libpmemobj"
# Operations that a workload measures, by scale (sim/guest/workloads.cpp).
OPERATIONS = {w: {"tiny": 500, "quick": 3000} for w in ("overwrite", "insert", "ycsb")}


def operations(work: str, scale: str) -> int | None:
    """None for STAMP: its transactions are of many kinds."""
    return OPERATIONS.get(work.split("-")[0], {}).get(scale)


def value_of(result: dict) -> float:
    """ns of an operation, what was put off included; of STAMP µs of the whole run."""
    n = operations(result["work"], result["scale"])
    ns = result["ns"] + result["deferred_ns"]
    return ns / n if n else ns / 1000


def runs_of(machines: list[str], workloads: tuple[str, ...], systems: tuple[str, ...], numbers: tuple,
            scale: str) -> list[Run]:
    return [Run(w, s, m, numbers, scale) for m in machines for w in workloads for s in systems]


class Results:
    """By machine, work and engine."""

    def __init__(self, results: dict[Run, dict]) -> None:
        self.all = {(r.machine, r.numbers, r.work, r.system): x for r, x in results.items()}
        self.machines = list(dict.fromkeys(r.machine for r in results))
        self.workloads = [w for w in dict.fromkeys(r.work for r in results)]
        there = {r.system for r in results}
        self.engines = [s for s in ENGINES if s in there]

    def value(self, machine: str, numbers: tuple, work: str, engine: str) -> float | None:
        result = self.all.get((machine, numbers, work, engine))
        return None if result is None else value_of(result)

    def order(self, workloads: tuple[str, ...]) -> list[str]:
        return [w for w in workloads if w in self.workloads]


def _named(numbers: tuple) -> str:
    return "".join(f", {name} = {value}" for name, value in numbers)


def times(r: Results, machine: str, numbers: tuple, workloads: tuple[str, ...]) -> Table:
    table = Table(f"{Path(machine).stem}{_named(numbers)}: ns of an operation; of STAMP µs of the run",
                  ["work", *r.engines], "ns")
    table.picture = False
    for work in r.order(workloads):
        table.add(work, *[r.value(machine, numbers, work, e) for e in r.engines])
    table.notes.append("Work that an engine puts off is done at the end and included.")
    return table


def relative(r: Results, machine: str, numbers: tuple, workloads: tuple[str, ...]) -> Table:
    engines = [e for e in r.engines if e != BASE]
    table = Table(f"{Path(machine).stem}{_named(numbers)}: time over that of libpmemobj", ["work", *engines], "times")
    table.bars = engines
    columns: dict[str, list[float]] = {e: [] for e in engines}
    for work in r.order(workloads):
        base = r.value(machine, numbers, work, BASE)
        if base is None:
            continue
        cells = []
        for e in engines:
            v = r.value(machine, numbers, work, e)
            cells.append(None if v is None else v / base)
            if v is not None:
                columns[e].append(v / base)
        table.add(work, *cells)
    table.add("**mean**", *[mean(columns[e]) if columns[e] else None for e in engines])
    table.notes.append("Below 1 is faster than libpmemobj, which has neither parity nor checksums. The mean is geometric.")
    return table


def put_off(r: Results, machines: list[str], numbers: tuple, workloads: tuple[str, ...]) -> Table:
    """Percent of the time that comes after the last commit: checkpoints of the log, parity that was
    deferred."""
    engines = [e for e in r.engines if e.startswith("spec") or e.startswith("logfree")]
    table = Table("Of these times, percent that were put off until after the last operation",
                  ["work"] + [f"{e}, {Path(m).stem}" for m in machines for e in engines], "percent")
    table.picture = False
    for work in r.order(workloads):
        cells = []
        for machine in machines:
            for e in engines:
                x = r.all.get((machine, numbers, work, e))
                cells.append(None if x is None else 100 * x["deferred_ns"] / (x["ns"] + x["deferred_ns"]))
        table.add(work, *cells)
    return table


def winners(r: Results, machines: list[str], numbers: tuple, workloads: tuple[str, ...]) -> Table:
    head = ["work"] + [f"{Path(m).stem}, {group}" for m in machines for group in GROUPS]
    table = Table("Which engine wins, and by how many percent over the next one", head, "percent")
    table.picture = False
    for work in r.order(workloads):
        cells = []
        for machine in machines:
            for engines in GROUPS.values():
                there = sorted((v, e) for e in engines if (v := r.value(machine, numbers, work, e)) is not None)
                if not there:
                    cells.append(None)
                elif len(there) == 1:
                    cells.append(there[0][1])
                else:
                    cells.append(f"{there[0][1]}, {100 * (there[1][0] / there[0][0] - 1):.0f}")
        table.add(work, *cells)
    return table


def change(r: Results, machine: str, numbers: tuple, workloads: tuple[str, ...]) -> Table:
    """The effect of the numbers that were set: time over that on the machine as its file has it."""
    table = Table(f"{Path(machine).stem}{_named(numbers)}: time over that without the change",
                  ["work", *r.engines], "times")
    table.bars = list(r.engines)
    columns: dict[str, list[float]] = {e: [] for e in r.engines}
    for work in r.order(workloads):
        cells = []
        for e in r.engines:
            old, new = r.value(machine, (), work, e), r.value(machine, numbers, work, e)
            cells.append(None if old is None or new is None else new / old)
            if cells[-1] is not None:
                columns[e].append(cells[-1])
        table.add(work, *cells)
    table.add("**mean**", *[mean(columns[e]) if columns[e] else None for e in r.engines])
    return table


def tables(results: dict[Run, dict], machines: list[str], workloads: tuple[str, ...], numbers: tuple) -> list[Table]:
    r = Results(results)
    if not r.all:
        return []
    made = [winners(r, machines, numbers, workloads)]
    for machine in machines:
        made.append(times(r, machine, numbers, workloads))
        if BASE in r.engines and len(r.engines) > 1:
            made.append(relative(r, machine, numbers, workloads))
        if numbers:
            made.append(change(r, machine, numbers, workloads))
    made.append(put_off(r, machines, numbers, workloads))
    return made
