# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: ways to run a program, and the sets of them that take turns."""
from __future__ import annotations

from dataclasses import dataclass

PLAIN = "plain"


@dataclass(frozen=True)
class Config:
    """add: options of `scute shield add`; None: the file has no shield. run: the same of
    `scute shield run`."""
    name: str
    add: tuple[str, ...] | None = None
    run: tuple[str, ...] | None = None


def _scheme(name: str, engine: str, protection: str) -> Config:
    return Config(name, ("--engine", engine, "--protection", protection), ())


CONFIGS = {c.name: c for c in (
    Config(PLAIN),
    Config("interposed", None, ()),  # under `shield run`, on a file without a shield
    Config("windows", (), ()),
    Config("per-fence", (), ("--windows", "off")),
    _scheme("redo-none", "redo", "none"),
    _scheme("redo-ml", "redo", "ml"),
    _scheme("redo-mlp", "redo", "mlp"),
    _scheme("redo-mlpc", "redo", "mlpc"),
    _scheme("logfree-mlpc", "logfree", "mlpc"),
    _scheme("spec-none", "spec", "none"),
    _scheme("spec-mlpc", "spec", "mlpc"),
    *(Config(f"N = {n}", ("--rows", str(n)), ()) for n in (1, 20, 50, 100, 1000)),
    *(Config(f"P = {p}", ("--parity", str(p)), ()) for p in (1, 2, 4)),
)}


@dataclass(frozen=True)
class Work:
    """A map of one of two programs: mapcli, as Debian ships it, or values (values.c); or the server
    of the tests (tests/interpose/raw), with clients."""
    program: str
    map: str


def mapcli(*maps: str) -> tuple[Work, ...]:
    return tuple(Work("mapcli", m) for m in maps)


SERVER = (Work("item_server", "4 clients"),)


def values(*maps: str) -> tuple[Work, ...]:
    return tuple(Work("values", m) for m in maps)


@dataclass(frozen=True)
class Turns:
    """Configurations that take turns over the same workloads: their ratios are of one set."""
    name: str
    configs: tuple[str, ...]
    workloads: tuple[Work, ...]
    operations: int
    rounds: int
    share: float  # of the time that the run may take: no further round begins after it
    counted: bool = False  # the audit counts it as well
    reads: bool = False  # the map is filled first, and the operations look up
    huge: bool = False  # the file, and its view under the shield, are in pages of 2 MiB


@dataclass(frozen=True)
class Space:
    sizes: tuple[int, ...]
    shapes: tuple[tuple[int, int], ...]  # (N, P)


@dataclass(frozen=True)
class Faults:
    """A grid of errors over shielded files of one size."""
    size: int
    shapes: tuple[tuple[int, int], ...]  # (N, P)
    bits: tuple[int, ...]  # of an error
    rates: tuple[float, ...]  # errors per bit
    trials: int


@dataclass(frozen=True)
class Plan:
    """rounds_least: are made while the whole time is not over, whatever the set's share of it.
    values_mib: size of the pools of values."""
    turns: tuple[Turns, ...]
    space: Space
    faults: Faults
    minutes: float
    rounds_least: int
    values_mib: int = 160


SHIELDED = (PLAIN, "windows")
OVERHEAD = (PLAIN, "interposed", "windows", "per-fence")
HUGE = (PLAIN, "windows", "per-fence")
SCHEMES = (PLAIN, "interposed", "redo-none", "redo-ml", "redo-mlp", "redo-mlpc", "logfree-mlpc", "spec-none", "spec-mlpc")
RATIO = (PLAIN, "N = 1", "N = 20", "N = 50", "N = 100", "N = 1000", "P = 2", "P = 4")

MIB = 1 << 20
SHAPES = ((100, 1), (50, 1), (20, 1), (100, 2), (100, 4))
PAVISE = values("ctree", "btree", "rbtree", "rtree", "hashmap_tx", "hashmap_atomic")

PLANS = {
    "full": Plan((
        Turns("overhead", OVERHEAD, mapcli("btree", "rtree", "rbtree", "hashmap_tx", "hashmap_atomic", "skiplist"),
              40_000, 9, 0.28, True),
        Turns("huge", HUGE, mapcli("btree", "rtree", "rbtree", "hashmap_tx", "hashmap_atomic", "skiplist"), 40_000, 9, 0.15, huge=True),
        Turns("values", OVERHEAD, PAVISE, 30_000, 9, 0.23, True),
        Turns("server", SHIELDED, SERVER, 20_000, 9, 0.07),
        Turns("warm", SHIELDED, mapcli("btree", "hashmap_tx"), 40_000, 9, 0.04, reads=True),
        Turns("schemes", SCHEMES, values("btree", "hashmap_tx"), 40_000, 9, 0.08),
        Turns("ratio", RATIO, values("btree", "hashmap_tx"), 40_000, 9, 0.06),
    ), Space(tuple(n * MIB for n in (64, 256, 512, 1024, 4096)), SHAPES),
        Faults(64 * MIB, ((100, 1), (20, 4)), (1, 8, 64), (1e-9, 1e-8, 1e-7, 1e-6, 1e-5), 20), 12, 3, 128),
    "quick": Plan((
        Turns("overhead", OVERHEAD, mapcli("btree", "hashmap_tx"), 10_000, 3, 0.3, True),
        Turns("huge", HUGE, mapcli("btree"), 10_000, 3, 0.08, huge=True),
        Turns("values", OVERHEAD, values("ctree"), 10_000, 3, 0.15, True),
        Turns("server", SHIELDED, SERVER, 4_000, 3, 0.08),
        Turns("warm", SHIELDED, mapcli("btree"), 10_000, 3, 0.05, reads=True),
        Turns("schemes", SCHEMES, values("btree"), 10_000, 3, 0.15),
        Turns("ratio", (PLAIN, "N = 20", "N = 100", "P = 2", "P = 4"), values("btree"), 10_000, 3, 0.1),
    ), Space(tuple(n * MIB for n in (64, 512)), SHAPES), Faults(16 * MIB, ((100, 1),), (1, 64), (1e-8, 1e-7, 1e-6), 10), 1.5, 1, 32),
    "tiny": Plan((
        Turns("overhead", OVERHEAD, mapcli("btree"), 1_000, 1, 1, True),
        Turns("huge", HUGE, mapcli("btree"), 1_000, 1, 1, huge=True),
        Turns("values", OVERHEAD, values("ctree"), 1_000, 1, 1, True),
        Turns("server", SHIELDED, SERVER, 400, 1, 1),
        Turns("warm", SHIELDED, mapcli("btree"), 1_000, 1, 1, reads=True),
        Turns("schemes", SCHEMES, values("hashmap_tx"), 1_000, 1, 1),
        Turns("ratio", (PLAIN, "N = 20", "N = 100", "P = 2"), values("rtree"), 1_000, 1, 1),
    ), Space((16 * MIB, 64 * MIB), ((100, 1), (20, 1), (100, 2))),
        Faults(2 * MIB, ((20, 1),), (1, 64), (1e-7, 1e-5), 3), 1, 1, 16),
}
