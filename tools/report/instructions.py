# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per operation, which are the same on every processor. tests/instructions counts
them, and a run keeps the counts of its tree."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import markdown
from target_result import TargetResult

FILE = "instructions.txt"  # in a report's folder, a copy of tests/instructions/golden.txt
DEFAULT = "logfree"
# The most that the default engine may need.
GOALS = {"overwrite 64": 1000, "overwrite 256": 1400, "overwrite 3 of 64": 2300, "map insert": 3500}


@dataclass(frozen=True)
class Counts:
    """of[operation][engine], sections[section][protection]; how: compiler and kernels; engines and
    protections: in the order of the file."""
    how: str = ""
    engines: tuple[str, ...] = (DEFAULT,)
    of: dict[str, dict[str, int]] = field(default_factory=dict)
    protections: tuple[str, ...] = ()
    sections: dict[str, dict[str, int]] = field(default_factory=dict)


def load(path: Path) -> Counts:
    """A file that is not there holds no counts."""
    if not path.is_file():
        return Counts()
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    second = next((i for i, line in enumerate(lines) if line.startswith("sections ")), len(lines))
    engines, of = _table(lines[:second])
    protections, sections = _table(lines[second:])
    return Counts(head.lstrip("# ").split(":")[0], engines, of, protections, sections)


def _table(lines: list[str]) -> tuple[tuple[str, ...], dict[str, dict[str, int]]]:
    """Names of the columns, and the counts of each line."""
    if not lines:
        return (), {}
    columns = tuple(lines[0].split()[1:])
    counts = {}
    for line in filter(str.strip, lines[1:]):
        name, *numbers = line.rsplit(maxsplit=len(columns))
        counts[name.strip()] = dict(zip(columns, map(int, numbers)))
    return columns, counts


def target_results(counts: Counts) -> list[TargetResult]:
    return [TargetResult(f"instructions {operation}", f"engine {DEFAULT}", float(goal),
                    counts.of.get(operation, {}).get(DEFAULT), at_most=True, unit="", digits=0)
            for operation, goal in GOALS.items()]


def table(counts: Counts) -> str:
    judged = {v.ident.removeprefix("instructions "): v for v in target_results(counts)}
    lines = []
    for operation in dict.fromkeys([*counts.of, *GOALS]):
        v = judged.get(operation)
        lines.append([operation, *(str(counts.of.get(operation, {}).get(e, "not counted")) for e in counts.engines),
                      *((f"≤ {v.wanted:g}", v.word()) if v else ("", ""))])
    out = markdown.table(["", *counts.engines, f"wanted of {DEFAULT}", ""], lines)
    if counts.sections:
        out += "\nSections of a persist-on-write store, by protection:\n\n" + markdown.table(
            ["", *counts.protections],
            [[name, *(str(of[p]) for p in counts.protections)] for name, of in counts.sections.items()])
    return out
