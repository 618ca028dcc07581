# SPDX-License-Identifier: BSD-3-Clause
"""What Scute wants to reach (issue 6), and what the rows say to it."""
from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Iterator

import markdown
import series
import units
from ratio import geometric_mean
from rows import PEER, PEER_HUGE, Row, Rows
from transaction_plots import OBJECTS

DEFAULT = "logfree-mlpc"
DISK_PEERS = ("lmdb", "sqlite", "rocksdb")
MINUTE = 60.0


@dataclass(frozen=True)
class Verdict:
    """One target: `ident` is the heading under which explanations.md explains a miss."""
    ident: str
    what: str
    wanted: float
    measured: float | None
    at_most: bool = False
    unit: str = "×"
    huge: float | None = None  # the same over libpmemobj with huge pages; decides nothing

    @property
    def met(self) -> bool | None:
        if self.measured is None:
            return None
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted

    def line(self) -> list[str]:
        sign = "≤" if self.at_most else "≥"
        measured = "not measured" if self.measured is None else f"{self.measured:.2f}{self.unit}"
        verdict = {True: "met", False: "**missed**", None: ""}[self.met]
        huge = "" if self.huge is None else f"{self.huge:.2f}{self.unit}"
        return [self.ident, self.what, f"{sign} {self.wanted:g}{self.unit}", measured, huge, verdict]


def _throughput(rows: Rows, row: Row | None, against: str = PEER) -> float | None:
    peer = None if row is None else rows.peer(row, against)
    return None if row is None or peer is None or row.ns <= 0 else peer.ns / row.ns


def _mean(ratios: list[float | None]) -> float | None:
    """A mean over some of them would be another number."""
    known = [r for r in ratios if r is not None]
    return geometric_mean(known) if len(known) == len(ratios) else None


def _maps(rows: Rows) -> Iterator[Verdict]:
    changes: list[float | None] = []
    huge: list[float | None] = []
    for structure in series.STRUCTURES:
        for work, verb in (("map_insert", "insert"), ("map_remove", "remove")):
            row = rows.first(work=work, structure=structure, threads=1, name=DEFAULT)
            changes.append(_throughput(rows, row))
            huge.append(_throughput(rows, row, PEER_HUGE))
            wanted = 4.0 if structure == "hashmap" else 1.5
            yield Verdict(f"{structure} {verb}", f"throughput over {PEER}'s", wanted, changes[-1],
                          huge=huge[-1])
    yield Verdict("maps", "geometric mean of insert and remove over all structures", 2.5,
                  _mean(changes), huge=_mean(huge))
    for structure in series.STRUCTURES:
        row = rows.first(work="map_get", structure=structure, threads=1, name=DEFAULT)
        inverse = _throughput(rows, row, "volatile")
        yield Verdict(f"{structure} get", "time over the volatile version's", 1.10,
                      1 / inverse if inverse else None, at_most=True)


def _ycsb(rows: Rows) -> Iterator[Verdict]:
    found = rows.where(work="ycsb_a", threads=1, name=DEFAULT)
    for row in found:
        yield Verdict(f"ycsb_a {units.size(row.size)} {row.distribution}".strip(),
                      f"throughput over {PEER}'s", 3.0, _throughput(rows, row),
                      huge=_throughput(rows, row, PEER_HUGE))
    if not len(found):
        yield Verdict("ycsb_a", f"throughput over {PEER}'s", 3.0, None)


def _durable(rows: Rows) -> Iterator[Verdict]:
    for threads in (1, 8):
        # On a disk: rows name their file system, and tmpfs is none.
        at = rows.where(work="kv_put", threads=threads).filter(lambda r: r.file_system != "tmpfs")
        for size in sorted(at.distinct("size")) or [0]:
            here = at.where(size=size)
            # The default, or what is protected most like it, if that is what a disk gets.
            own = here.first(name=DEFAULT) or min(here.where(system="scute"), key=lambda r: r.ns,
                                                  default=None)
            peers = here.where(system=DISK_PEERS)
            best = min(peers, key=lambda r: r.ns, default=None)
            value = best.ns / own.ns if own is not None and best is not None else None
            ident = f"kv_put {units.threads(threads)}"
            if len(at.distinct("size")) > 1:
                ident += f" {units.size(size)}"
            who = f"the best of {', '.join(DISK_PEERS)}" + (f" ({best.name})" if best else "")
            mine = f"{own.name}'s throughput" if own is not None else "throughput"
            yield Verdict(ident, f"{mine} over that of {who}", 1.0, value)


