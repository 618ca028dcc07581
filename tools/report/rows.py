# SPDX-License-Identifier: BSD-3-Clause
"""The lines that `scute-bench --json` writes, and how to choose among them."""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Sequence

# The identity of a row: the fields that name the benchmark, and no measurements.
KEY = ("work", "structure", "distribution", "file_system", "size", "threads", "system", "config")

# the same with its pool in huge pages, which Scute has as well: the fair one
PEER = "libpmemobj"
PEER_HUGE = "libpmemobj-huge"
DISK_PEERS = ("lmdb", "sqlite", "rocksdb")
DEFAULT = "logfree-mlpc"
DEFAULT_ON_DISK = "spec-mlpc"
FLOOR = "raw-logfree"  # the loads, stores and write-backs of the default, with no library around it


class BadFile(Exception):
    """A file of results that cannot be read, with the line that is wrong."""


@dataclass(frozen=True)
class Row:
    work: str
    size: int
    threads: int
    system: str
    config: str
    ns: float
    spread: float
    ops: int
    structure: str = ""
    distribution: str = ""
    file_system: str = ""
    fields: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)

    @property
    def name(self) -> str:
        """As in --systems."""
        return self.config if self.system == "scute" else self.system

    @property
    def key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, k) for k in KEY)

    @property
    def per_second(self) -> float:
        """Operations of all threads together: ns is the time of one operation in one thread."""
        return self.threads * 1e9 / self.ns

    @property
    def gb_per_s(self) -> float | None:
        moved = self.number("read_per_op")
        return None if moved is None else moved / self.ns

    def number(self, name: str) -> float | None:
        value = self.fields.get(name)
        return float(value) if isinstance(value, (int, float)) else None

    def same_case(self, other: "Row") -> bool:
        """The same work at the same place, whatever the system."""
        return self.key[:6] == other.key[:6]


def parse(line: str) -> Row:
    j = json.loads(line)
    stages = j.get("stages") or {}
    row = Row(
        work=str(j["work"]),
        size=int(j["size"]),
        threads=int(j["threads"]),
        system=str(j["system"]),
        config=str(j["config"]),
        # Rows that are no times (table3, stages) may do without these.
        ns=float(j.get("ns_per_op", sum(stages.values()))),
        spread=float(j.get("spread", 0)),
        ops=int(j.get("ops", 0)),
        structure=str(j.get("structure", "")),
        distribution=str(j.get("distribution", "")),
        file_system=str(j.get("file_system", "")),
        fields=j,
    )
    if not math.isfinite(row.ns) or row.ns < 0 or row.threads < 1:
        raise ValueError("impossible numbers")
    return row


class Rows(Sequence[Row]):
    """Rows in the order of the run."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)

    @staticmethod
    def load(path: Path) -> "Rows":
        rows = []
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise BadFile(f"cannot read {path}: {e}") from e
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                rows.append(parse(line))
            except (ValueError, KeyError, TypeError) as e:
                raise BadFile(f"{path}:{number}: no result of scute-bench: {e!r}") from e
        return Rows(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self._rows[i]

    def where(self, **want: Any) -> "Rows":
        """where(work="alloc", threads=(1, 2)): a tuple or list means any of these."""

        def fits(row: Row) -> bool:
            for name, value in want.items():
                have = getattr(row, name)
                if isinstance(value, (tuple, list, set)):
                    if have not in value:
                        return False
                elif have != value:
                    return False
            return True

        return Rows(r for r in self._rows if fits(r))

    def filter(self, keep: Callable[[Row], bool]) -> "Rows":
        return Rows(r for r in self._rows if keep(r))

    def first(self, **want: Any) -> Row | None:
        found = self.where(**want)
        return found[0] if len(found) else None

    def distinct(self, attribute: str) -> list[Any]:
        """The values of an attribute, in the order of the run."""
        return list(dict.fromkeys(getattr(r, attribute) for r in self._rows))

    def peer(self, row: Row, name: str = PEER) -> Row | None:
        """The row of another system next to this one."""
        return next((r for r in self._rows if r.name == name and r.same_case(row)), None)
