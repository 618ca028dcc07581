# SPDX-License-Identifier: BSD-3-Clause
"""Runs chosen workloads and systems on a machine, or on a row of machines that differ in one
number."""
from __future__ import annotations

from pathlib import Path

from engines import operations, value_of
from figures import SHOWN, Table
from runs import ENGINES, Run, SCHEMES

# Those that a sweep takes if none are named: under a minute.
SWEPT = ("overwrite-256", "insert-ctree", "ycsb-a", "stamp-kmeans-high")


def sweep_values(text: str) -> tuple[str, list[str]]:
    """"pm.write=100..1000", five steps by factors, or "pm.banks=1,4,16"."""
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise SystemExit(f"sim: --sweep {text}: NAME=FROM..TO or NAME=A,B,...")
    try:
        if ".." not in values:
            return name, [v for v in values.split(",") if float(v) >= 0]
        low, high = (float(v) for v in values.split(".."))
    except ValueError:
        raise SystemExit(f"sim: --sweep {text}: numbers are needed") from None
    if low <= 0 or high <= low:
        raise SystemExit(f"sim: --sweep {text}: FROM must be above 0 and below TO")
    steps = [low * (high / low) ** (i / 4) for i in range(5)]
    return name, list(dict.fromkeys(f"{round(v)}" if high >= 5 else f"{v:.3g}" for v in steps))


def systems_for(work: str, chosen: tuple[str, ...]) -> list[str]:
    """Schemes are for workloads with marks, which STAMP has."""
    return [s for s in chosen if s in ENGINES or work.startswith("stamp-")]


def runs_of(machines: list[str], workloads: tuple[str, ...], systems: tuple[str, ...], numbers: tuple,
            sweep: tuple[str, list[str]] | None, scale: str) -> list[Run]:
    points = [numbers] if sweep is None else [numbers + ((sweep[0], v),) for v in sweep[1]]
    return [Run(w, s, m, p, scale) for m in machines for w in workloads for p in points
            for s in systems_for(w, systems)]


def _show(system: str) -> str:
    return SHOWN.get(system, system)


def tables(results: dict[Run, dict], machines: list[str], workloads: tuple[str, ...], numbers: tuple,
           sweep: tuple[str, list[str]] | None) -> list[Table]:
    made = []
    there = list(dict.fromkeys(r.system for r in results))
    order = [s for s in (*ENGINES, *SCHEMES) if s in there]
    if sweep is not None:
        for machine in machines:
            for work in workloads:
                unit = "ns" if operations(work, "quick") else "µs"
                columns = [s for s in order if any(r.work == work and r.system == s for r in results)]
                table = Table(f"{work} on {Path(machine).stem}, {unit}, over {sweep[0]}",
                              [sweep[0]] + [_show(s) for s in columns], unit)
                for value in sweep[1]:
                    row = {r.system: value_of(x) for r, x in results.items()
                           if r.machine == machine and r.work == work and (sweep[0], value) in r.numbers}
                    if row:
                        table.add(value, *[row.get(s) for s in columns])
                made.append(table)
        return made
    for machine in machines:
        table = Table(f"{Path(machine).stem}: ns of an operation; of STAMP µs of the run",
                      ["work"] + [_show(s) for s in order] + ["fastest engine"], "ns")
        table.bars = [_show(s) for s in order]
        for work in workloads:
            row = {r.system: value_of(x) for r, x in results.items() if r.machine == machine and r.work == work}
            if not row:
                continue
            engines = {s: v for s, v in row.items() if s in ENGINES}
            best = min(engines, key=engines.get) if engines else ""
            table.add(work, *[row.get(s) for s in order], best)
        made.append(table)
    return made
