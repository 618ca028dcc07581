# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much of a shielded file survives errors at set rates. The errors hit the file, and
the data that protects it."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Iterator

from measure import output
from plan import Faults

KEPT = ("rows", "bits", "rate", "trials", "all_back", "all_survivable", "within", "within_back", "errors", "errors_beside", "objects", "right",
        "silently_wrong", "survivable")


def measure(campaign: Path, files: Path, work: Path, faults: Faults, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """A row for each cell. The campaign fails if a page is silently wrong, or if it loses a page
    that had to survive."""
    reported = work / "faults.json"
    rates = ",".join(f"{r:g}" for r in faults.rates)
    for rows, parity in faults.shapes:
        progress(f"faults: {faults.size >> 20} MiB, N = {rows}, P = {parity}, {faults.trials} trials of each rate and size")
        output([str(campaign), "rest", "--shielded", "--size", str(faults.size), "--rows", str(rows), "--parity", str(parity),
                "--bits", ",".join(map(str, faults.bits)), "--rates", rates, "--trials", str(faults.trials),
                "--dir", str(files), "--json", str(reported), "--quiet"])
        for cell in json.loads(reported.read_text())["cells"]:
            yield {"set": "faults", "size": faults.size, "parity": parity, **{k: cell[k] for k in KEPT}}
    reported.unlink(missing_ok=True)
