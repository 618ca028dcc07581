# SPDX-License-Identifier: BSD-3-Clause
"""Tables in Markdown that also read well as plain text."""
from __future__ import annotations

from typing import Sequence


def table(head: Sequence[str], lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """The first `left` columns are aligned left, the others right."""
    cells = [[c.replace("|", "\\|") for c in line] for line in (head, *lines)]
    widths = [max(3, *(len(line[i]) for line in cells)) for i in range(len(head))]

    def draw(line: Sequence[str]) -> str:
        padded = [c.ljust(w) if i < left else c.rjust(w)
                  for i, (c, w) in enumerate(zip(line, widths))]
        return "| " + " | ".join(padded) + " |\n"

    rule = "|" + "|".join(" " + ("-" * w if i < left else "-" * (w - 1) + ":") + " "
                          for i, w in enumerate(widths)) + "|\n"
    return draw(cells[0]) + rule + "".join(draw(line) for line in cells[1:])
