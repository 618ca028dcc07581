# SPDX-License-Identifier: BSD-3-Clause
"""Compares the model of this machine with the machine itself: the same program, with the same
inputs, in the emulator and without it. The compared number is the time of an engine over that of
libpmemobj: effects of a machine on all of them cancel, as far as they may. The runs take turns, so
that other load on the machine meets all of them."""
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
WORKLOADS = ("overwrite-64", "overwrite-256", "overwrite-1024", "overwrite-4096", "insert-ctree", "insert-rbtree",
         "insert-hashmap", "ycsb-a")
BOUND = 25  # percent
# For workloads that exceed it, or might after a rebuild: the reached error, rounded up.
REACHED = {"insert-ctree": 30, "insert-hashmap": 30}
# percent of its instructions by which a program may differ from the one that was measured
MOVED = 10
# The emulator has no AVX-512; without it the same instructions run on both sides. libpmemobj gets
# the pages of 2 MiB that Scute asks for.
NATIVE = {"SCUTE_CPU": "avx2", "PMEM_AVX512F": "0", "PMEM_IS_PMEM_FORCE": "1", "LC_ALL": "C",
          "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ"}
NATIVE_NAME = {BASE: "libpmemobj-huge"}


def runs_of(machine: str, numbers: tuple, workloads: tuple[str, ...], scale: str, systems: tuple[str, ...] = ()) -> list[Run]:
    """`systems`: of the engines; none: all."""
    chosen = [e for e in ENGINES if not systems or e in systems]
    return [Run(w, s, machine, numbers, scale) for w in workloads for s in (*chosen, BASE)]


def measure(tools: Tools, workloads: tuple[str, ...], scale: str, rounds: int) -> list[dict]:
    """A line for each run on this machine: work, system, round, ns of an operation."""
    lines = []
    shm = Path("/dev/shm")
    for r in range(rounds):
        for work in workloads:
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
                lines.append({"work": work, "system": system, "round": r, "ns": ns, "faults": times["faults"]})
        if tools.progress:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"measured, round {r + 1} of {rounds}", end=end, file=sys.stderr, flush=True)
    return lines


def read_measured(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def counted(results: dict[Run, dict]) -> list[dict]:
    """The work of the measured programs, a line each: instructions of an operation, as the emulator
    counts them."""
    return [{"work": r.work, "system": r.system, "instructions": x["instructions"] / operations(r.work, r.scale)}
            for r, x in results.items()]


def faults_found(results: dict[Run, dict], measured: list[dict]) -> list[str]:
    """Bounds that are not kept, and programs that are not those that were measured. Never nothing
    to compare."""
    found = []
    then = {(m["work"], m["system"]): m["instructions"] for m in measured if "instructions" in m}
    for line in counted(results):
        key = (line["work"], line["system"])
        if key not in then:
            found.append(f"{' on '.join(key)}: not measured; measure again")
        elif abs(line["instructions"] / then[key] - 1) > MOVED / 100:
            found.append(f"{' on '.join(key)}: {line['instructions']:.0f} instructions an operation, {then[key]:.0f} when it "
                         "was measured; measure again (./dev sim --validate --out DIR)")
    compared = errors(results, measured)
    if not compared:
        found.append("nothing was compared")
    for (work, engine), error in compared.items():
        bound = REACHED.get(work, BOUND)
        if abs(error) > bound:
            found.append(f"{work} on {engine}: the model is {error:+.0f} percent off, the bound is {bound}")
    return found


def errors(results: dict[Run, dict], measured: list[dict], base: str = BASE) -> dict[tuple[str, str], float]:
    """Percent by which the model's time over the base's differs from the measured one, by work and
    engine."""
    there, model = times_of(measured), model_of(results)
    found = {}
    for (work, engine), ns in model.items():
        if engine in (base, BASE) or any(k not in d for k in ((work, engine), (work, base)) for d in (there, model)):
            continue
        found[work, engine] = 100 * (ns / model[work, base] * there[work, base] / there[work, engine] - 1)
    return found


def times_of(measured: list[dict]) -> dict[tuple[str, str], float]:
    by: dict[tuple[str, str], list[float]] = {}
    for line in measured:
        if "ns" in line:
            by.setdefault((line["work"], line["system"]), []).append(line["ns"])
    return {key: usual(times) for key, times in by.items()}


def model_of(results: dict[Run, dict]) -> dict[tuple[str, str], float]:
    return {(r.work, r.system): (x["ns"] + x["deferred_ns"]) / operations(r.work, r.scale) for r, x in results.items()}


def usual(times: list[float]) -> float:
    """The lower quartile: others on the machine only ever make a run slower."""
    return sorted(times)[len(times) // 4]


def tables(results: dict[Run, dict], measured: list[dict]) -> list[Table]:
    by: dict[tuple[str, str], list[float]] = {}
    for line in measured:
        if "ns" in line:
            by.setdefault((line["work"], line["system"]), []).append(line["ns"])
    there, model = times_of(measured), model_of(results)
    ratio = Table("Time over libpmemobj: the model's, the measured one, and the error in percent",
                  ["work"] + [f"{e}, {what}" for e in ENGINES for what in ("model", "measured", "error")], "times")
    ns = Table("ns of an operation: the model's, the measured one, and the error in percent",
               ["work"] + [f"{e}, {what}" for e in (*ENGINES, BASE) for what in ("model", "measured", "error")], "ns")
    ratio.picture = ns.picture = False
    wrong = []
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
            wrong.append(100 * (ours / theirs - 1))
            ratios += [ours, theirs, f"{wrong[-1]:+.0f}"]
        ratio.add(work, *ratios)
        ns.add(work, *times)
    if wrong:
        inside = sum(abs(e) <= BOUND for e in wrong)
        ratio.notes.append(f"{inside} of {len(wrong)} within {BOUND} percent; the largest error is "
                           f"{max(wrong, key=abs):+.0f} percent, the mean of their sizes "
                           f"{sum(abs(e) for e in wrong) / len(wrong):.0f}.")
        among = [e for (_, engine), e in errors(results, measured, "redo-none").items()]
        ratio.notes.append(f"Scute's engines over redo-none: {sum(abs(e) <= BOUND for e in among)} of {len(among)} within "
                           f"{BOUND} percent, the largest {max(among, key=abs, default=0):+.0f}.")
    spread = [100 * (median(t) / usual(t) - 1) for t in by.values() if len(t) > 3]
    if spread:
        ns.notes.append(f"Measured: the lower quartiles of {max(map(len, by.values()))} runs; the medians are "
                        f"{median(spread):.0f} percent above (in the median row; {max(spread):.0f} in the worst).")
    return [ratio, ns]
