# SPDX-License-Identifier: BSD-3-Clause
"""The targets of Scute, and whether the rows meet them.

Throughput is held against libpmemobj in huge pages, which Scute has as well. libpmemobj as it comes
stands next to it and decides nothing."""
from __future__ import annotations

from typing import Iterator

import instructions
import markdown
import pow_targets
import series
import slower
import spec_targets
import units
from ratio import geometric_mean, throughput_over
from rows import DEFAULT, DEFAULT_ON_DISK, DISK_PEERS, FLOOR, PEER, PEER_HUGE, Row, Rows
from target_result import Score, TargetResult

OVERWRITES = {64: 2.4, 256: 2.2, 1024: 1.8, 4096: 1.3}  # by the size of an object
CHANGES = {"hashmap": 3.0, "skiplist": 1.4, "rtree": 1.4}  # insert and remove; others:
CHANGES_ELSE = 1.5
LOOK_UPS = {"hashmap": 1.15}
LOOK_UPS_ELSE = 1.1


def _time(rows: Rows, row: Row | None, against: str) -> float | None:
    inverse = throughput_over(rows, row, against)
    return 1 / inverse if inverse else None


def _faster(rows: Rows, row: Row | None, ident: str, wanted: float) -> TargetResult:
    return TargetResult(ident, f"throughput over {PEER_HUGE}'s", wanted, throughput_over(rows, row, PEER_HUGE),
                   plain=throughput_over(rows, row, PEER))


def _mean(ratios: list[float | None]) -> float | None:
    """A mean over some of them would be another number."""
    known = [r for r in ratios if r is not None]
    return geometric_mean(known) if len(known) == len(ratios) else None


def _objects(rows: Rows) -> Iterator[TargetResult]:
    def at(work: str, size: int, name: str = DEFAULT) -> Row | None:
        return rows.first(work=work, size=size, threads=1, name=name)

    for size, wanted in OVERWRITES.items():
        yield _faster(rows, at("overwrite_random", size), f"overwrite_random {units.size(size)}", wanted)
    for size in OVERWRITES:
        yield TargetResult(f"overwrite_random {units.size(size)} floor", f"time over {FLOOR}'s", 1.4,
                      _time(rows, at("overwrite_random", size), FLOOR), at_most=True)
    for size in OVERWRITES:
        row = at("edit_in_place", size)
        yield TargetResult(f"edit_in_place {units.size(size)}", f"time over {PEER_HUGE}'s", 0.8,
                      _time(rows, row, PEER_HUGE), at_most=True, plain=_time(rows, row, PEER))
    for size in OVERWRITES:
        yield _faster(rows, at("free", size, "redo-mlpc"), f"redo free {units.size(size)}", 1.0)


def _maps(rows: Rows) -> Iterator[TargetResult]:
    changes = []
    for structure in series.STRUCTURES:
        for work, verb in (("map_insert", "insert"), ("map_remove", "remove")):
            row = rows.first(work=work, structure=structure, threads=1, name=DEFAULT)
            changes.append(_faster(rows, row, f"{structure} {verb}", CHANGES.get(structure, CHANGES_ELSE)))
            yield changes[-1]
    yield TargetResult("maps", "geometric mean of insert and remove over all structures", 2.0,
                  _mean([v.measured for v in changes]), plain=_mean([v.plain for v in changes]))
    for structure in series.STRUCTURES:
        row = rows.first(work="map_get", structure=structure, threads=1, name=DEFAULT)
        yield TargetResult(f"{structure} get", "time over the volatile version's",
                      LOOK_UPS.get(structure, LOOK_UPS_ELSE), _time(rows, row, "volatile"), at_most=True)


def _ycsb(rows: Rows) -> Iterator[TargetResult]:
    found = rows.where(work="ycsb_a", threads=(1, 2), name=DEFAULT)
    for row in found:
        yield _faster(rows, row, slower.ident(row), 1.6)
    if not len(found):
        yield _faster(rows, None, "ycsb_a", 1.6)


def _durable(rows: Rows) -> Iterator[TargetResult]:
    for threads in (1, 8):
        # On a disk: rows name their file system, and tmpfs is none.
        at = rows.where(work="kv_put", threads=threads).filter(lambda r: r.file_system != "tmpfs")
        for size in sorted(at.distinct("size")) or [0]:
            here = at.where(size=size)
            # The default there, or what is nearest to it.
            own = here.first(name=DEFAULT_ON_DISK) or here.first(name=DEFAULT) or min(
                here.where(system="scute").filter(lambda r: r.name not in (pow_targets.NAME, pow_targets.BARE)),
                key=lambda r: r.ns, default=None)
            peers = here.where(system=DISK_PEERS)
            best = min(peers, key=lambda r: r.ns, default=None)
            value = best.ns / own.ns if own is not None and best is not None else None
            ident = f"kv_put {units.threads(threads)}"
            if len(at.distinct("size")) > 1:
                ident += f" {units.size(size)}"
            who = f"the best of {', '.join(DISK_PEERS)}" + (f" ({best.name})" if best else "")
            mine = f"{own.name}'s throughput" if own is not None else "throughput"
            yield TargetResult(ident, f"{mine} over that of {who}", 1.0, value)


def _run(machine: dict[str, object]) -> Iterator[TargetResult]:
    seconds = machine.get("seconds")
    command = str(machine.get("command", ""))
    # A part of the benchmarks, or a tiny run, says nothing about how long all of them take.
    part = any(f"--{o}" in command for o in ("tiny", "filter", "systems", "structures", "sizes"))
    minutes = float(seconds) / 60 if isinstance(seconds, (int, float)) and not part else None
    quick = "--quick" in command
    yield TargetResult("run time", f"minutes that this run took ({'--quick' if quick else 'full'})",
                  5.0 if quick else 60.0, minutes, at_most=True, unit=" min")


def times(rows: Rows, machine: dict[str, object]) -> list[TargetResult]:
    return [*_objects(rows), *_maps(rows), *_ycsb(rows), *_durable(rows), *spec_targets.target_results(rows),
            *pow_targets.target_results(rows), *_run(machine)]


def section(rows: Rows, machine: dict[str, object], counts: instructions.Counts,
            explained: dict[str, str]) -> str:
    counted, timed = instructions.target_results(counts), times(rows, machine)
    where = machine.get("processor", "an unknown processor")
    out = (f"Met on {where}: of instructions {Score.of(counted)}; of times {Score.of(timed)}.\n\n"
           "### Instructions per operation\n\n"
           "These are the targets that hold on every processor"
           + (f" ({counts.how}; `./dev test -R instructions/` counts them).\n\n" if counts.how else
              ". The tree of this run did not count them; tests/instructions/golden.txt has today's.\n\n")
           + instructions.table(counts) + "\n### Times\n\n"
           f"Against {PEER_HUGE}; {PEER} with its defaults is shown too, and decides nothing. One thread, unless "
           "more are named.\n\n")
    head = ["target", "what", "wanted", "measured", f"over {PEER}'s", ""]
    out += markdown.table(head, [v.line() for v in timed], left=2) + "\n"
    lost, reported = slower.section(rows, explained)
    missed = [v.ident for v in (*counted, *timed) if v.met is False and v.ident not in reported]
    above = {slower.heading(name, explained) for name in reported}
    rest = {head: "see above." if head in above else text for head, text in explained.items()}
    return out + lost + ("### Other misses explained\n\n" + slower.explain(missed, rest) if missed else "")
