# SPDX-License-Identifier: BSD-3-Clause
"""The means of Figure 13 over what the paper does not say of its memory: banks, and what its queue and writes may be
read as. Small works, since there are many."""
from __future__ import annotations

from figures import APPLICATIONS, PAPER_SPEEDUP, SHOWN, Table, mean
from runs import Run

SCHEMES = ("hoop", "spec", "no-log")
# pm.banks, pm.queue, pm.write.
POINTS = tuple((str(b), "512", "500") for b in (16, 8, 4, 2, 1)) + (
    ("16", "256", "500"), ("4", "256", "500"), ("16", "512", "1000"), ("4", "512", "1000"), ("4", "256", "1000"))


def numbers_of(point: tuple[str, str, str]) -> tuple:
    return tuple(zip(("pm.banks", "pm.queue", "pm.write"), point))


def runs_of(machine: str, scale: str) -> list[Run]:
    return [Run(f"stamp-{a}", s, machine, numbers_of(p), scale) for p in POINTS for a in APPLICATIONS
            for s in ("ede", *SCHEMES)]


def table(results: dict[Run, dict]) -> Table:
    ns = {(r.work, r.system, r.numbers): x["ns"] for r, x in results.items()}
    made = Table("The means of Figure 13 over banks, queue and write",
                 ["pm.banks", "pm.queue", "pm.write"] + [SHOWN[s] for s in SCHEMES], "times")
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
