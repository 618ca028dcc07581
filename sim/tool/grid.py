# SPDX-License-Identifier: BSD-3-Clause
"""The means of Figure 13 over the number of banks, which the paper does not give, and over its
queue and writes. Small inputs will not do: the out-of-place scheme never comes to collect in them.
"""
from __future__ import annotations

from figures import APPLICATIONS, PAPER_SPEEDUP, SHOWN, Table, mean
from runs import Run

SCHEMES = ("hoop", "spec", "no-log")
NAMES = ("pm.banks", "pm.queue", "pm.write")
TABLE_1 = ("16", "512", "500")
POINTS = (TABLE_1, ("8", "512", "500"), ("4", "512", "500"), ("16", "256", "500"), ("16", "512", "1000"))


def numbers_of(point: tuple[str, str, str]) -> tuple:
    return tuple((name, value) for name, value, usual in zip(NAMES, point, TABLE_1) if value != usual)


def runs_of(machine: str, scale: str) -> list[Run]:
    return [Run(f"stamp-{a}", s, machine, numbers_of(p), scale) for p in POINTS for a in APPLICATIONS
            for s in ("ede", *SCHEMES)]


def table(results: dict[Run, dict]) -> Table:
    ns = {(r.work, r.system, r.numbers): x["ns"] for r, x in results.items()}
    made = Table("The means of Figure 13 over banks, queue and write",
                 [*NAMES] + [SHOWN[s] for s in SCHEMES], "times")
    made.picture = False
    for point in POINTS:
        numbers = numbers_of(point)
        cells = []
        for s in SCHEMES:
            pairs = [(ns.get((f"stamp-{a}", "ede", numbers)), ns.get((f"stamp-{a}", s, numbers))) for a in APPLICATIONS]
            known = [e / o for e, o in pairs if e is not None and o is not None]
            cells.append(mean(known) if known else None)
        if any(c is not None for c in cells):
            made.add(*point, *cells)
    made.add("*paper*", "512", "500", *[PAPER_SPEEDUP[s] for s in SCHEMES])
    return made
