# SPDX-License-Identifier: BSD-3-Clause
"""One command, and what it has spent."""
from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence


class Failed(Exception):
    """A command that should have worked, with what it said."""


@dataclass(frozen=True)
class Spent:
    """Milliseconds. cpu: of the command and of all that it has started and waited for."""
    cpu: float
    wall: float


def environment() -> dict[str, str]:
    """libpmemobj flushes with instructions, as Scute does, wherever the file is; and no option of the user's counts."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SCUTE_")}
    return {**kept, "PMEM_IS_PMEM_FORCE": "1", "LC_ALL": "C"}


def spend(command: Sequence[str], given: Path, errors: Path) -> Spent:
    """Runs the command with the file as its input. Whoever interrupts ends the command, and its children, too."""
    with given.open("rb") as source, errors.open("wb") as complaints:
        begin = time.monotonic()
        running = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=complaints,
                                   env=environment(), start_new_session=True)
        try:
            _, status, usage = os.wait4(running.pid, 0)
        except BaseException:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            raise
        end = time.monotonic()
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode != 0:
        said = errors.read_text(errors="replace").strip()[-1000:]
        raise Failed(f"{' '.join(command)}: exit status {running.returncode}: {said}")
    return Spent((usage.ru_utime + usage.ru_stime) * 1e3, (end - begin) * 1e3)


def output(command: Sequence[str], text: str = "", allowed: Sequence[int] = (0,)) -> str:
    """What a command prints that nobody measures."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environment())
    if done.returncode not in allowed:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()[-1000:]}")
    return done.stdout
