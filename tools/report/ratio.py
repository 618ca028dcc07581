# SPDX-License-Identifier: BSD-3-Clause
"""Ratios of two rows, with the spread of both."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterable

from rows import Row, Rows


@dataclass(frozen=True)
class Ratio:
    """A quotient and half the height of its whisker.

    The spread of a row is the interquartile range over the median. Two independent spreads add up
    like errors do, in squares."""

    value: float
    half: float

    @staticmethod
    def throughput(row: Row, peer: Row) -> "Ratio":
        """How many times the peer's throughput; above 1 is better than the peer."""
        value = peer.ns / row.ns
        return Ratio(value, value * math.hypot(row.spread, peer.spread) / 2)


def throughput_over(rows: Rows, row: Row | None, against: str) -> float | None:
    """The throughput over that of the peer of this name in the same workload; None if one of the
    two is missing."""
    peer = None if row is None else rows.peer(row, against)
    return None if row is None or peer is None or row.ns <= 0 else peer.ns / row.ns


def geometric_mean(values: Iterable[float]) -> float | None:
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else None
