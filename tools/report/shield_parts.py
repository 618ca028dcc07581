# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a shielded program goes: differences of runs that leave parts out."""
from __future__ import annotations

from dataclasses import dataclass

from shield_rows import PLAIN, Results, spread

SET = "schemes"
# A part, and the configuration that has it on top of the one before.
PARTS = (
    ("the program", PLAIN),
    ("interposed calls", "interposed"),
    ("view, cuts, one log", "redo-none"),
    ("second copy of the log", "redo-ml"),
    ("parity", "redo-mlp"),
    ("checksums", "redo-mlpc"),
)
COMMIT = "view, cuts, commits of logfree"
DEFAULT = "logfree-mlpc"


@dataclass(frozen=True)
class Column:
    """Parts in units of the unprotected program's time."""
    work: tuple[str, str]
    engine: str
    parts: dict[str, float]

    @property
    def name(self) -> str:
        return f"{self.work[1]}, {self.engine}"


def _levels(results: Results, work: tuple[str, str], configs: list[str]) -> list[float] | None:
    """How many times the plain program's, by medians: differences of them add up."""
    cells = [results.cell(SET, work, c) for c in configs]
    if any(c is None for c in cells):
        return None
    times = [spread(c.cpu).value for c in cells]  # type: ignore[union-attr]
    return [t / times[0] for t in times]


def _differences(names: list[str], levels: list[float]) -> dict[str, float]:
    return {n: b - a for n, a, b in zip(names, [0.0, *levels], levels)}


def columns(results: Results) -> list[Column]:
    out = []
    for work in results.works(SET):
        redo = _levels(results, work, [c for _, c in PARTS])
        if redo is not None:
            out.append(Column(work, "redo", _differences([n for n, _ in PARTS], redo)))
        default = _levels(results, work, [PLAIN, "interposed", DEFAULT])
        if default is not None:
            out.append(Column(work, "logfree", _differences([PARTS[0][0], PARTS[1][0], COMMIT], default)))
    return out


def names() -> list[str]:
    return [n for n, _ in PARTS] + [COMMIT]


def means(results: Results) -> dict[str, float]:
    """The parts' shares of the time that the shield adds, with engine redo: means over the
    workloads."""
    shares: dict[str, list[float]] = {}
    for column in columns(results):
        added = sum(column.parts.values()) - 1
        if column.engine == "redo" and added > 0:
            for name, value in column.parts.items():
                if name != PARTS[0][0]:
                    shares.setdefault(name, []).append(value / added)
    return {n: sum(v) / len(v) for n, v in shares.items()}
