# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per operation, which are the same on every processor: tests/instructions counts them, and a run
keeps what they were in its tree."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import markdown
from verdict import Verdict

FILE = "instructions.txt"  # in a report's folder, a copy of tests/instructions/golden.txt
DEFAULT = "logfree"
# What the default engine is to need at most.
GOALS = {"overwrite 64": 1000, "overwrite 256": 1400, "overwrite 3 of 64": 2300, "map insert": 3500}


@dataclass(frozen=True)
class Counts:
    """of[operation][engine]; how: compiler and kernels; engines: in the order of the file."""
    how: str = ""
    engines: tuple[str, ...] = (DEFAULT,)
    of: dict[str, dict[str, int]] = field(default_factory=dict)


def load(path: Path) -> Counts:
    """A file that is not there holds no counts."""
    if not path.is_file():
        return Counts()
    head, columns, *lines = path.read_text(encoding="utf-8").splitlines()
    engines = tuple(columns.split()[1:])
    of = {}
    for line in filter(str.strip, lines):
        operation, *counts = line.rsplit(maxsplit=len(engines))
        of[operation.strip()] = dict(zip(engines, map(int, counts)))
    return Counts(head.lstrip("# ").split(":")[0], engines, of)


def verdicts(counts: Counts) -> list[Verdict]:
    return [Verdict(f"instructions {operation}", f"engine {DEFAULT}", float(goal),
                    counts.of.get(operation, {}).get(DEFAULT), at_most=True, unit="", digits=0)
            for operation, goal in GOALS.items()]


def table(counts: Counts) -> str:
    judged = {v.ident.removeprefix("instructions "): v for v in verdicts(counts)}
    lines = []
    for operation in dict.fromkeys([*counts.of, *GOALS]):
        v = judged.get(operation)
        lines.append([operation, *(str(counts.of.get(operation, {}).get(e, "not counted")) for e in counts.engines),
                      *((f"≤ {v.wanted:g}", v.word()) if v else ("", ""))])
    return markdown.table(["", *counts.engines, f"wanted of {DEFAULT}", ""], lines)
