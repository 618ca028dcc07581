# SPDX-License-Identifier: BSD-3-Clause
"""Shows what each number of a machine does to every engine: the number halved and doubled, or as
another machine has it."""
from __future__ import annotations

from pathlib import Path

from engines import value_of
from figures import Table, mean
from runs import ENGINES, Run

WORKLOADS = ("overwrite-256", "insert-ctree")
# By machine: numbers that are set together, in addition to those of its file.
CHANGES = {
    "optane": ((("pm.read", "115"),), (("pm.read", "460"),), (("pm.write", "250"),), (("pm.write", "1000"),),
               (("pm.queue", "1024"),), (("pm.queue", "16384"),), (("pm.banks", "6"),), (("pm.banks", "96"),),
               (("pm.link", "0"),), (("pm.link", "100"),), (("core.fence_holds", "0"),),
               (("pm.write_back", "60"), ("pm.accept", "87"))),
    "cxl": ((("pm.read", "120"),), (("pm.write", "120"),), (("pm.link", "40"),), (("pm.link", "200"),),
            (("core.fence_holds", "0"),), (("pm.write_back", "60"), ("pm.accept", "87"))),
}


def runs_of(machines: dict[str, str], scale: str) -> list[Run]:
    return [Run(w, e, machines[m], numbers, scale) for m, changes in CHANGES.items() for numbers in ((), *changes)
            for w in WORKLOADS for e in ENGINES]


def tables(results: dict[Run, dict]) -> list[Table]:
    value = {(Path(r.machine).stem, r.numbers, r.work, r.system): value_of(x) for r, x in results.items()}
    made = []
    for machine, changes in CHANGES.items():
        change = Table(f"{machine}: time with another number over that with the machine's own", ["numbers", *ENGINES], "times")
        over = Table(f"{machine}: time over that of libpmemobj", ["numbers", *ENGINES], "times")
        change.picture = over.picture = False
        for numbers in ((), *changes):
            name = ", ".join(f"{n} = {v}" for n, v in numbers) or "as the file has them"

            def means(of) -> list[float | None]:
                cells = []
                for e in ENGINES:
                    known = [of(w, e) for w in WORKLOADS]
                    cells.append(mean(known) if all(k is not None for k in known) else None)
                return cells

            def ratio(new: tuple, old: tuple) -> float | None:
                return None if new not in value or old not in value else value[new] / value[old]

            def put(to: Table, cells: list) -> None:
                if any(c is not None for c in cells):
                    to.add(name, *cells)

            if numbers:
                put(change, means(lambda w, e: ratio((machine, numbers, w, e), (machine, (), w, e))))
            put(over, means(lambda w, e: ratio((machine, numbers, w, e), (machine, numbers, w, "libpmemobj"))))
        made += [change, over]
    made = [table for table in made if table.rows] or made[:1]
    made[0].notes.append(f"Geometric means over {' and '.join(WORKLOADS)}, small.")
    return made
