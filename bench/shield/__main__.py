# SPDX-License-Identifier: BSD-3-Clause
"""Measures for `./dev bench --shield` what the shield costs programs of libpmemobj, in time and
space, and what it restores.

The configurations of a set take turns. In a round every configuration has a fresh pool and does
the same operations; the order rotates from round to round. Rows go to --json, one per work and
configuration, with the times of all rounds. An interrupted run leaves the rows of the rounds that
it has made.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import faults
import pages
import space
from interruption import listen
from measure import Failed
from plan import CONFIGS, PLANS, Config, Turns, Work
from programs import Programs
from progress import Progress

# as measure.Spent has them
INTERRUPTED = 130
LATEST = 0.9  # of the time: then sets make one round at most, and what takes space is left
COUNTED_MAX = 10_000  # operations under the audit: counts of one are about the same
TIMES = ("cpu_ms", "wall_ms", "open_cpu_ms", "open_wall_ms", "close_cpu_ms")


class Cell:
    """The times of one work in one configuration."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.content = ""
        self.pool_bytes = 0
        self.huge_pages = sys.maxsize  # of the file, at least
        self.times: dict[str, list[float]] = {name: [] for name in TIMES}

    def measure(self, programs: Programs, work: Work, config: Config, turns: Turns) -> None:
        n = turns.operations
        self.facts = programs.prepare(work, config, n if turns.reads else 0)
        self.pool_bytes = programs.pool.stat().st_size
        if turns.huge:
            self.huge_pages = min(self.huge_pages, pages.collapse(programs.pool))
            self.facts = {**self.facts, "huge_pages": self.huge_pages}
        spent = programs.run(work, config, n, turns.reads, turns.huge)
        if not self.content:
            self.content = programs.content(work, config)
        for name, values in self.times.items():
            values.append(round(getattr(spent, name.removesuffix("_ms")), 3))


def rows_of(turns: Turns, cells: dict[tuple[Work, str], Cell]) -> list[dict[str, Any]]:
    """Leaves out rounds that not every configuration has ended, so that ratios are of the same
    moments."""
    rows = []
    for work in turns.workloads:
        rounds = min(len(cells[work, c].times["cpu_ms"]) for c in turns.configs)
        for name in turns.configs if rounds else ():
            cell = cells[work, name]
            facts = {k: cell.facts[k] for k in ("engine", "rows", "parity", "huge_pages") if k in cell.facts}
            facts["pool_bytes"] = cell.pool_bytes
            rows.append({"set": turns.name, "program": work.program, "map": work.map, "config": name,
                         "operations": turns.operations, "rounds": rounds, **facts, "content": cell.content,
                         **{k: v[:rounds] for k, v in cell.times.items()}})
    return rows


def enough(rounds: int, turns: Turns, least: int, until: float, end: float, now: float) -> bool:
    """One round is made in any case."""
    return rounds >= turns.rounds or (rounds >= least and now > until) or (rounds >= 1 and now > end)


def take_turns(programs: Programs, turns: Turns, least: int, until: float, end: float, progress: Progress, out: IO[str]) -> None:
    cells = {(w, c): Cell() for w in turns.workloads for c in turns.configs}
    try:
        round_number = -1
        while not enough(round_number := round_number + 1, turns, least, until, end, progress.seconds):
            for work in turns.workloads:
                turn = round_number % len(turns.configs)
                for name in turns.configs[turn:] + turns.configs[:turn]:
                    progress(f"{turns.name}: round {round_number + 1} of {turns.rounds}, {work.program} {work.map}, {name}")
                    cells[work, name].measure(programs, work, CONFIGS[name], turns)
                held = {cells[work, c].content for c in turns.configs}
                if len(held) > 1:
                    raise Failed(f"{work.program} {work.map}: it does not hold the same in all configurations: {held}")
    finally:
        write(out, rows_of(turns, cells))


def count(programs: Programs, turns: Turns, progress: Progress, out: IO[str]) -> None:
    for work in turns.workloads:
        for name in ("windows", "per-fence"):
            progress(f"counters: {work.program} {work.map}, {name}")
            n = min(turns.operations, COUNTED_MAX)
            counted = programs.counters(work, CONFIGS[name], n)
            write(out, [{"set": "counters", "program": work.program, "map": work.map, "config": name, "operations": n,
                         **counted}])


def write(out: IO[str], rows: list[dict[str, Any]]) -> None:
    out.writelines(json.dumps(r) + "\n" for r in rows)
    out.flush()


def huge_pages() -> str:
    """Whether a tmpfs gives pages of 2 MiB by itself: "never" in "always within_size advise [never]
    deny force"."""
    try:
        text = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled").read_text()
        return text[text.index("[") + 1:text.index("]")]
    except (OSError, ValueError):
        return "unknown"


def run(a: argparse.Namespace, progress: Progress) -> None:
    plan = PLANS[a.scale]
    seconds = (a.minutes or plan.minutes) * 60
    with ExitStack() as stack, a.json.open("w", encoding="utf-8") as out:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scute-shield-bench-")))
        pools = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scute-shield-bench-", dir=a.dir)))
        if a.machine:
            medium = f"{a.dir}, in pages of 4 KiB (of 2 MiB: {huge_pages()})"
            a.machine.write_text(json.dumps({"medium": medium, "clock": "processor time and wall time",
                                             "scale": a.scale}))
        progress("building the programs")
        programs = Programs(a.build / "tools" / "scute" / "scute", work, pools, plan.values_mib)
        until = 0.0
        for turns in plan.turns:
            if turns.huge and not pages.granted(pools):
                progress.end()
                print(f"shield: {a.dir} has no files in pages of 2 MiB here, so none are measured", file=sys.stderr)
                continue
            if turns.counted:
                count(programs, turns, progress, out)
            until += turns.share * seconds
            take_turns(programs, turns, plan.rounds_least, until, LATEST * seconds, progress, out)
        programs.clear()
        for row in faults.measure(a.build / "tools" / "campaign" / "scute-campaign", pools, work, plan.faults, progress):
            write(out, [row])
        for row in space.measure(programs.scute, work, plan.space, progress):
            write(out, [row])


def main() -> int:
    parser = argparse.ArgumentParser(prog="shield", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="the folder of a build, with the command and the runtime")
    parser.add_argument("--json", type=Path, required=True, help="where the rows go")
    parser.add_argument("--machine", type=Path, help="where the medium and the way of measuring are described")
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path("."),
                        help="where the pools lie (default: shared memory); files for the measurement of space are temporary files")
    parser.add_argument("--quick", action="store_const", dest="scale", const="quick", default="full",
                        help="fewer maps, operations and rounds")
    parser.add_argument("--tiny", action="store_const", dest="scale", const="tiny", help="for tests: whether all parts work")
    parser.add_argument("--minutes", type=float,
                        help="about so long: a set of configurations makes no further round after its share of it, but "
                        "three rounds if the whole time allows it, and one in any case (default: 12; 1.5 with --quick)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    a = parser.parse_args()
    listen()
    progress = Progress(a.quiet)
    try:
        run(a, progress)
    except KeyboardInterrupt:
        progress.end()
        print(f"shield: interrupted; the results so far are in {a.json}", file=sys.stderr)
        return INTERRUPTED
    except (Failed, OSError) as e:
        progress.end()
        print(f"shield: {e}", file=sys.stderr)
        return 1
    progress.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
