# SPDX-License-Identifier: BSD-3-Clause
"""Rows sorted into what charts and tables are made of: systems one way, places the other."""
from __future__ import annotations

from typing import Callable, Iterable

import palette
import units
from canvas import Point
from ratio import Ratio
from rows import PEER, Row, Rows

STRUCTURES = ("ctree", "rbtree", "btree", "skiplist", "rtree", "hashmap")

Place = Callable[[Row], str]


def by_size(row: Row) -> str:
    return units.size(row.size)


def by_structure(row: Row) -> str:
    return row.structure


def by_threads(row: Row) -> str:
    return units.threads(row.threads)


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Those of `known` first and in its order."""
    wanted = list(dict.fromkeys(names))
    return [k for k in known if k in wanted] + [w for w in wanted if w not in set(known)]


def labels(rows: Rows) -> dict[Row, str]:
    """The name of each row's system, with its mode where the rows hold one system in several."""
    modes: dict[str, set[str]] = {}
    for r in rows:
        modes.setdefault(r.name, set()).add(r.config)
    return {r: r.name if len(modes[r.name]) == 1 else f"{r.name} ({r.config})" for r in rows}


def systems(rows: Rows) -> list[str]:
    return palette.order(labels(rows).values())


def relative(rows: Rows, place: Place, against: str = PEER) -> dict[str, dict[str, Point]]:
    """panel[system][place]: throughput over that of `against` next to it."""
    panel: dict[str, dict[str, Point]] = {}
    named = labels(rows)
    for row in rows:
        peer = rows.peer(row, against)
        if peer is None or peer is row or peer.ns <= 0 or row.ns <= 0:
            continue
        ratio = Ratio.throughput(row, peer)
        panel.setdefault(named[row], {})[place(row)] = Point(ratio.value, ratio.half)
    return panel


def absolute(rows: Rows, place: Place,
             value: Callable[[Row], float | None] = lambda r: r.ns) -> dict[str, dict[str, Point]]:
    """panel[system][place]: the value, with the spread of the row's times."""
    panel: dict[str, dict[str, Point]] = {}
    named = labels(rows)
    for row in rows:
        v = value(row)
        if v is not None and v > 0:
            panel.setdefault(named[row], {})[place(row)] = Point(v, v * row.spread / 2)
    return panel
