# SPDX-License-Identifier: BSD-3-Clause
"""Plots of what protection costs and gives: bytes written, stages of a commit, policies, scrubbing,
recovery, and the kernels' thresholds."""
from __future__ import annotations

import canvas
import palette
import series
import units
from canvas import Canvas, Picture
from rows import Row, Rows

BYTES = (("data", "data, with headers"), ("parity", "parity"), ("log", "log"),
         ("metadata", "metadata"))
SCANS = (("scrub", "scrub"), ("recovery_scan", "scan after a crash"), ("check", "check"))


def bytes_written(c: Canvas, rows: Rows) -> list[Picture]:
    """CodePM's Figure 10, with the kinds of bytes."""
    at = rows.where(work="overwrite_random", threads=1).filter(
        lambda r: r.number("bytes_per_op") is not None)
    sizes = sorted(at.distinct("size"))
    if not sizes:
        return []
    stem, title = "bytes-written", "Bytes written to the medium per byte overwritten, lower is better"
    kinds = [label for kind, label in BYTES if any(r.number(f"bytes_{kind}_per_op") for r in at)]
    figure, axes = c.grid(stem, title, min(len(sizes), 4), len(sizes), 2.7, 2.9)
    for a, size in zip(axes, sizes):
        here = at.where(size=size)
        panel = {r.name: {label: (r.number(f"bytes_{kind}_per_op") or 0.0) / size
                          for kind, label in BYTES} for r in here}
        canvas.stacks(a, panel, palette.order(panel), kinds)
        a.set_title(f"{units.size(size)} objects")
        a.set_ylabel("bytes per byte")
    canvas.parts_legend(figure, kinds)
    return [c.save(figure, stem, title, "Overwrites in random order, 1 thread; as Scute counts itself.")]


def stages(c: Canvas, rows: Rows) -> list[Picture]:
    """CodePM's Figure 11: where the time of a transaction goes."""
    at = rows.where(work="stages").filter(lambda r: isinstance(r.fields.get("stages"), dict))
    sizes = sorted(at.distinct("size"))
    if not sizes:
        return []
    stem, title = "commit-stages", "Where the time of a transaction goes, lower is better"
    parts = list(dict.fromkeys(s for r in at for s in r.fields["stages"]))
    figure, axes = c.grid(stem, title, min(len(sizes), 3), len(sizes), 3.4, 3.2)
    for a, size in zip(axes, sizes):
        panel = {r.name: {s: float(v) for s, v in r.fields["stages"].items()}
                 for r in at.where(size=size)}
        canvas.stacks(a, panel, palette.order(panel), parts)
        a.set_title(f"{units.size(size)} objects")
        a.set_ylabel("ns per transaction")
    canvas.parts_legend(figure, parts)
    return [c.save(figure, stem, title, "Built-in timers, which cost a little themselves.")]


def policies(c: Canvas, rows: Rows) -> list[Picture]:
    """Pangolin's Figure 6 and Table 4."""
    at = rows.filter(lambda r: r.work.startswith("policy_"))
    if not len(at):
        return []
    stem, title = "policies", "Policies of testing checksums: what they cost and what they leave untested"
    names = series.systems(at)
    groups = [_map_name(w) for w in at.distinct("work")]

    def place(row: Row) -> str:
        return _map_name(row.work)

    figure, axes = c.grid(stem, title, 2, 2, 4.6)
    canvas.bars(axes[0], series.relative(_with_default(at), place, "default"), names, groups, 1.0)
    axes[0].set_title("throughput relative to default, higher is better")
    axes[0].set_ylabel("times")
    untested = {r.name: {} for r in at}  # type: dict[str, dict[str, canvas.Point]]
    for r in at:
        share = r.number("untested")
        if share is not None:
            untested[r.name][place(r)] = canvas.Point(share * 100)
    canvas.bars(axes[1], untested, names, groups, label_values=True, format_value=units.brief)
    axes[1].set_title("object bytes accessed untested, lower is better")
    axes[1].set_ylabel("percent")
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "Dashed line: policy default. The right side is counted in a "
                   "run of its own and has no spread.")]


def _map_name(work: str) -> str:
    return work.removeprefix("policy_")


def _with_default(rows: Rows) -> Rows:
    return rows.filter(lambda r: rows.peer(r, "default") is not None)


def scans(c: Canvas, rows: Rows) -> list[Picture]:
    """CodePM's Figure 14, for everything that reads a whole pool."""
    works = [w for w in SCANS if any(r.gb_per_s is not None for r in rows.where(work=w[0]))]
    if not works:
        return []
    stem, title = "scans", "Reading whole pools: throughput, higher is better"
    at = rows.where(work=[w for w, _ in works])
    names = series.systems(at)
    figure, axes = c.grid(stem, title, len(works), len(works), 4.2, 3.0)
    for a, (work, label) in zip(axes, works):
        here = at.where(work=work)
        several = len(here.distinct("size")) > 1

        def place(row: Row) -> str:
            return (f"{units.size(row.size)}\n" if several else "") + units.threads(row.threads)

        ordered = sorted(here, key=lambda r: (r.size, r.threads))
        groups = list(dict.fromkeys(place(r) for r in ordered))
        canvas.bars(a, series.absolute(here, place, lambda r: r.gb_per_s), names, groups)
        a.set_title(label + (", by size of object" if several else ""))
        a.set_ylabel("GB/s")
        if len(groups) > 4:
            a.tick_params(axis="x", labelsize=7)
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "`read` reads as many bytes once, with as many threads: the "
                   "limit.")]


def opening(c: Canvas, rows: Rows) -> list[Picture]:
    works = [w for w in ("open_clean", "open_clean_empty", "recovery_open") if len(rows.where(work=w))]
    if not works:
        return []
    at = rows.where(work=works)
    stem, title = "opening", "Opening a pool: time until it can be used, lower is better"
    names = series.systems(at)
    figure, axes = c.grid(stem, title, 1, 1, 7.5, 3.0)
    groups = [f"{w}\n{units.size(at.where(work=w)[0].size)}" for w in works]

    def place(row: Row) -> str:
        return groups[works.index(row.work)]

    canvas.bars(axes[0], series.absolute(at, place, lambda r: r.ns / 1e6), names, groups,
                label_values=True)
    axes[0].set_ylabel("ms")
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "The pools are sparse files.")]


def kernels(c: Canvas, rows: Rows) -> list[Picture]:
    pictures = []
    for work, label in (("parity", "Changing parity"), ("medium", "Writing bytes and waiting for them")):
        at = rows.where(work=work)
        if not len(at):
            continue
        stem, title = f"kernel-{work}", f"{label}: time by size, lower is better"
        threads = sorted(at.distinct("threads"))
        names = series.systems(at)
        figure, axes = c.grid(stem, title, 2, len(threads), 5.2, 3.2)
        for a, n in zip(axes, threads):
            here = at.where(threads=n)
            places = {units.size(s): float(s) for s in sorted(here.distinct("size"))}
            canvas.curves(a, series.absolute(here, series.by_size), names, places, units.time)
            a.set_title(units.threads(n))
        canvas.legend(figure, names, lines=True)
        pictures.append(c.save(figure, stem, title, "Where two ways cross, the library changes from "
                               "one to the other. Both axes are logarithmic."))
    return pictures
