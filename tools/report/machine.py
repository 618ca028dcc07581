# SPDX-License-Identifier: BSD-3-Clause
"""The machine of a run: scute-bench describes it; the commit and the peers' versions are added."""
from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any, Sequence

import kinds
import markdown

PEERS = ("libpmemobj", "lmdb", "sqlite3", "rocksdb")


def _output(*command: str, folder: Path | None = None) -> str | None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _commit(root: Path) -> str:
    commit = _output("git", "rev-parse", "HEAD", folder=root)
    if commit is None:
        return "unknown"
    # Changes of the report itself are no change of the measured tree.
    changed = _output("git", "status", "--porcelain", "--", ".", ":!bench/report", folder=root)
    return commit + (", with changes" if changed else "")


def load(path: Path) -> dict[str, Any]:
    """An absent or broken description is an empty one: the rows can be shown without."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def host() -> dict[str, Any]:
    """This machine, in the words of scute-bench: for runs that it does not make."""
    return {"processor": kinds.processor(), "cpus": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "kernel": " ".join((platform.system(), platform.release(), platform.machine()))}


def complete(described: dict[str, Any], root: Path, seconds: float, command: str,
             peers: Sequence[str] = PEERS) -> dict[str, Any]:
    """Right after a run, on the machine that it ran on."""
    versions = {p: _output("pkg-config", "--modversion", p) for p in peers}
    return {**described, "command": command, "date": datetime.date.today().isoformat(),
            "seconds": round(seconds), "commit": _commit(root), "peers": {p: v for p, v in versions.items() if v}}


def save(path: Path, machine: dict[str, Any]) -> None:
    path.write_text(json.dumps(machine, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def table(m: dict[str, Any]) -> str:
    lines: list[list[str]] = []

    def add(label: str, value: object) -> None:
        if value not in (None, "", {}):
            lines.append([label, str(value)])

    cpus = f", {m['cpus']} CPUs usable" if "cpus" in m else ""
    add("processor", f"{m.get('processor', 'unknown')}{cpus}")
    if isinstance(m.get("memory_bytes"), (int, float)):
        add("memory", f"{m['memory_bytes'] / 2**30:.1f} GiB")
    add("kernel", m.get("kernel"))
    add("medium of the pools", m.get("medium"))
    add("medium of the durable records", m.get("disk_medium"))
    add("made durable by", m.get("flush"))
    add("Scute", m.get("scute"))
    add("commit", m.get("commit"))
    add("peers", ", ".join(f"{p} {v}" for p, v in m.get("peers", {}).items()))
    add("date", m.get("date"))
    add("clock", m.get("clock"))
    add("rounds", m.get("rounds"))
    add("seed", m.get("seed"))
    if isinstance(m.get("seconds"), (int, float)):
        add("measuring took", f"{m['seconds'] / 60:.1f} min")
    add("command", f"`{m['command']}`" if "command" in m else None)
    return markdown.table(["", "measured on"], lines, left=2)


def different(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Why the times of two runs may not be comparable."""
    return [f"{what}: {old[what]} / {new[what]}" for what in ("processor", "cpus", "kernel", "medium",
                                                              "flush", "clock")
            if what in old and what in new and old[what] != new[what]]
