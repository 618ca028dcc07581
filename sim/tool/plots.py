# SPDX-License-Identifier: BSD-3-Clause
"""Tables as pictures."""
from __future__ import annotations

from pathlib import Path

from figures import Table


def draw(table: Table, path: Path) -> None:
    """PNG. Bars by row, or lines over the first column."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [r for r in table.rows if not str(r[0]).startswith("*")]
    columns = [i for i in range(1, len(table.head))
               if all(isinstance(r[i], float) or r[i] is None for r in rows)]
    figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
    if table.bars:
        width = 0.8 / max(len(columns), 1)
        for n, column in enumerate(columns):
            axes.bar([i + (n - len(columns) / 2 + 0.5) * width for i in range(len(rows))],
                     [r[column] or 0 for r in rows], width, label=table.head[column])
        axes.set_xticks(range(len(rows)), [r[0] for r in rows], rotation=20, ha="right")
        axes.axhline(1 if table.unit == "times" else 0, color="black", linewidth=0.6)
    else:
        over = 2 if table.head[0].startswith("records") else 0
        for column in columns:
            if column == over:
                continue
            points = [(float(r[over]), r[column]) for r in rows if r[column] is not None]
            axes.plot(*zip(*points), marker="o", label=table.head[column])
        axes.set_xlabel(table.head[over])
    axes.set_title(table.title, fontsize=10)
    axes.set_ylabel(table.unit)
    axes.legend(fontsize=7, ncols=4)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
