# SPDX-License-Identifier: BSD-3-Clause
"""The targets of persist-on-write files. An identifier is the heading under which explanations.md
explains a miss."""
from __future__ import annotations

from typing import Iterator

import units
from ratio import geometric_mean, throughput_over
from rows import PEER, PEER_HUGE, Row, Rows
from target_result import TargetResult

NAME = "pow"  # the default: one page in nine is protected
BARE = "pow-none"
INLINE = "pow-none-inline"
IN_PLACE = "level-in-place"
VOLATILE = "volatile"

MAPS = ("bplus_tree", "rbtree", "hashmap", "skiplist")
# The paper's own part of TPC-C; of TATP its own and the whole.
TRANSACTIONS = (("ents_tpcc", "orders"), ("ents_tatp", "location_of_one"), ("ents_tatp", "whole"))
SETTINGS = (("ents_level_50", "half look-ups"), ("ents_level_95", "95 % look-ups"))
RECOVERY, CLEAN = "pow_recovery", "pow_clean"


def target_results(rows: Rows) -> Iterator[TargetResult]:
    yield from _works(rows)
    yield from _level(rows)
    yield from _disk(rows)
    yield from _recovery(rows)
    yield from _cleaner(rows)


def _works(rows: Rows) -> Iterator[TargetResult]:
    for name in (NAME, BARE):
        def at(work: str, structure: str, of: str = name) -> Row | None:
            return rows.first(work=work, structure=structure, size=_size(work), threads=1, name=of)

        for structure in MAPS:
            row = at("ents_read_update", structure)
            yield TargetResult(f"{name} {structure}", f"throughput over {PEER_HUGE}'s, half look-ups", 3.0,
                          throughput_over(rows, row, PEER_HUGE), plain=throughput_over(rows, row, PEER))
        for structure in MAPS:
            yield TargetResult(f"{name} {structure} volatile", f"throughput over the {VOLATILE} version's, half look-ups",
                          0.8, throughput_over(rows, at("ents_read_update", structure), VOLATILE))
        for work, structure in TRANSACTIONS:
            row = at(work, structure)
            yield TargetResult(f"{name} {work.removeprefix('ents_')} {structure}", f"throughput over {PEER_HUGE}'s", 3.0,
                          throughput_over(rows, row, PEER_HUGE), plain=throughput_over(rows, row, PEER))


def _size(work: str) -> int:
    return {"ents_read_update": 8, "ents_tatp": 128}.get(work, 0)


def _level(rows: Rows) -> Iterator[TargetResult]:
    for name in (NAME, BARE):
        for work, text in SETTINGS:
            for how in ("zipfian", "uniform"):
                found = [throughput_over(rows, r, IN_PLACE) for r in rows.where(work=work, distribution=how, name=name)]
                known = [x for x in found if x is not None]
                yield TargetResult(f"{name} level {work[-2:]} {how}",
                              f"{text}, {how}: throughput over {IN_PLACE}'s, mean over the load factors", 1.0,
                              geometric_mean(known) if known and len(known) == len(found) else None)


def _disk(rows: Rows) -> Iterator[TargetResult]:
    # Rows name their file system, and tmpfs is none.
    at = rows.where(work="kv_put").filter(lambda r: r.file_system != "tmpfs")

    def one(name: str, threads: int) -> Row | None:
        return at.first(name=name, threads=threads)

    for name, bound in ((BARE, 1.15), (NAME, 1.4)):
        inverse = throughput_over(at, one(name, 1), "pwrite")
        yield TargetResult(f"{name} kv_put", "time over that of pwrite and fdatasync, on a disk", bound,
                      1 / inverse if inverse else None, at_most=True)
        yield TargetResult(f"{name} kv_put {units.threads(8)}", "throughput over rocksdb's synchronous puts", 2.0,
                      throughput_over(at, one(name, 8), "rocksdb"))


def live_rate(row: Row) -> float | None:
    """GiB of live data per second, of the objects alone. The file has MIB of objects and of their
    heads, which have 48 bytes each."""
    mib = int(row.structure.split("m_")[0])
    live = mib * live_share(row) / 100 * row.size / (row.size + 48)
    return live / 1024 / (row.ns / 1e9) if row.ns > 0 else None


def live_share(row: Row) -> int:
    return int(row.structure.rsplit("_", 1)[1])


def _recovery(rows: Rows) -> Iterator[TargetResult]:
    here = rows.where(work=RECOVERY, name=BARE, size=256)
    for threads in (1, 2):
        found = [r for r in here.where(threads=threads) if live_share(r) == 50]
        largest = max(found, key=lambda r: r.number("read_per_op") or 0, default=None)
        value = live_rate(largest) if largest is not None else None
        yield TargetResult("pow recovery" + (f" {units.threads(threads)}" if threads > 1 else ""),
                      "live data per second and core, objects of 256 B, half of the file live", 1.0,
                      value / threads if value is not None else None, unit=" GiB/s")


def _cleaner(rows: Rows) -> Iterator[TargetResult]:
    def at(live: str, name: str = BARE) -> Row | None:
        return rows.first(work=CLEAN, structure=f"live_{live}", threads=1, name=name)

    free = at("none")
    for name, who in ((BARE, "a thread that cleans"), (INLINE, "the thread that needs room")):
        row = at("33", name)
        taken = (1 - free.ns / row.ns) * 100 if row is not None and free is not None and row.ns > 0 else None
        yield TargetResult(f"pow cleaner 33{'' if name == BARE else ' inline'}",
                      f"share of the throughput that cleaning takes at 33 % live, {who}", 25.0, taken, at_most=True,
                      unit=" %", digits=1)
    half = at("50", INLINE)
    copied, written = (None, None) if half is None else (half.number("bytes_metadata_per_op"),
                                                         half.number("bytes_log_per_op"))
    yield TargetResult("pow cleaner bytes", "bytes that cleaning writes for each of the program's, at 50 % live", 1.0,
                  copied / written if copied is not None and written else None, at_most=True)
    row = at("50")
    stages = {} if row is None else row.fields.get("stages") or {}
    yield TargetResult("pow file", "used bytes of the file for each that is live, at 50 % live", 2.0,
                  stages.get("file_per_live"), at_most=True)
