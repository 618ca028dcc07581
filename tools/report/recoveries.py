# SPDX-License-Identifier: BSD-3-Clause
"""Opening persist-on-write files and cleaning them: tables, curves, and the quantities with which
the time of opening varies (ENTS, Table 4)."""
from __future__ import annotations

import math
from typing import Callable

import canvas
import markdown
import series
import units
from canvas import Canvas, Picture, Point
from rows import Row, Rows
from pow_targets import BARE, CLEAN, INLINE, RECOVERY, live_rate, live_share

# The parameter that varies from one file to the next.
VARIABLES: tuple[tuple[str, Callable[[Row], float]], ...] = (
    ("size of the file", lambda r: r.number("read_per_op") or 0),
    ("size of an object", lambda r: r.size),
    ("its logarithm", lambda r: math.log2(r.size)),
    ("share that is live", live_share),
    ("threads", lambda r: r.threads),
)
PHASES = (("open", "read, test, decide"), ("load", "hand over to the program"))


def correlation(xs: list[float], ys: list[float]) -> float | None:
    """Pearson's coefficient; None where one of them does not vary."""
    if len(xs) < 2:
        return None
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    across = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    along = math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))
    return across / along if along > 0 else None


def _stage(row: Row, phase: str) -> float:
    return float((row.fields.get("stages") or {}).get(phase, 0))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def correlations(rows: Rows) -> str:
    """The correlations of each phase's time, whole and per byte of the file, with each parameter,
    next to the paper's Table 4."""
    own = [r for r in rows.where(work=RECOVERY, name=BARE) if _stage(r, "open") > 0]
    if len(own) < 3:
        return ""
    lines = []
    for phase, text in PHASES:
        for label, value in (("time", lambda r: _stage(r, phase)),
                             ("time per byte", lambda r: _stage(r, phase) / (r.number("read_per_op") or 1))):
            lines.append([f"{text}: {label}"] +
                         [_cell(correlation([f(r) for r in own], [value(r) for r in own])) for _, f in VARIABLES])
    return (markdown.table([f"{len(own)} files", *(name for name, _ in VARIABLES)], lines) +
            "\nENTS's Table 4 has three phases and other variables: tidying goes with the size of the files most, as "
            "its text says, since it reads every byte; agreeing and truncating take less than 10 µs per GB.\n")


def tables(rows: Rows, level: str) -> str:
    return _opening(rows, level) + _cleaning(rows, level)


def _opening(rows: Rows, level: str) -> str:
    own = rows.where(work=RECOVERY, system="scute")
    out = ""
    for name in own.distinct("name"):
        for threads in sorted(own.where(name=name).distinct("threads")):
            lines = []
            for r in own.where(name=name, threads=threads):
                read = rows.peer(r, "read")
                per_gb = r.ns / (r.number("read_per_op") or 1) * 1e3  # ms
                lines.append([r.structure.replace("_live_", " MiB, ").replace("m ", " ") + " % live", units.size(r.size),
                              f"{units.time(r.ns)} ±{r.spread * 50:.0f}%", units.time(_stage(r, "open")),
                              units.time(_stage(r, "load")), f"{per_gb:.0f}", f"{live_rate(r) or 0:.2f}",
                              f"{r.ns / read.ns:.1f}×" if read is not None and read.ns > 0 else ""])
            out += (f"{level} {RECOVERY}, {name}, {units.threads(threads)}\n\n" +
                    markdown.table(["file", "objects", "time", "open", "load", "ms per GB of file", "live GiB/s",
                                    "over reading it once"], lines, left=2) + "\n")
    table = correlations(rows)
    return out + (f"{level} What the time of opening goes with\n\n{table}\n" if table else "")


