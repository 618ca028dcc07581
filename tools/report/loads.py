# SPDX-License-Identifier: BSD-3-Clause
"""SpecPMT's Table 2 next to ours: the changes of STAMP's average transactions, by application."""
from __future__ import annotations

from typing import Any

import markdown
import series
from rows import Row, Rows
from stamp_plots import APPLICATIONS, LOAD


def _cells(row: Row | None) -> list[str]:
    if row is None or row.ops == 0:
        return [""] * 4
    changed, updates, new = (row.number(n) or 0.0 for n in ("changed_bytes", "updates", "new_bytes"))
    return [f"{row.ops:,}", f"{changed:.4g}", f"{updates / row.ops:.3g}", f"{new:.4g}"]


def section(rows: Rows, paper: dict[str, Any], level: str) -> str:
    own = rows.where(work=LOAD)
    stated = paper["applications"]
    lines = []
    for name in series.in_order([*stated, *own.distinct("structure")], APPLICATIONS):
        p = stated.get(name)
        theirs = [f"{p['transactions']:,}", f"{p['bytes']:g}", f"{p['updates'] / p['transactions']:.3g}"] if p else []
        lines.append([name, *_cells(own.first(structure=name)), *(theirs or [""] * 3)])
    head = ["", "transactions", "bytes changed", "updates", "bytes made", "paper: transactions", "size", "updates"]
    return (f"{level} {paper['place']}: size and number of transactions\n\n"
            + paper["about"] + "\n\n" + markdown.table(head, lines)
            + ("" if len(own) else "\nThis run has not measured ours.\n")
            + f"\nDifferences: {paper['differs']}\n\n")
