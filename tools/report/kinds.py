# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of processors: a short name for the processor of a run, and the folders of the committed
reports.

A kind is the maker and the family, as a reader would say it: intel-xeon, amd-epyc. Times of one
kind say little about another, so each has a report of its own."""
from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import Any

# Part of the model's name, all of whose words must be in it: the kind. The first that fits counts.
FAMILIES = (
    ("intel xeon", "intel-xeon"), ("intel core", "intel-core"), ("intel atom", "intel-atom"),
    ("intel pentium", "intel-pentium"), ("intel celeron", "intel-celeron"),
    ("amd epyc", "amd-epyc"), ("amd ryzen", "amd-ryzen"), ("amd opteron", "amd-opteron"),
    ("amd athlon", "amd-athlon"),
    ("ampere altra", "ampere-altra"), ("neoverse", "arm-neoverse"),
)
SHIELD = "shield"  # next to the kinds: a folder of the reports of the shield, by kind as well
CPUINFO = Path("/proc/cpuinfo")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


def kind_of(processor: str, architecture: str) -> str:
    """The kind of "Intel(R) Xeon(R) Processor" is intel-xeon. A processor without a family here is
    other-ARCHITECTURE."""
    words = set(re.findall(r"[a-z0-9]+", re.sub(r"\((?:r|tm|c)\)", " ", processor.lower())))
    for family, kind in FAMILIES:
        if words.issuperset(family.split()):
            return kind
    return f"other-{architecture}"


def of_machine(machine: dict[str, Any]) -> str:
    """Of what machine.json describes; its kernel is "Linux 6.1 x86_64"."""
    kernel = str(machine.get("kernel", "")).split()
    return kind_of(str(machine.get("processor", "")), kernel[-1] if kernel else platform.machine())


def processor(cpuinfo: Path = CPUINFO) -> str:
    """The processor's own name, or ""."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.*)$", text, flags=re.MULTILINE)
    return found[1] if found else ""


def of_this_machine(cpuinfo: Path = CPUINFO) -> str:
    return kind_of(processor(cpuinfo), platform.machine())


def folders(reports: Path) -> list[Path]:
    """The available kinds, in the order of their names."""
    if not reports.is_dir():
        return []
    return sorted(f for f in reports.iterdir() if (f / "results.jsonl").is_file())
