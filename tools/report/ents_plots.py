# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the benchmarks of the ENTS paper: its Figures 2 to 7."""
from __future__ import annotations

import canvas
import series
import units
from canvas import Canvas, Picture, Point
from ratio import Ratio
from rows import Row, Rows

FLOOR = "raw-pow"
STORE = "pow-none"  # as little protected as the paper's
BASES = (STORE, FLOOR)
VOLATILE = "volatile"
EADR = "-eadr"

READS = "ents_read_update"
WORKS = (READS, "ents_insert_remove", "ents_tatp", "ents_tpcc")
LEVELS = (("ents_level_50", "half look-ups"), ("ents_level_95", "95 % look-ups"))
# The paper's names, and what it ran of TATP and TPC-C first.
LABELS = {"bplus_tree": "B+ tree", "rbtree": "RB tree", "hashmap": "hash map", "skiplist": "skip list",
          "location_of_one": "TATP\nas ENTS", "location": "TATP\nlocation", "whole": "TATP\nwhole",
          "orders": "TPC-C\nas ENTS", "whole_w1": "TPC-C\n1 wh.", "whole_w2": "TPC-C\n2 wh."}


def variants(base: str) -> tuple[str, ...]:
    """Those of Figure 5, and of Figure 6 each with "-padded" after it."""
    return (base, f"{base}-cached", f"{base}-medium", f"{base}-medium-cached")


def label(row: Row) -> str:
    return LABELS.get(row.structure, row.structure)


def _labels(rows: Rows) -> list[str]:
    return series.in_order([label(r) for r in rows], LABELS.values())


def _main(rows: Rows) -> Rows:
    """Without the variants that Figures 5 and 6 are about."""
    return rows.filter(lambda r: not any(r.name.startswith(f"{base}-") for base in BASES))


def works(c: Canvas, rows: Rows) -> list[Picture]:
    rows = rows.where(work=list(WORKS))
    return [*_single(c, _main(rows)), *_threads(c, _main(rows)),
            *(p for base in BASES for p in (*_variants(c, rows, base), *_padding(c, rows, base)))]


def _panels(rows: Rows) -> list[tuple[str, Rows]]:
    """Panels of look-ups and updates with TATP and TPC-C, as in the paper, and of insertions and
    removals; one for each size of values."""
    out = []
    for work, text in ((READS, "half look-ups, half updates; transactions"),
                       ("ents_insert_remove", "half insertions, half removals")):
        for size in sorted(rows.where(work=work).distinct("size")):
            here = rows.filter(lambda r: r.work == work and r.size == size or
                               work == READS and size == 8 and r.work in ("ents_tatp", "ents_tpcc"))
            out.append((f"{text}, values of {units.size(size)}" if text else text, here))
    return out


def _single(c: Canvas, rows: Rows) -> list[Picture]:
    at = rows.where(threads=1)
    panels = _panels(at)
    if not len(at.where(name=VOLATILE)) or not panels:
        return []
    stem, title = "ents-1t", "Works of ENTS, 1 thread: throughput relative to the volatile version, higher is better"
    names = [n for n in series.systems(at) if n != VOLATILE]
    figure, axes = c.grid(stem, title, 1, len(panels), 10.5, 2.6)
    for a, (text, here) in zip(axes, panels):
        canvas.bars(a, series.relative(here, label, VOLATILE), names, _labels(here), 1.0)
        a.set_title(text)
        a.set_ylabel("times")
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "ENTS's Figure 2 (its own bars are some 0.65 high, libpmemobj's 0.3). raw-pow is "
                   "the floor of a log of whole objects: it recovers, checks and cleans nothing.")]


def _threads(c: Canvas, rows: Rows) -> list[Picture]:
    one = rows.where(threads=1)
    several = [(n, *panel) for n in sorted(rows.distinct("threads")) if n != 1
               for panel in _panels(rows.where(threads=n))]
    if not len(one) or not several:
        return []
    stem, title = "ents-threads", "Works of ENTS: throughput of all threads over that of one, higher is better"
    names = series.systems(rows)
    figure, axes = c.grid(stem, title, 1, len(several), 10.5, 2.4)
    for a, (threads, text, here) in zip(axes, several):
        found: dict[str, dict[str, Point]] = {}
        for row in here:
            alone = one.first(work=row.work, structure=row.structure, size=row.size, name=row.name)
            if alone is not None and alone.ns > 0 and row.ns > 0:
                ratio = Ratio.throughput(row, alone)  # of one of the threads
                found.setdefault(row.name, {})[label(row)] = Point(ratio.value * threads, ratio.half * threads)
        canvas.bars(a, found, names, _labels(here), float(threads))
        a.set_title(f"{units.threads(threads)}: {text}")
        a.set_ylabel("times")
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "ENTS's Figure 4. Dashed line: as many times as there are threads.")]


