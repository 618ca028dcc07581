# SPDX-License-Identifier: BSD-3-Clause
"""Plots of the cost of transactions next to the peers: objects, maps, YCSB, durable records."""
from __future__ import annotations

import canvas
import series
import units
from canvas import Canvas, Picture
from rows import PEER, PEER_HUGE, Rows

OBJECTS = (("alloc", "allocate"), ("overwrite_sequential", "overwrite, sequential"),
           ("overwrite_random", "overwrite, random"), ("edit_in_place", "change a quarter in place"),
           ("free", "free"))
MAPS = (("map_insert", "insert"), ("map_get", "get"), ("map_remove", "remove"))
YCSB = {"ycsb_a": "A\n50 % upd.", "ycsb_b": "B\n5 % upd.", "ycsb_c": "C\nread",
        "ycsb_d": "D\nlatest", "ycsb_e": "E\nscan", "ycsb_f": "F\nr-m-w"}

# Not transactions, and far away: they would squeeze the rest of a linear axis.
LIMITS = ("raw-logfree", "raw-log", "raw-redo", "memcpy", "volatile")


def _peer(rows: Rows) -> str | None:
    """The fair peer where it was measured; the other one is a bar next to it then."""
    return next((p for p in (PEER_HUGE, PEER) if len(rows.where(name=p))), None)


def _caption(peer: str) -> str:
    return (f"Whiskers: the interquartile ranges of both systems together; dashed line: {peer}, "
            "which protects nothing.")


def objects(c: Canvas, rows: Rows) -> list[Picture]:
    pictures = []
    rows = rows.where(work=[w for w, _ in OBJECTS])
    for threads in rows.distinct("threads"):
        at = rows.where(threads=threads)
        peer = _peer(at)
        if peer:
            pictures.append(_objects_relative(c, at, threads, peer))
        pictures.append(_objects_absolute(c, at, threads))
    return pictures


def _objects_relative(c: Canvas, rows: Rows, threads: int, peer: str) -> Picture:
    stem, title = (f"objects-relative-{threads}t",
                   f"Object transactions, {units.threads(threads)}: throughput relative to {peer}, "
                   "higher is better")
    compared = rows.filter(lambda r: r.name not in LIMITS)
    names = [n for n in series.systems(compared) if n != peer]
    works = [w for w in OBJECTS if len(compared.where(work=w[0]))]
    figure, axes = c.grid(stem, title, 2, len(works), 5.2)
    for a, (work, label) in zip(axes, works):
        here = compared.where(work=work)
        groups = [units.size(s) for s in sorted(here.distinct("size"))]
        canvas.bars(a, series.relative(here, series.by_size, peer), names, groups, 1.0)
        a.set_title(label)
        a.set_ylabel("times")
    canvas.legend(figure, names)
    return c.save(figure, stem, title, _caption(peer))


def _objects_absolute(c: Canvas, rows: Rows, threads: int) -> Picture:
    stem, title = (f"objects-time-{threads}t",
                   f"Object transactions, {units.threads(threads)}: time per transaction, "
                   "lower is better")
    works = [w for w in OBJECTS if len(rows.where(work=w[0]))]
    names = series.systems(rows)
    figure, axes = c.grid(stem, title, 2, len(works), 5.2, 3.1)
    for a, (work, label) in zip(axes, works):
        here = rows.where(work=work)
        places = {units.size(s): float(s) for s in sorted(here.distinct("size"))}
        canvas.curves(a, series.absolute(here, series.by_size), names, places, units.time)
        a.set_title(label)
    canvas.legend(figure, names, lines=True)
    return c.save(figure, stem, title, "Both axes are logarithmic. raw-logfree, raw-log and raw-redo, "
                  "which find, verify and recover nothing, memcpy, which is not atomic, and volatile, which is "
                  "not durable, are limits and not alternatives.")


