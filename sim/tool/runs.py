# SPDX-License-Identifier: BSD-3-Clause
"""One run is one work on one system and machine, in an emulator of its own; several go at once."""
from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

SCHEMES = ("none", "no-log", "software-undo", "ede", "hoop", "spec-dp", "spec")
# Configurations of the library, and its peer.
ENGINES = ("redo-none", "redo-mlpc", "logfree-mlpc", "spec-none", "spec-mlpc", "libpmemobj")


@dataclass(frozen=True)
class Run:
    work: str
    system: str  # a scheme of the machine, or an engine
    machine: str  # a file
    numbers: tuple[tuple[str, str], ...] = ()
    scale: str = "quick"
    threads: int = 1

    @property
    def hardware(self) -> bool:
        return self.system in SCHEMES


class Missing(Exception):
    """The build does not have the system."""


@dataclass
class Tools:
    # a file of results, each under what made it: runs that are there are not made again
    build: Path
    jobs: int = 2
    progress: bool = True
    failed: list[str] = field(default_factory=list)
    kept: Path | None = None

    @property
    def guest(self) -> Path:
        return self.build / "sim" / "scute-sim-guest"

    @property
    def plugin(self) -> Path:
        return self.build / "sim" / "scute-sim-plugin.so"


def _emulate(tools: Tools, run: Run, home: Path, one_by_one: bool) -> subprocess.CompletedProcess:
    out = home / "result"
    arguments = [f"machine={run.machine}", f"scheme={run.system if run.hardware else 'none'}",
                 f"work={run.work}", f"out={out}"]
    arguments += [f"set={name}:{value}" for name, value in run.numbers]
    command = ["qemu-x86_64", "-cpu", "max"]
    if one_by_one:
        command.append("-singlestep")
    command += ["-plugin", ",".join([str(tools.plugin), *arguments]), str(tools.guest), run.work,
                "marked" if run.hardware else run.system, str(home / "pm"),
                "--scale", run.scale, "--threads", str(run.threads)]
    environment = dict(os.environ, PMEM_IS_PMEM_FORCE="1", LC_ALL="C")
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def play(tools: Tools, run: Run) -> dict:
    """The run's result. Raises Missing, or RuntimeError with what the programs said."""
    shm = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="scute-sim-", dir=shm if shm.is_dir() else None) as name:
        home = Path(name)
        (home / "pm").mkdir()
        done = _emulate(tools, run, home, False)
        if done.returncode == 3:  # FEED-1
            done = _emulate(tools, run, home, True)
        if done.returncode != 0:
            if "no system" in done.stderr or "EINVAL" in done.stderr:
                raise Missing(run.system)
            raise RuntimeError(f"{run.work} on {run.system}: {done.stderr.strip()}")
        result = json.loads((home / "result").read_text())
    result["system"] = run.system
    result["scale"] = run.scale
    result["threads"] = run.threads
    return result


class Kept:
    """Results of earlier commands with the same programs and machines: an interrupted command
    continues from them."""

    def __init__(self, tools: Tools) -> None:
        self.file = tools.kept
        self.made_by = "".join(_digest(p) for p in (tools.guest, tools.plugin)) if self.file else ""
        self.all: dict[str, dict] = {}
        if self.file and self.file.is_file():
            for line in self.file.read_text().splitlines():
                entry = json.loads(line)
                self.all[entry["of"]] = entry["result"]

    def key(self, run: Run) -> str:
        of = [self.made_by, _digest(Path(run.machine)), run.work, run.system, Path(run.machine).stem, *map(list, run.numbers),
              run.scale, run.threads]
        return hashlib.sha256(json.dumps(of).encode()).hexdigest()

    def get(self, run: Run) -> dict | None:
        return self.all.get(self.key(run)) if self.file else None

    def put(self, run: Run, result: dict) -> None:
        if self.file:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a") as out:
                out.write(json.dumps({"of": self.key(run), "result": result}) + "\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def play_all(tools: Tools, runs: list[Run]) -> dict[Run, dict]:
    """Plays all of them, each once. Leaves out the runs that need parts which the build lacks."""
    wanted = list(dict.fromkeys(runs))
    results: dict[Run, dict] = {}
    lock = threading.Lock()
    ended = 0
    kept = Kept(tools)

    def one(run: Run) -> None:
        nonlocal ended
        try:
            result = kept.get(run)
            fresh = result is None
            if fresh:
                result = play(tools, run)
        except Missing:
            result = None
        except RuntimeError as error:
            result = None
            with lock:
                tools.failed.append(str(error))
        with lock:
            ended += 1
            if result is not None:
                results[run] = result
                if fresh:
                    kept.put(run, result)
            if tools.progress:
                end = "\r" if sys.stderr.isatty() else "\n"
                numbers = " ".join(f"{n}={v}" for n, v in run.numbers)
                text = f"{ended}/{len(wanted)} {run.work} {run.system} {Path(run.machine).stem} {numbers}"
                print(f"{text:<79}", end=end, file=sys.stderr, flush=True)

    if shutil.which("qemu-x86_64") is None:
        raise SystemExit("sim: qemu-x86_64 is missing (Debian: qemu-user)")
    with ThreadPoolExecutor(tools.jobs) as pool:
        list(pool.map(one, wanted))
    results = {run: results[run] for run in wanted if run in results}
    if tools.progress and sys.stderr.isatty():
        print(" " * 79, end="\r", file=sys.stderr)
    return results
