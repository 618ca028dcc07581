# SPDX-License-Identifier: BSD-3-Clause
"""A run in one table: the one that the README has."""
from __future__ import annotations

import re
from pathlib import Path

import markdown
import units
from rows import DEFAULT, PEER, PEER_HUGE, Rows

NOT_MEASURED = "not measured"
REDO = "redo-mlpc"
OBJECTS = (("allocate", "alloc", DEFAULT), ("overwrite, random", "overwrite_random", DEFAULT),
           ("change a quarter in place", "edit_in_place", DEFAULT), ("free", "free", DEFAULT),
           ("engine `redo`: overwrite, random", "overwrite_random", REDO),
           ("engine `redo`: free", "free", REDO))
MAPS = (("six maps: insert", "map_insert"), ("six maps: remove", "map_remove"), ("six maps: look up", "map_get"),
        ("YCSB-A on a hash map", "ycsb_a"))
MARK = re.compile(r"^<!-- table: (\S+) -->$", flags=re.MULTILINE)


def _ratios(own: Rows, rows: Rows, peer: str) -> list[float]:
    pairs = [(r, rows.peer(r, peer)) for r in own if r.ns > 0]
    return [p.ns / r.ns for r, p in pairs if p is not None]


def lines(rows: Rows) -> list[list[str]]:
    """Throughput over the fair peer's and over the other's, one thread."""
    out = []
    sizes = "; " + ", ".join(units.size(s) for s in sorted(rows.where(work="alloc").distinct("size")))
    one = rows.where(threads=1)
    for label, work, name in OBJECTS:
        own = Rows(sorted(one.where(work=work, name=name), key=lambda r: r.size))
        if len(own):
            cells = [", ".join(f"{x:.2f}" for x in _ratios(own, one, p)) for p in (PEER_HUGE, PEER)]
            out.append([label + sizes, *(c or NOT_MEASURED for c in cells)])
            sizes = "; the same sizes" if len(out) == 1 else ""
    for label, work in MAPS:
        own = one.where(work=work, name=DEFAULT)
        if len(own):
            found = [_ratios(own, one, p) for p in (PEER_HUGE, PEER)]
            out.append([label, *(f"{min(x):.2f} to {max(x):.2f}" if x else NOT_MEASURED for x in found)])
    return out


def table(rows: Rows) -> str:
    return markdown.table(["", "over libpmemobj in pages of 2 MiB", "over libpmemobj"], lines(rows))


def _cells(text: str) -> list[list[str]]:
    found = [[c.strip() for c in line.strip().strip("|").split("|")] for line in text.splitlines()]
    return [line for line in found if not all(set(c) <= set("-: ") and c for c in line)]


def check(page: Path, reports: Path) -> list[str]:
    """The faults of the tables that a page has from reports: after <!-- table: KIND -->. A page may
    leave out the last columns."""
    text = page.read_text(encoding="utf-8")
    wrong = []
    for mark in MARK.finditer(text):
        shown = re.match(r"\n*((?:\|.*\n)*)", text[mark.end():])[1]  # type: ignore[index]
        wanted = table(Rows.load(reports / mark[1] / "results.jsonl"))
        own, columns = _cells(shown), shown.partition("\n")[0].count("|") - 1
        if columns < 2 or own != [line[:columns] for line in _cells(wanted)]:
            wrong.append(f"{page}: the table of {mark[1]} is not that of its report, which is\n{wanted}")
    return wrong or ([] if MARK.search(text) else [f"{page} has no table of a report"])
