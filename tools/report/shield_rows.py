# SPDX-License-Identifier: BSD-3-Clause
"""The lines that bench/shield writes, and the ratios in them.

A ratio is made of times of the same round, so that a slow moment of the machine is in both. The
report has the median over the rounds, and half the interquartile range."""
from __future__ import annotations

import json
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable

from ratio import Ratio
from rows import BadFile

PLAIN = "plain"
CLOCKS = {"cpu": "processor time", "wall": "wall time"}
NUMBERS = ("cpu_ms", "wall_ms", "open_cpu_ms", "open_wall_ms", "close_cpu_ms")


@dataclass(frozen=True)
class Cell:
    """A work in a configuration: the times of all rounds, in milliseconds."""
    set: str
    program: str
    map: str
    config: str
    operations: int
    pool_bytes: int
    facts: dict[str, Any]
    cpu: tuple[float, ...]
    wall: tuple[float, ...]
    open_cpu: tuple[float, ...]
    open_wall: tuple[float, ...]
    close_cpu: tuple[float, ...]

    @property
    def work(self) -> tuple[str, str]:
        return (self.program, self.map)

    def times(self, clock: str) -> tuple[float, ...]:
        return self.cpu if clock == "cpu" else self.wall

    def us(self, clock: str) -> float:
        """Of one operation."""
        return statistics.median(self.times(clock)) * 1e3 / self.operations


@dataclass(frozen=True)
class Counters:
    program: str
    map: str
    config: str
    operations: int
    numbers: dict[str, int]


@dataclass(frozen=True)
class Shape:
    """The space of FILE.scute, and of the log next to it, for a file."""
    size: int
    engine: str
    rows: int
    parity: int
    sidecar: int
    log: int

    @property
    def share(self) -> float:
        return (self.sidecar + self.log) / self.size


@dataclass(frozen=True)
class Faults:
    """Trials of one rate and size of errors over a shielded file and its FILE.scute. Pages have 4
    KiB."""
    size: int
    rows: int
    parity: int
    bits: int
    rate: float
    trials: int
    all_back: int  # trials in which every page came back
    had_to: int  # in which every page had to, by the oracle
    within: int  # in which no column of bytes had more damaged cells than parities
    within_back: int  # and every page came back
    errors: int
    in_sidecar: int  # of these in FILE.scute
    pages: int
    right: int
    silent: int  # read wrong, with no error


def spread(values: Iterable[float]) -> Ratio:
    """The median, and half of the interquartile range."""
    sorted_values = sorted(values)
    if len(sorted_values) < 2:
        return Ratio(sorted_values[0], 0.0)
    low, _, high = statistics.quantiles(sorted_values, n=4, method="inclusive")
    return Ratio(statistics.median(sorted_values), (high - low) / 2)


class Results:
    def __init__(self, cells: list[Cell], counters: list[Counters], shapes: list[Shape], faults: list[Faults]) -> None:
        self.cells, self.counters, self.shapes, self.faults = cells, counters, shapes, faults
        self._at = {(c.set, c.program, c.map, c.config): c for c in cells}

    @staticmethod
    def load(path: Path) -> "Results":
        found = Results([], [], [], [])
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise BadFile(f"cannot read {path}: {e}") from e
        for number, line in enumerate(text.splitlines(), 1):
            try:
                found._add(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError) as e:
                raise BadFile(f"{path}:{number}: no result of bench/shield: {e!r}") from e
        return Results(found.cells, found.counters, found.shapes, found.faults)

    def _add(self, j: dict[str, Any]) -> None:
        if j["set"] == "space":
            self.shapes.append(Shape(int(j["size"]), str(j["engine"]), int(j["rows"]), int(j["parity"]),
                                     int(j["sidecar_bytes"]), int(j["log_bytes"])))
            return
        if j["set"] == "faults":
            whole = [int(j[k]) for k in ("trials", "all_back", "all_survivable", "within", "within_back", "errors", "errors_beside", "objects", "right",
                                         "silently_wrong")]
            if min(whole) < 0 or not whole[0] >= max(whole[1:5]) or not 0 < float(j["rate"]) < 1:
                raise ValueError("impossible numbers")
            self.faults.append(Faults(int(j["size"]), int(j["rows"]), int(j["parity"]), int(j["bits"]), float(j["rate"]), *whole))
            return
        named = (str(j["program"]), str(j["map"]), str(j["config"]), int(j["operations"]))
        if j["set"] == "counters":
            self.counters.append(Counters(*named, {k: v for k, v in j.items() if isinstance(v, int) and k != "operations"}))
            return
        lists = [tuple(float(v) for v in j[name]) for name in NUMBERS]
        if not lists[0] or len({len(values) for values in lists}) > 1 or named[3] < 1:
            raise ValueError("no rounds, or not the same of all times")
        if not all(math.isfinite(v) and v >= 0 for values in lists for v in values):
            raise ValueError("impossible numbers")
        if min(lists[0]) <= 0 or min(lists[1]) <= 0:
            raise ValueError("operations that took no time")
        facts = {k: j[k] for k in ("engine", "rows", "parity", "huge_pages") if k in j}
        self.cells.append(Cell(str(j["set"]), *named, int(j["pool_bytes"]), facts, *lists))

    def sets(self) -> list[str]:
        return list(dict.fromkeys(c.set for c in self.cells))

    def works(self, name: str) -> list[tuple[str, str]]:
        return list(dict.fromkeys(c.work for c in self.cells if c.set == name))

    def configs(self, name: str) -> list[str]:
        return list(dict.fromkeys(c.config for c in self.cells if c.set == name))

    def cell(self, name: str, work: tuple[str, str], config: str) -> Cell | None:
        return self._at.get((name, *work, config))

    def ratio(self, name: str, work: tuple[str, str], config: str, clock: str = "cpu",
              against: str = PLAIN) -> Ratio | None:
        """How many times as long as the other configuration, in the same rounds."""
        a, b = self.cell(name, work, config), self.cell(name, work, against)
        if a is None or b is None or len(a.cpu) != len(b.cpu):
            return None
        return spread(x / y for x, y in zip(a.times(clock), b.times(clock)))

    def least(self, name: str, work: tuple[str, str], config: str, clock: str = "cpu") -> float | None:
        """The same of the shortest times of all rounds: what was disturbed least."""
        a, b = self.cell(name, work, config), self.cell(name, work, PLAIN)
        return None if a is None or b is None else min(a.times(clock)) / min(b.times(clock))

    def ratios(self, name: str, config: str, clock: str = "cpu", against: str = PLAIN) -> list[float]:
        found = (self.ratio(name, w, config, clock, against) for w in self.works(name))
        return [r.value for r in found if r is not None]

