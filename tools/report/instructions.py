# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per operation, which are the same on every processor: tests/instructions counts them, and a run
keeps what they were in its tree."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import markdown
from verdict import Verdict

FILE = "instructions.txt"  # in a report's folder, a copy of tests/instructions/golden.txt
ENGINES = ("logfree", "redo")
# What the default engine is to need at most.
GOALS = {"overwrite 64": 1000, "overwrite 256": 1400, "overwrite 3 of 64": 2300, "map insert": 3500}


@dataclass(frozen=True)
class Counts:
    """of[operation][engine]; how: compiler and kernels."""
    how: str = ""
    of: dict[str, dict[str, int]] = field(default_factory=dict)


def load(path: Path) -> Counts:
    """A file that is not there holds no counts."""
    if not path.is_file():
        return Counts()
    head, _, *lines = path.read_text(encoding="utf-8").splitlines()
    of = {}
    for line in filter(str.strip, lines):
        operation, *counts = line.rsplit(maxsplit=len(ENGINES))
        of[operation.strip()] = dict(zip(ENGINES, map(int, counts)))
    return Counts(head.lstrip("# ").split(":")[0], of)


def verdicts(counts: Counts) -> list[Verdict]:
    return [Verdict(f"instructions {operation}", f"engine {ENGINES[0]}", float(goal),
                    counts.of.get(operation, {}).get(ENGINES[0]), at_most=True, unit="", digits=0)
            for operation, goal in GOALS.items()]


def table(counts: Counts) -> str:
    judged = {v.ident.removeprefix("instructions "): v for v in verdicts(counts)}
    lines = []
    for operation in dict.fromkeys([*counts.of, *GOALS]):
        v = judged.get(operation)
        lines.append([operation, *(str(counts.of.get(operation, {}).get(e, "not counted")) for e in ENGINES),
                      *((f"≤ {v.wanted:g}", v.word()) if v else ("", ""))])
    return markdown.table(["", *ENGINES, f"wanted of {ENGINES[0]}", ""], lines)