def _times(machine: dict[str, object]) -> Iterator[Verdict]:
    seconds = machine.get("seconds")
    command = str(machine.get("command", ""))
    # A part of the works, or a tiny run, says nothing about how long all of them take.
    part = any(f"--{o}" in command for o in ("tiny", "filter", "systems", "structures", "sizes"))
    minutes = float(seconds) / MINUTE if isinstance(seconds, (int, float)) and not part else None
    quick = "--quick" in command
    yield Verdict("run time", f"minutes that this run took ({'--quick' if quick else 'full'})",
                  5.0 if quick else 60.0, minutes, at_most=True, unit=" min")


def verdicts(rows: Rows, machine: dict[str, object]) -> list[Verdict]:
    return [*_maps(rows), *_ycsb(rows), *_durable(rows), *_times(machine)]


def explanations(files: Iterable[Path]) -> dict[str, str]:
    """The sections of the first file that is there, by their headings (## hashmap insert)."""
    for path in files:
        if path.is_file():
            parts = re.split(r"^##\s+(.+?)\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            return {head: text.strip() for head, text in zip(parts[1::2], parts[2::2])}
    return {}


def section(rows: Rows, machine: dict[str, object], explained: dict[str, str]) -> str:
    all_verdicts = verdicts(rows, machine)
    measured = [v for v in all_verdicts if v.met is not None]
    met = sum(1 for v in measured if v.met)
    out = (f"{met} of the {len(measured)} targets measured are met"
           + (f"; not measured in this run: {len(all_verdicts) - len(measured)}.\n\n"
              if len(measured) < len(all_verdicts) else ".\n\n"))
    head = ["target", "what", "wanted", "measured", f"over {PEER_HUGE}'s", ""]
    lines = [v.line() for v in all_verdicts]
    if all(v.huge is None for v in all_verdicts):
        head, *lines = (line[:4] + line[5:] for line in (head, *lines))
    out += markdown.table(head, lines, left=2)
    missed = [v.ident for v in measured if not v.met]
    if missed:
        out += "\n### Misses explained\n\n" + _explain(missed, explained)
    for peer in (PEER, PEER_HUGE):
        slower = _slower(rows, peer)
        if not slower:
            continue
        idents = list(dict.fromkeys(_ident(r) for r, _ in slower))
        out += (f"\n### Where the default is slower than {peer}\n\n"
                + markdown.table(["", "work", "where", "throughput"],
                                 [[_ident(r), r.work, _where(r), f"{x:.2f}×"] for r, x in slower], left=3)
                + "\n" + _explain([i for i in idents if i not in missed], explained))
        missed += idents
    return out


def _explain(idents: list[str], explained: dict[str, str]) -> str:
    """A heading explains what has that name and all whose names begin with it."""
    groups: dict[str, list[str]] = {}
    for ident in idents:
        fits = [h for h in explained if ident == h or ident.startswith(h + " ")]
        groups.setdefault(explained[max(fits, key=len)] if fits else "", []).append(ident)
    return "".join(", ".join(f"**{i}**" for i in names)
                   + f": {text or 'no explanation has been written yet.'}\n\n"
                   for text, names in groups.items())


def _ident(row: Row) -> str:
    """The name of the target that is about such a row, or would be."""
    if row.structure:
        return f"{row.structure} {row.work.removeprefix('map_')}"
    return " ".join(p for p in (row.work, units.size(row.size), row.distribution) if p)


def _where(row: Row) -> str:
    parts = (row.structure, units.size(row.size), row.distribution, units.threads(row.threads))
    return ", ".join(p for p in parts if p)


def _slower(rows: Rows, peer: str) -> list[tuple[Row, float]]:
    """Every row of the default that loses, whether or not a target is about it."""
    works = [w for w, _ in OBJECTS]
    own = rows.where(name=DEFAULT).filter(
        lambda r: r.work in works or r.work.startswith(("map_", "ycsb_")))
    ratios = [(row, _throughput(rows, row, peer)) for row in own]
    # Less than what is printed as 1.00.
    return [(row, x) for row, x in ratios if x is not None and x < 0.995]
