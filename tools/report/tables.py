# SPDX-License-Identifier: BSD-3-Clause
"""The rows as tables: systems down, places (sizes, structures, workloads) across."""
from __future__ import annotations

from typing import Iterable

import markdown
import series
import units
from ratio import Ratio
from rows import PEER, PEER_HUGE, Row, Rows
from series import Place
from stamp_plots import APPLICATIONS, RUN


def cell(row: Row, rows: Rows) -> str:
    """Time, spread, and the throughput relative to the fair peer and, in brackets, to the other
    one."""
    out = f"{units.time(row.ns)} ±{row.spread * 50:.0f}%"
    if row.gb_per_s is not None:
        out += f", {row.gb_per_s:.2f} GB/s"
    if row.number("untested") is not None:
        out += f", {row.number('untested') * 100:.1f} % untested"  # type: ignore[operator]
    deferred = row.number("deferred_ns_per_op")
    if deferred is not None and deferred >= row.ns / 100:
        out += f", {units.time(deferred)} deferred"
    if row.number("p50_ns") is not None and row.number("p99_ns") is not None:
        out += (f", p50 {units.time(row.number('p50_ns'))}"  # type: ignore[arg-type]
                f", p99 {units.time(row.number('p99_ns'))}")  # type: ignore[arg-type]
    for name, before, behind in ((PEER_HUGE, "**", "**"), (PEER, "(", ")")):
        peer = rows.peer(row, name)
        if peer is not None and peer is not row and row.ns > 0:
            out += f" {before}{Ratio.throughput(row, peer).value:.2f}×{behind}"
    return out


def across(rows: Rows, place: Place, places: list[str]) -> str:
    """One table. A place that a system has no row for stays empty."""
    named = series.labels(rows)
    lines = []
    for system in series.systems(rows):
        line = [system]
        for p in places:
            found = [r for r in rows if named[r] == system and place(r) == p]
            line.append(cell(found[0], rows) if found else "")
        lines.append(line)
    return markdown.table(["", *(p.replace("\n", " ") for p in places)], lines)


def counters(rows: Rows, place: Place, places: list[str]) -> str:
    """Fences / cache lines / bytes per operation, of the systems that count; "" if none does."""
    lines = []
    named = series.labels(rows)
    for system in series.systems(rows):
        line = [system]
        for p in places:
            found = [r for r in rows if named[r] == system and place(r) == p
                     and r.number("fences_per_op") is not None]
            line.append(f"{found[0].number('fences_per_op'):.4g} / "
                        f"{found[0].number('lines_per_op'):.4g} / "
                        f"{found[0].number('bytes_per_op'):.5g}" if found else "")
        if any(line[1:]):
            lines.append(line)
    if not lines:
        return ""
    return ("Fences / cache lines / bytes per operation:\n\n"
            + markdown.table(["", *(p.replace("\n", " ") for p in places)], lines))


def by_size(rows: Rows, level: str) -> str:
    """For each work and number of threads a table with the sizes across."""
    out = ""
    for work in rows.distinct("work"):
        for threads in rows.where(work=work).distinct("threads"):
            here = rows.where(work=work, threads=threads)
            places = [units.size(s) for s in sorted(here.distinct("size"))]
            out += _section(level, f"{work}, {units.threads(threads)}", here, series.by_size, places)
    return out


def by_structure(rows: Rows, level: str, known: Iterable[str] = series.STRUCTURES) -> str:
    out = ""
    for work in rows.distinct("work"):
        for threads in rows.where(work=work).distinct("threads"):
            here = rows.where(work=work, threads=threads)
            places = series.in_order(here.distinct("structure"), known)
            out += _section(level, f"{work}, {units.threads(threads)}", here, series.by_structure,
                            places)
    return out


def applications(rows: Rows, level: str) -> str:
    """STAMP's. The changes of its transactions are next to the paper's table (loads.py)."""
    return by_structure(rows.where(work=RUN), level, APPLICATIONS)


def by_cell(rows: Rows, level: str) -> str:
    """The structures across, a table for each work, number of threads, size and distribution."""
    out = ""
    for work in rows.distinct("work"):
        for threads in rows.where(work=work).distinct("threads"):
            for distribution in rows.where(work=work, threads=threads).distinct("distribution"):
                at = rows.where(work=work, threads=threads, distribution=distribution)
                for size in sorted(at.distinct("size")):
                    here = at.where(size=size)
                    head = f"{work}, {units.threads(threads)}" + (f", {distribution}" if distribution else "")
                    if len(at.distinct("size")) > 1:
                        head += f", {units.size(size)}"
                    out += _section(level, head, here, series.by_structure, here.distinct("structure"))
    return out


def by_work(rows: Rows, level: str) -> str:
    """YCSB: the workloads across, a table for each size, distribution and number of threads."""
    out = ""
    for distribution in rows.distinct("distribution"):
        for size in sorted(rows.where(distribution=distribution).distinct("size")):
            at = rows.where(distribution=distribution, size=size)
            for threads in sorted(at.distinct("threads")):
                here = at.where(threads=threads)
                head = f"YCSB, {units.size(size)} values, {distribution} keys, {units.threads(threads)}"
                out += _section(level, head, here, lambda r: r.work, sorted(here.distinct("work")))
    return out


def by_threads(rows: Rows, level: str) -> str:
    """The threads across, a table for each work, size and medium."""
    out = ""
    for work in rows.distinct("work"):
        for size in sorted(rows.where(work=work).distinct("size")):
            at = rows.where(work=work, size=size)
            for medium in at.distinct("file_system"):
                here = at.where(file_system=medium)
                places = [units.threads(t) for t in sorted(here.distinct("threads"))]
                head = f"{work}, {units.size(size)}" + (f", on {medium}" if medium else "")
                out += _section(level, head, here, series.by_threads, places)
    return out


def stages(rows: Rows, level: str) -> str:
    """The stages down, the systems across, in ns; a table for each size."""
    out = ""
    for size in sorted(rows.distinct("size")):
        here = rows.where(size=size).filter(lambda r: isinstance(r.fields.get("stages"), dict))
        names = series.systems(here)
        parts = list(dict.fromkeys(s for r in here for s in r.fields["stages"]))
        found = {r.name: r.fields["stages"] for r in here}
        lines = [[p] + [f"{found[n][p]:.0f}" if p in found[n] else "" for n in names] for p in parts]
        lines.append(["together"] + [f"{sum(found[n].values()):.0f}" for n in names])
        out += f"{level} stages, {units.size(size)}, ns\n\n" + markdown.table(["", *names], lines) + "\n"
    return out


def _section(level: str, head: str, rows: Rows, place: Place, places: list[str]) -> str:
    counted = counters(rows, place, places)
    return (f"{level} {head}\n\n{across(rows, place, places)}\n"
            + (counted + "\n" if counted else ""))