def _cleaning(rows: Rows, level: str) -> str:
    out = ""
    for threads in sorted(rows.where(work=CLEAN).distinct("threads")):
        here = rows.where(work=CLEAN, threads=threads)
        free = here.first(structure="live_none")
        lines = []
        for r in here:
            copied, written = r.number("bytes_metadata_per_op"), r.number("bytes_log_per_op")
            stages = r.fields.get("stages") or {}
            taken = f"{(1 - free.ns / r.ns) * 100:.0f} %" if free is not None and r is not free and r.ns > 0 else ""
            lines.append([r.structure.removeprefix("live_"), r.name, f"{units.time(r.ns)} ±{r.spread * 50:.0f}%", taken,
                          f"{copied / written:.2f}" if copied is not None and written else "",
                          f"{stages['file_per_live']:.2f}" if "file_per_live" in stages else "",
                          f"{r.number('fences_per_op') or 0:.3f}", f"{r.number('lines_per_op') or 0:.1f}"])
        out += (f"{level} {CLEAN}, {units.threads(threads)}\n\n" +
                markdown.table(["% live", "", "a section", "taken by cleaning", "copied per byte written",
                                "file per live byte", "fences", "lines"], lines, left=2) + "\n")
    return out


def curves(c: Canvas, rows: Rows) -> list[Picture]:
    return [*_recovery_curve(c, rows.where(work=RECOVERY, name=BARE)), *_clean_curve(c, rows.where(work=CLEAN))]


def _recovery_curve(c: Canvas, rows: Rows) -> list[Picture]:
    shares = sorted({live_share(r) for r in rows})
    places = {units.size(s): float(s) for s in sorted(rows.distinct("size"))}
    if not shares or len(places) < 2:
        return []
    stem = "pow-recovery"
    title = "Opening a persist-on-write file after a crash: live data per second, higher is better"
    threads = sorted(rows.distinct("threads"))
    figure, axes = c.grid(stem, title, len(threads), len(threads), 5.2, 2.9)
    largest = max(r.structure.split("m_")[0] for r in rows.filter(
        lambda r: r.number("read_per_op") == max(x.number("read_per_op") or 0 for x in rows)))
    at = rows.filter(lambda r: r.structure.startswith(f"{largest}m_"))
    names = [f"{share} % live" for share in shares]
    for a, n in zip(axes, threads):
        panel: dict[str, dict[str, Point]] = {}
        for r in at.where(threads=n):
            value = live_rate(r) or 0.0
            panel.setdefault(f"{live_share(r)} % live", {})[units.size(r.size)] = Point(value, value * r.spread / 2)
        canvas.curves(a, panel, names, places, units.brief)
        a.set_title(f"{units.threads(n)}, file of {largest} MiB")
        a.set_xlabel("size of an object")
        a.set_ylabel("GiB / s")
    canvas.legend(figure, names, lines=True)
    return [c.save(figure, stem, title, "For ENTS's Table 4, which states no times.")]


def _clean_curve(c: Canvas, rows: Rows) -> list[Picture]:
    shares = sorted({int(s.removeprefix("live_")) for s in rows.distinct("structure") if s != "live_none"})
    if len(shares) < 2:
        return []
    stem, title = "pow-clean", "Cleaning: throughput over the live share of the file, higher is better"
    threads = sorted(rows.distinct("threads"))
    figure, axes = c.grid(stem, title, len(threads), len(threads), 5.2, 2.9)
    places = {f"{s} %": float(s) for s in shares}
    for a, n in zip(axes, threads):
        at = rows.where(threads=n).filter(lambda r: r.structure != "live_none")
        canvas.curves(a, series.absolute(at, lambda r: f"{r.structure.removeprefix('live_')} %",
                                         lambda r: r.per_second / 1e6), (BARE, INLINE), places, units.brief,
                      logarithmic=False)
        free = rows.first(threads=n, structure="live_none")
        if free is not None:
            a.axhline(free.per_second / 1e6, color="black", linewidth=1.0, linestyle="--")
            a.set_ylim(0, max(a.get_ylim()[1], 1.05 * free.per_second / 1e6))
        a.set_title(units.threads(n))
        a.set_xlabel("live share")
        a.set_ylabel("M sections / s")
    canvas.legend(figure, (BARE, INLINE), lines=True)
    return [c.save(figure, stem, title, f"Sections of one object of 256 bytes. {BARE}: a thread cleans; {INLINE}: the "
                   "thread that needs room does. Dashed: no thread cleans.")]
