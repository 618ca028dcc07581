# SPDX-License-Identifier: BSD-3-Clause
"""Plots of STAMP, as the SpecPMT paper has them: speed-up over libpmemobj (Figure 12), time over
the volatile version's (Figure 1), bytes written (Figure 14), throughput over the cap of the log
(after Figure 15)."""
from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

import canvas
import palette
import series
import units
from canvas import Canvas, Panel, Picture, Point
from ratio import geometric_mean
from rows import PEER, PEER_HUGE, Row, Rows

RUN, LOAD, CAP = "stamp", "stamp_load", "stamp_cap"
APPLICATIONS = ("genome", "intruder", "kmeans-low", "kmeans-high", "labyrinth", "ssca2", "vacation-low",
                "vacation-high", "yada")
MEAN = "mean"
FLOOR = "volatile"
# Not durable, or not atomic: no alternatives.
LIMITS = (FLOOR, "no-log")
BYTES = (("data", "data, with headers"), ("parity", "parity"), ("log", "log"),
         ("metadata", "metadata"))


def _with_mean(panel: Panel, groups: list[str]) -> dict[str, dict[str, Point]]:
    """Next to the applications their geometric mean, of systems that have all of them."""
    out = {name: dict(places) for name, places in panel.items()}
    for places in out.values():
        if all(g in places for g in groups):
            mean = geometric_mean(places[g].value for g in groups)
            if mean is not None:
                places[MEAN] = Point(mean)
    return out


def _labels(groups: list[str]) -> list[str]:
    return [g.replace("-", "\n") for g in groups]


def _logarithmic(axes: Axes, low: float, high: float) -> None:
    axes.set_yscale("log")
    ticks = [m * 10.0**e for e in range(-1, 6) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(low, high)


def _bars(c: Canvas, rows: Rows, stem: str, title: str, against: str, inverse: bool, names: list[str],
          label: str, caption: str) -> list[Picture]:
    """A panel for each number of threads. inverse: the quotient of times, not of throughputs."""
    at = rows.where(work=RUN)
    threads = [t for t in sorted(at.distinct("threads")) if len(at.where(threads=t, name=against))]
    if not threads:
        return []
    figure, axes = c.grid(stem, title, 1, len(threads), 12.0, 3.2)
    shown: list[str] = []
    for a, n in zip(axes, threads):
        here = at.where(threads=n)
        groups = series.in_order(here.distinct("structure"), APPLICATIONS)
        panel: Panel = series.relative(here, series.by_structure, against)
        if inverse:
            panel = {s: {g: Point(1 / p.value, p.half / p.value**2) for g, p in places.items()}
                     for s, places in panel.items()}
        panel = _with_mean({s: panel[s] for s in names if s in panel}, groups)
        shown += [s for s in names if s in panel and s not in shown]
        canvas.bars(a, panel, names, [*groups, MEAN], 1.0)
        a.set_xticks(range(len(groups) + 1), _labels([*groups, MEAN]))
        if inverse:
            values = [p.value for places in panel.values() for p in places.values()]
            _logarithmic(a, min(0.9, *values), max(2.0, *values) * 1.15)
        a.set_title(units.threads(n))
        a.set_ylabel(label)
    canvas.legend(figure, shown)
    return [c.save(figure, stem, title, caption)]


def speedup(c: Canvas, rows: Rows) -> list[Picture]:
    at = rows.where(work=RUN)
    peer = next((p for p in (PEER_HUGE, PEER) if len(at.where(name=p))), None)
    if peer is None:
        return []
    names = [n for n in series.systems(at) if n != peer and n not in LIMITS]
    return _bars(c, rows, "stamp-speedup", f"STAMP: throughput relative to {peer}, higher is better", peer,
                 False, names, "times", "As Figure 12 of the SpecPMT paper; mean: the geometric one.")


def overhead(c: Canvas, rows: Rows) -> list[Picture]:
    names = [n for n in series.systems(rows.where(work=RUN)) if n != FLOOR]
    return _bars(c, rows, "stamp-overhead", "STAMP: time over the volatile version's, lower is better", FLOOR,
                 True, names, "times", "As Figure 1 of the SpecPMT paper, on a logarithmic axis; mean: the geometric "
                 "one. no-log flushes what was stored, and is not atomic.")


def bytes_written(c: Canvas, rows: Rows) -> list[Picture]:
    """Of systems that count, over the bytes that an application's transactions change and make."""
    at = rows.where(work=RUN, threads=1).filter(lambda r: r.number("bytes_per_op") is not None)
    wanted = {r.structure: _asked_for(r) for r in rows.where(work=LOAD)}
    groups = [g for g in series.in_order(at.distinct("structure"), APPLICATIONS) if wanted.get(g)]
    if not groups:
        return []
    stem, title = ("stamp-bytes", "STAMP: bytes written to the medium per byte that a transaction changes or "
                   "makes, lower is better")
    kinds = [label for kind, label in BYTES if any(r.number(f"bytes_{kind}_per_op") for r in at)]
    figure, axes = c.grid(stem, title, min(len(groups), 5), len(groups), 2.7, 2.9)
    for a, group in zip(axes, groups):
        panel = {r.name: {label: (r.number(f"bytes_{kind}_per_op") or 0.0) / wanted[group]
                          for kind, label in BYTES} for r in at.where(structure=group)}
        canvas.stacks(a, panel, palette.order(panel), kinds)
        a.axhline(1.0, color="black", linewidth=1.0, linestyle="--", zorder=3)
        a.set_title(group)
        a.set_ylabel("bytes per byte")
    canvas.parts_legend(figure, kinds)
    return [c.save(figure, stem, title, "As Figure 14 of the SpecPMT paper, which simulates hardware; 1 thread, as "
                   "Scute counts itself. Dashed line: each of those bytes written once.")]


def _asked_for(load: Row) -> float:
    return (load.number("changed_bytes") or 0.0) + (load.number("new_bytes") or 0.0)


def log_cap(c: Canvas, rows: Rows) -> list[Picture]:
    """Against the largest log."""
    at = rows.where(work=CAP)
    caps = palette.order(at.distinct("config"))
    if len(caps) < 2:
        return []
    stem, title = ("stamp-cap", f"STAMP: throughput over the cap of the speculative log, relative to {caps[-1]}, "
                   "higher is better")
    groups = series.in_order(at.distinct("structure"), APPLICATIONS)
    panel = _with_mean(series.relative(at, series.by_structure, caps[-1]), groups)
    figure, (a,) = c.grid(stem, title, 1, 1, 12.0, 3.2)
    names = [n for n in caps if n in panel]
    canvas.bars(a, panel, names, [*groups, MEAN], 1.0)
    a.set_xticks(range(len(groups) + 1), _labels([*groups, MEAN]))
    a.set_ylabel("times")
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "After Figure 15 of the SpecPMT paper, which varies the size of epochs in "
                   "simulated hardware; 1 thread, nothing protected.")]
