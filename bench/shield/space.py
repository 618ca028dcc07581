# SPDX-License-Identifier: BSD-3-Clause
"""Measures the space that FILE.scute takes in addition to FILE."""
from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Callable, Iterator

from measure import output
from plan import Space

SPARE = 3  # times the file must fit into what the folder has left


def blocks(path: Path) -> int:
    """Bytes that are there: holes take none."""
    return os.stat(path).st_blocks * 512 if path.exists() else 0


def measure(scute: Path, folder: Path, space: Space, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """A row for each size and shape. Zeros serve as well as other bytes: nothing is compressed."""
    file = folder / "space"
    for size in space.sizes:
        if shutil.disk_usage(folder).free < SPARE * size:
            progress(f"space: no room for {size >> 20} MiB")
            continue
        # A disk's own default is spec, which puts a second file next to FILE.
        for engine, shapes in (("logfree", space.shapes), ("spec", space.shapes[:1])):
            for rows, parity in shapes:
                progress(f"space: {size >> 20} MiB, {engine}, N = {rows}, P = {parity}")
                with file.open("wb") as made:
                    made.truncate(size)
                said = json.loads(output([str(scute), "shield", "add", str(file), "--engine", engine, "--rows", str(rows),
                                          "--parity", str(parity), "--json", "-q"]))
                yield {"set": "space", "size": size, "engine": engine, "rows": said["rows"], "parity": said["parity"],
                       "capacity": said["capacity"], "sidecar_bytes": blocks(file.with_name("space.scute")),
                       "log_bytes": blocks(file.with_name("space.scute.log"))}
                for path in folder.glob("space*"):
                    path.unlink()
