# SPDX-License-Identifier: BSD-3-Clause
"""Pangolin's Table 3 next to ours: bytes and objects that a transaction allocates and modifies."""
from __future__ import annotations

from typing import Any

import markdown
import series
from rows import Row, Rows

CELLS = (("insert_new", "insert, new"), ("insert_mod", "insert, modified"),
         ("remove_new", "remove, new"), ("remove_mod", "remove, modified"))


def _pair(row: Row | None, cell: str) -> str:
    """A footprint row has the fields insert_new_bytes, insert_new_objects and so on."""
    if row is None:
        return ""
    size, objects = row.number(f"{cell}_bytes"), row.number(f"{cell}_objects")
    return "" if size is None or objects is None else _show(size, objects)


def _show(size: float, objects: float) -> str:
    return f"{size:.4g} ({objects:.2f})"


def section(rows: Rows, paper: dict[str, Any], level: str) -> str:
    own = rows.where(work="table3")
    names = series.in_order([*paper["structures"], *own.distinct("structure")], series.STRUCTURES)
    lines = []
    for cell, label in CELLS:
        lines.append([f"{label}, paper"]
                     + [_show(*paper["structures"][n][cell]) if n in paper["structures"] else ""
                        for n in names])
        for config in own.distinct("name"):
            lines.append([f"{label}, {config}"]
                         + [_pair(own.first(structure=n, name=config), cell) for n in names])
    head = [f"{n}, {paper['structures'][n]['object']} B" if n in paper["structures"] else n
            for n in names]
    return (f"{level} {paper['place']}: data structures and transaction sizes\n\n"
            f"Bytes and, in parentheses, objects {paper['about'].split(':')[0]}.\n\n"
            + markdown.table(["", *head], lines)
            + ("" if len(own) else "\nThis run has not measured ours.\n")
            + "\nDifferences: the structures are written for this library, with 8-byte pointers, and change single "
              "fields; the sizes of their nodes are the paper's. Ours are counted by what a map asks of its "
              "store, which is the same for every system.\n\n")