def _variants(c: Canvas, rows: Rows, base: str) -> list[Picture]:
    at = rows.where(threads=1, name=list(variants(base)))
    panels = _panels(at)
    if len(at.distinct("name")) < 2 or not panels:
        return []
    stem = f"ents-variants-{base}"
    title = f"Ways to write a log of whole objects: throughput relative to {base}, higher is better"
    names = [n for n in variants(base) if n != base]
    figure, axes = c.grid(stem, title, 1, len(panels), 10.5, 2.4)
    for a, (text, here) in zip(axes, panels):
        canvas.bars(a, series.relative(here, label, base), names, _labels(here), 1.0)
        a.set_title(text)
        a.set_ylabel("times")
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "ENTS's Figure 5: -cached is its TSFF (cached stores, write-backs, a fence), "
                   f"-medium has the program's objects in a file as well. {_kind(base)}")]


def _kind(base: str) -> str:
    return ("It is the store itself." if base == STORE else
            "It is the floor of one, which recovers, checks, undoes and cleans nothing.")


def _padding(c: Canvas, rows: Rows, base: str) -> list[Picture]:
    at = rows.where(threads=1)
    panels = _panels(at)
    if not len(at.where(name=f"{base}-padded")) or not panels:
        return []
    stem = f"ents-padding-{base}"
    title = f"{base}, objects in whole cache lines: throughput over that without, higher is better"
    figure, axes = c.grid(stem, title, 1, len(panels), 10.5, 2.4)
    for a, (text, here) in zip(axes, panels):
        found: dict[str, dict[str, Point]] = {}
        for variant in variants(base):
            for row in here.where(name=f"{variant}-padded"):
                plain = here.peer(row, variant)
                if plain is not None and plain.ns > 0 and row.ns > 0:
                    ratio = Ratio.throughput(row, plain)
                    found.setdefault(variant, {})[label(row)] = Point(ratio.value, ratio.half)
        canvas.bars(a, found, variants(base), _labels(here), 1.0)
        a.set_title(text)
        a.set_ylabel("times")
    canvas.legend(figure, variants(base))
    return [c.save(figure, stem, title, f"ENTS's Figure 6. {_kind(base)}")]


def eadr(c: Canvas, rows: Rows) -> list[Picture]:
    """The gain from leaving write-backs out."""
    names = [n for n in series.systems(rows) if not n.endswith(EADR) and len(rows.where(name=n + EADR))]
    panels = [(text, rows.filter(fits)) for text, fits in (
        ("half look-ups; transactions", lambda r: not r.work.startswith("eadr_level")),
        ("level hashing, half look-ups", lambda r: r.work == "eadr_level_50"),
        ("level hashing, 95 % look-ups", lambda r: r.work == "eadr_level_95"))]
    panels = [(text, here) for text, here in panels if len(here)]
    if not names or not panels:
        return []
    stem, title = "ents-eadr", "Write-backs left out: throughput over that with them, higher is better"
    figure, axes = c.grid(stem, title, 1, len(panels), 10.5, 2.4)
    for a, (text, here) in zip(axes, panels):
        found: dict[str, dict[str, Point]] = {}
        for name in names:
            for row in here.where(name=name + EADR):
                plain = here.peer(row, name)
                if plain is not None and plain.ns > 0 and row.ns > 0:
                    ratio = Ratio.throughput(row, plain)
                    found.setdefault(name, {})[_eadr_label(row)] = Point(ratio.value, ratio.half)
        places = list(dict.fromkeys(_eadr_label(r) for r in here))
        canvas.bars(a, found, names, places, 1.0)
        a.set_title(text)
        a.set_ylabel("times")
    canvas.legend(figure, names)
    return [c.save(figure, stem, title, "ENTS's Figure 3: eADR as the paper emulates it. raw-pow and volatile have no "
                   "write-backs to leave out: what they show is the noise of two processes.")]


def _eadr_label(row: Row) -> str:
    if not row.structure.startswith("load_"):
        return label(row)
    return f"{float(row.structure.removeprefix('load_')) / 100:g}\n{row.distribution}"


def level(c: Canvas, rows: Rows) -> list[Picture]:
    """Throughput over the load factor, for the four settings of YCSB and for the insertions between
    them."""
    padded = [f"{base}-padded" for base in BASES]
    rows = rows.filter(lambda r: r.name in padded or not any(r.name.startswith(f"{base}-") for base in BASES))
    loads = {name: float(name.removeprefix("load_")) / 100 for name in rows.distinct("structure")}
    places = {f"{x:g}": x for x in sorted(loads.values())}
    panels = [(f"{text}, {how}", rows.where(work=work, distribution=how)) for work, text in LEVELS
              for how in ("zipfian", "uniform")]
    panels.append(("insertions", rows.where(work="ents_level_insert")))
    panels = [(text, here) for text, here in panels if len(here)]
    if not panels:
        return []
    stem, title = "ents-level", "Level hashing under YCSB: throughput over the load factor, higher is better"
    names = series.systems(rows)
    figure, axes = c.grid(stem, title, 2, len(panels), 5.2, 2.9)
    for a, (text, here) in zip(axes, panels):
        canvas.curves(a, series.absolute(here, lambda r: f"{loads[r.structure]:g}", lambda r: r.per_second / 1e6),
                      names, places, units.brief, logarithmic=False)
        a.set_title(text)
        a.set_xlabel("load factor")
        a.set_ylabel("M / s")
    canvas.legend(figure, names, lines=True)
    return [c.save(figure, stem, title, "ENTS's Figure 7. level-in-place is level hashing as its own paper has it for "
                   "persistent memory; -padded stands for ENTS.OPT.")]