def maps(c: Canvas, rows: Rows) -> list[Picture]:
    pictures = []
    rows = rows.where(work=[w for w, _ in MAPS])
    for threads in rows.distinct("threads"):
        at = rows.where(threads=threads)
        works = [w for w in MAPS if len(at.where(work=w[0]))]
        peer = _peer(at)
        if peer:
            stem, title = (f"maps-relative-{threads}t",
                           f"Maps, {units.threads(threads)}: throughput relative to {peer}, "
                           "higher is better")
            # Look-ups are compared with the volatile version, changes with the peers alone.
            names = [n for n in series.systems(at) if n != peer]
            figure, axes = c.grid(stem, title, 1, len(works), 9.5, 2.5)
            for a, (work, label) in zip(axes, works):
                here = at.where(work=work)
                if work != "map_get":
                    here = here.filter(lambda r: r.name not in LIMITS)
                groups = series.in_order(here.distinct("structure"), series.STRUCTURES)
                shown = [n for n in names if work == "map_get" or n not in LIMITS]
                canvas.bars(a, series.relative(here, series.by_structure, peer), shown, groups, 1.0)
                a.set_title(label)
                a.set_ylabel("times")
            canvas.legend(figure, names)
            pictures.append(c.save(figure, stem, title, _caption(peer) + " The volatile version, which "
                                   "is not durable, is shown for look-ups only."))
    return pictures


def ycsb(c: Canvas, rows: Rows) -> list[Picture]:
    pictures = []
    rows = rows.where(work=list(YCSB)).filter(lambda r: r.name not in LIMITS)
    for distribution in rows.distinct("distribution"):
        here = rows.where(distribution=distribution)
        peer = _peer(here)
        kind = distribution or "any"
        stem = f"ycsb-{kind}"
        title = (f"YCSB on the hash map, {kind} keys: " +
                 (f"throughput relative to {peer}" if peer else "throughput") +
                 ", higher is better")
        names = [n for n in series.systems(here) if n != peer]
        panels = [(s, t) for s in sorted(here.distinct("size")) for t in sorted(here.distinct("threads"))
                  if len(here.where(size=s, threads=t))]
        figure, axes = c.grid(stem, title, 2, len(panels), 5.4)
        for a, (size, threads) in zip(axes, panels):
            at = here.where(size=size, threads=threads)

            def place(row):  # type: ignore[no-untyped-def]
                return YCSB[row.work]

            groups = [label for w, label in YCSB.items() if len(at.where(work=w))]
            if peer:
                canvas.bars(a, series.relative(at, place, peer), names, groups, 1.0)
                a.set_ylabel("times")
            else:
                canvas.bars(a, series.absolute(at, place, lambda r: r.per_second / 1e6), names, groups)
                a.set_ylabel("M operations / s")
            a.set_title(f"{units.size(size)} values, {units.threads(threads)}")
        canvas.legend(figure, names)
        pictures.append(c.save(figure, stem, title, _caption(peer) if peer else ""))
    return pictures


def durable(c: Canvas, rows: Rows) -> list[Picture]:
    """Single-record commits: throughput of all threads, and what 99 of 100 commits stay below."""
    pictures = []
    rows = rows.filter(lambda r: r.work.startswith("kv_"))
    for work in rows.distinct("work"):
        for medium in rows.where(work=work).distinct("file_system"):
            at = rows.where(work=work, file_system=medium)
            stem = f"{work.replace('_', '-')}" + (f"-{medium}" if medium else "")
            title = f"Durable commits of single records ({work}{', ' + medium if medium else ''})"
            names = series.systems(at)
            groups = [units.threads(t) for t in sorted(at.distinct("threads"))]
            timed = any(r.number("p99_ns") is not None for r in at)
            figure, axes = c.grid(stem, title, 2, 2 if timed else 1, 5.2, 3.0)
            canvas.bars(axes[0], series.absolute(at, series.by_threads, lambda r: r.per_second / 1e3),
                        names, groups, label_values=True, format_value=units.brief)
            axes[0].set_title("throughput, higher is better")
            axes[0].set_ylabel("thousand commits / s, all threads")
            if timed:
                tail = series.absolute(at, series.by_threads, lambda r: _micro(r.number("p99_ns")))
                canvas.bars(axes[1], _without_whiskers(tail), names, groups, label_values=True,
                            format_value=units.brief)
                axes[1].set_title("99th percentile of the latency, lower is better")
                axes[1].set_ylabel("µs")
            canvas.legend(figure, names)
            pictures.append(c.save(figure, stem, title, "The percentiles are of single commits and "
                                   "have no whiskers."))
    return pictures


def _micro(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e3


def _without_whiskers(panel: dict[str, dict[str, canvas.Point]]) -> dict[str, dict[str, canvas.Point]]:
    return {n: {g: canvas.Point(p.value) for g, p in places.items()} for n, places in panel.items()}
