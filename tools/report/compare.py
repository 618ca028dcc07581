# SPDX-License-Identifier: BSD-3-Clause
"""Two runs, row by row: what became slower, what became faster, what is counted differently."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

import footprints
import units
from rows import Row, Rows

LEAST = 0.05  # smaller changes of a time are not reported, however small the spread
# Every change of a counter is reported, but with two threads, or when a thread is held up for long,
# some depend on the moment: an increase up to this share is no regression.
JITTER = 0.02

COUNTERS = ("fences_per_op", "lines_per_op", "bytes_per_op",
            "changed_bytes", "new_bytes", "updates",
            *(f"{cell}_{what}" for cell, _ in footprints.CELLS for what in ("bytes", "objects")))


@dataclass(frozen=True)
class Change:
    """of: "time" or the counter; factor: new over old, so above 1 is worse."""
    row: Row
    of: str
    old: float
    new: float
    regressed: bool

    @property
    def factor(self) -> float:
        return self.new / self.old if self.old > 0 else float("inf")


@dataclass(frozen=True)
class Comparison:
    compared: int
    changes: list[Change]
    only_old: list[Row]
    only_new: list[Row]

    @property
    def regressed(self) -> bool:
        return any(c.regressed for c in self.changes)


def _time(old: Row, new: Row) -> Change | None:
    """A change counts where the whiskers of both medians do not touch."""
    apart = abs(new.ns - old.ns) > (old.ns * old.spread + new.ns * new.spread) / 2
    if not apart or abs(new.ns - old.ns) < LEAST * old.ns:
        return None
    return Change(new, "time", old.ns, new.ns, new.ns > old.ns)


def _counters(old: Row, new: Row) -> Iterable[Change]:
    for name in COUNTERS:
        a, b = old.number(name), new.number(name)
        if a is not None and b is not None and a != b:
            yield Change(new, name.removesuffix("_per_op"), a, b, b > a * (1 + JITTER))


def compare(old: Rows, new: Rows) -> Comparison:
    before = {r.key: r for r in old}
    after = {r.key: r for r in new}
    changes: list[Change] = []
    for key, row in after.items():
        if key not in before:
            continue
        time = _time(before[key], row)
        changes += ([time] if time else []) + list(_counters(before[key], row))
    # Regressions first, and of each kind the largest change first.
    changes.sort(key=lambda c: (not c.regressed,
                                -c.factor if c.regressed or c.factor > 1 else c.factor))
    return Comparison(sum(1 for k in after if k in before), changes,
                      [r for k, r in before.items() if k not in after],
                      [r for k, r in after.items() if k not in before])


def _where(row: Row) -> str:
    parts = (row.structure, row.distribution, row.file_system, units.size(row.size),
             f"{row.threads}t")
    return " ".join(p for p in parts if p)


def _value(change: Change, value: float) -> str:
    return units.time(value) if change.of == "time" else f"{value:.6g}"


def _word_of(change: Change) -> str:
    if change.regressed:
        return "REGRESSED"
    return "improved" if change.factor < 1 else "changed"


def _columns(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() + "\n"
                   for line in lines)


def _one_sided(rows: list[Row], side: str) -> str:
    """A line per work and system, with the places."""
    groups: dict[tuple[str, str], list[str]] = {}
    for r in rows:
        groups.setdefault((r.work, r.name), []).append(_where(r))
    lines = [f"  {work}, {name}: {', '.join(places)}\n" for (work, name), places in groups.items()]
    return f"\nOnly in {side} ({len(rows)} rows):\n" + "".join(lines) if rows else ""


def text(result: Comparison) -> str:
    out = ""
    if result.changes:
        lines = [["", "work", "where", "system", "what", "old", "new", "new/old"]]
        lines += [[_word_of(c), c.row.work, _where(c.row), c.row.name, c.of, _value(c, c.old),
                   _value(c, c.new), f"{c.factor:.3f}"] for c in result.changes]
        out += _columns(lines)
    else:
        out += "No row changed.\n"
    out += _one_sided(result.only_old, "OLD") + _one_sided(result.only_new, "NEW")
    bad = sum(1 for c in result.changes if c.regressed)
    out += (f"\n{result.compared} rows compared, {len(result.changes)} changes, "
            f"{bad} of them regressions\n")
    return out
