# SPDX-License-Identifier: BSD-3-Clause
"""The model of the machine at hand beside that machine: the same program, with the same inputs, in the emulator and
without it. What is compared is the time of an engine over that of libpmemobj: what a machine does to all of them
cancels, as far as it may. The runs take turns, so that what else runs on the machine meets all of them."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from engines import operations
from figures import Table
from runs import ENGINES as ALL
from runs import Run, Tools

BASE = "libpmemobj"
ENGINES = tuple(e for e in ALL if e != BASE)
WORKS = ("overwrite-64", "overwrite-256", "overwrite-1024", "overwrite-4096", "insert-ctree", "insert-rbtree",
         "insert-hashmap", "ycsb-a")
BOUND = 25  # percent
# The emulator has no AVX-512; without it the same instructions run on both sides. libpmemobj gets the pages of 2 MiB
# that Scute asks for.
NATIVE = {"SCUTE_CPU": "avx2", "PMEM_AVX512F": "0", "PMEM_IS_PMEM_FORCE": "1", "LC_ALL": "C",
          "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ"}
NATIVE_NAME = {BASE: "libpmemobj-huge"}


def runs_of(machine: str, numbers: tuple, works: tuple[str, ...], scale: str) -> list[Run]:
    return [Run(w, s, machine, numbers, scale) for w in works for s in (*ENGINES, BASE)]


def measure(tools: Tools, works: tuple[str, ...], scale: str, rounds: int) -> list[dict]:
    """A line for each run on this machine: work, system, round, ns of an operation."""
    lines = []
    shm = Path("/dev/shm")
    for r in range(rounds):
        for work in works:
            for system in (*ENGINES, BASE):
                with tempfile.TemporaryDirectory(prefix="scute-sim-", dir=shm if shm.is_dir() else None) as home:
                    command = [str(tools.guest), work, NATIVE_NAME.get(system, system), home, "--scale", scale,
                               "--clock"]
                    done = subprocess.run(command, env=dict(os.environ, **NATIVE), capture_output=True, text=True,
                                          check=False)
                if done.returncode != 0:
                    if r == 0:
                        tools.failed.append(f"{work} on {system}, measured: {done.stderr.strip()}")
                    continue
                times = json.loads(done.stdout)
                ns = (times["ns"] + times["deferred_ns"]) / operations(work, scale)
                lines.append({"work": work, "system": system, "round": r, "ns": ns})
        if tools.progress:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"measured, round {r + 1} of {rounds}", end=end, file=sys.stderr, flush=True)
    return lines


def read_measured(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def usual(times: list[float]) -> float:
    """The lower quartile: others on the machine only ever make a run slower."""
    return sorted(times)[len(times) // 4]


def tables(results: dict[Run, dict], measured: list[dict]) -> list[Table]:
    by: dict[tuple[str, str], list[float]] = {}
    for line in measured:
        by.setdefault((line["work"], line["system"]), []).append(line["ns"])
    there = {key: usual(times) for key, times in by.items()}
    model = {(r.work, r.system): (x["ns"] + x["deferred_ns"]) / operations(r.work, r.scale)
             for r, x in results.items()}
    ratio = Table("Time over libpmemobj: the model's, the measured one, and the error in percent",
                  ["work"] + [f"{e}, {what}" for e in ENGINES for what in ("model", "measured", "error")], "times")
    ns = Table("ns of an operation: the model's, the measured one, and the error in percent",
               ["work"] + [f"{e}, {what}" for e in (*ENGINES, BASE) for what in ("model", "measured", "error")], "ns")
    ratio.picture = ns.picture = False
    errors = []
    for work in dict.fromkeys(w for w, _ in model):
        ratios, times = [], []
        for e in (*ENGINES, BASE):
            ours, theirs = model.get((work, e)), there.get((work, e))
            if ours is None or theirs is None:
                times += [None] * 3
                ratios += [None] * 3 if e != BASE else []
                continue
            times += [ours, theirs, f"{100 * (ours / theirs - 1):+.0f}"]
            base_model, base_there = model.get((work, BASE)), there.get((work, BASE))
            if e == BASE:
                continue
            if base_model is None or base_there is None:
                ratios += [None] * 3
                continue
            ours, theirs = ours / base_model, theirs / base_there
            errors.append(100 * (ours / theirs - 1))
            ratios += [ours, theirs, f"{errors[-1]:+.0f}"]
        ratio.add(work, *ratios)
        ns.add(work, *times)
    if errors:
        inside = sum(abs(e) <= BOUND for e in errors)
        ratio.notes.append(f"{inside} of {len(errors)} within {BOUND} percent; the largest error is "
                           f"{max(errors, key=abs):+.0f} percent, the mean of their sizes "
                           f"{sum(abs(e) for e in errors) / len(errors):.0f}.")
    spread = [100 * (median(t) / usual(t) - 1) for t in by.values() if len(t) > 3]
    if spread:
        ns.notes.append(f"Measured: the lower quartiles of {max(map(len, by.values()))} runs; the medians are "
                        f"{median(spread):.0f} percent above (in the median row; {max(spread):.0f} in the worst).")
    return [ratio, ns]
