# SPDX-License-Identifier: BSD-3-Clause
"""The targets of speculative logging. An identifier is the heading under which explanations.md
explains a miss."""
from __future__ import annotations

from typing import Iterator

import units
from ratio import geometric_mean, throughput_over
from rows import DISK_PEERS, PEER, PEER_HUGE, Row, Rows
from stamp_plots import APPLICATIONS, FLOOR, RUN
from target_result import TargetResult

NAME = "spec-mlpc"
BARE = "spec-none"
LOGFREE = "logfree-mlpc"  # its peer with everything protected

# By SpecPMT's Table 2 and the run itself: those that write little for the time that they take.
MODERATE = ("genome", "labyrinth", "vacation-low", "vacation-high")
SMALL_AND_OFTEN = ("kmeans-low", "kmeans-high")
HOT = "overwrite_hot_cpu"
SIZE = 256  # bytes, of the objects and records that goals are about


def target_results(rows: Rows) -> Iterator[TargetResult]:
    yield from _stamp(rows)
    yield from _objects(rows)
    yield from _opening(rows)
    yield from _disk(rows)


def _stamp(rows: Rows) -> Iterator[TargetResult]:
    def at(structure: str, of: str) -> Row | None:
        return rows.first(work=RUN, structure=structure, threads=1, name=of)

    def mean(against: str) -> float | None:
        known = [x for a in APPLICATIONS if (x := throughput_over(rows, at(a, BARE), against)) is not None]
        return geometric_mean(known) if len(known) == len(APPLICATIONS) else None

    yield TargetResult(f"{BARE} stamp", f"throughput over {PEER_HUGE}'s, geometric mean of STAMP's {len(APPLICATIONS)}", 5.0,
                  mean(PEER_HUGE), plain=mean(PEER))
    for structure in MODERATE:
        inverse = throughput_over(rows, at(structure, BARE), FLOOR)
        yield TargetResult(f"{BARE} {structure} volatile", f"time over the {FLOOR} version's", 1.25,
                      1 / inverse if inverse else None, at_most=True)
    for structure in APPLICATIONS:
        yield TargetResult(f"{NAME} {structure}", f"throughput over {LOGFREE}'s", 1.3 if structure in SMALL_AND_OFTEN else 1.0,
                      throughput_over(rows, at(structure, NAME), LOGFREE))


def _objects(rows: Rows) -> Iterator[TargetResult]:
    inverse = throughput_over(rows, rows.first(work=HOT, size=SIZE, threads=1, name=NAME), LOGFREE)
    yield TargetResult(f"{NAME} hot {units.size(SIZE)}", f"processor time over {LOGFREE}'s, that of the checkpoint counted", 0.85,
                  1 / inverse if inverse else None, at_most=True)
    row = rows.first(work="overwrite_random", size=SIZE, threads=1, name=NAME)
    yield TargetResult(f"{NAME} fences", f"fences of an overwrite of {units.size(SIZE)} at random, with its share of the checkpoint's",
                  1.01, None if row is None else row.number("fences_per_op"), at_most=True, unit="", digits=3)


def _opening(rows: Rows) -> Iterator[TargetResult]:
    # A log gets no fuller than that: from three quarters on commits help to checkpoint it.
    row = max(rows.where(work="recovery_full_log", name=NAME), key=lambda r: r.size, default=None)
    yield TargetResult(f"{NAME} opening", "time to open a pool of 16 GiB whose writer was killed with a log as full as it gets",
                  100.0, None if row is None or row.size < 1 << 34 else row.ns / 1e6, at_most=True, unit=" ms", digits=0)


def _disk(rows: Rows) -> Iterator[TargetResult]:
    # Rows name their file system, and tmpfs is none.
    at = rows.where(work="kv_put", size=SIZE).filter(lambda r: r.file_system != "tmpfs")
    for threads in (1, 8):
        here = at.where(threads=threads)
        own = here.first(name=NAME)
        best = min(here.where(system=DISK_PEERS), key=lambda r: r.ns, default=None)
        yield TargetResult(f"{NAME} kv_put {units.threads(threads)}",
                      f"throughput over that of the best of {', '.join(DISK_PEERS)}" + (f" ({best.name})" if best else ""),
                      1.4, best.ns / own.ns if own is not None and best is not None else None)
    # Each loads the same 100,000 records into an empty store, a thousand to a transaction.
    at = rows.where(work="kv_load", size=SIZE).filter(lambda r: r.file_system != "tmpfs")
    own, peer = at.first(name=NAME), at.first(name="sqlite")
    yield TargetResult(f"{NAME} kv_load", "time of a bulk load over sqlite's", 3.0,
                  own.ns / peer.ns if own is not None and peer is not None else None, at_most=True)
