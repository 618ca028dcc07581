# SPDX-License-Identifier: BSD-3-Clause
"""Tables, pictures and results in a folder; all of sim/report."""
from __future__ import annotations

import json
import re
from pathlib import Path

import engines
import figures
import grid
import plots
import sensitivity
import validation
from runs import ENGINES, Run, Tools, play_all

FIGURES = """\
# Simulated hardware: the figures of the SpecPMT paper

Made by `./dev sim --report` on `table1`, STAMP with the inputs for simulators, one core.
[docs/internals/simulator.md](../../docs/internals/simulator.md) explains the differences.
"""
GRID = """\
# Figure 13 on other memory

`./dev sim --grid`: nine applications at each point, with the inputs of [tables.md](tables.md). The paper gives the queue (512 bytes) and
the time of a write (500 ns); it does not give the banks.
[docs/internals/simulator.md](../../docs/internals/simulator.md#figures) says what explains what.
"""
EVERY_ENGINE = """\
# Every engine on memory that is not available

Made by `./dev sim --report`; `./dev sim --engines` makes the same tables from smaller workloads (STAMP's are the small ones
here, too). The machines are described in [sim/machines](../machines), the runs and their meaning in
[docs/benchmarks.md](../../docs/benchmarks.md#on-simulated-memory).
"""
SENSITIVITY = """\
# What each number of a machine does to every engine

`./dev sim --sensitivity`: one number at a time, halved and doubled or more, on `optane` and `cxl`.
"""
VALIDATION = """\
# The model of this machine next to the machine itself

The program in the emulator on `here` (`./dev sim --report`), and the same program without the emulator on an AMD
EPYC (Zen 4, virtual machine with two processors) in turns, [validation.jsonl](validation.jsonl): processor time, 5 rounds, 2026-11-25,
while others kept both CPUs busy (load 20). (`./dev sim --validate --out DIR`, which
measures; the file has the instructions of each program, so that a test sees when it has to be measured again).
[docs/internals/simulator.md](../../docs/internals/simulator.md#validation) explains the result.
"""


def publish(tables: list, results: dict[Run, dict], folder: Path, name: str, head: str, prefix: str = "") -> None:
    """NAME.md, a picture for each table that has one, and the results a line each."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(r) + "\n" for r in results.values())
    (folder / ("results.jsonl" if name == "tables" else f"{name}.jsonl")).write_text(lines)
    shown = [head]
    for table in tables:
        shown.append(table.markdown())
        if table.picture:
            short = table.title.split(":")[0].lower()
            file = prefix + re.sub(r"[^a-z0-9]+", "-", short).strip("-") + ".png"
            plots.draw(table, folder / file)
            shown.append(f"![{table.title}]({file})\n")
    (folder / f"{name}.md").write_text("\n".join(shown))


def write(tools: Tools, folder: Path, machines: dict[str, str]) -> None:
    """All of sim/report. `machines`: the files of table1, here and engines.MACHINES, by name."""
    table1 = machines["table1"]
    runs = [r for f in figures.FIGURES for r in figures.runs_of(f, table1, (), "quick", 1)]
    results = play_all(tools, runs)
    publish([t for f in figures.FIGURES for t in figures.tables(f, results)], results, folder, "tables", FIGURES)

    results = play_all(tools, grid.runs_of(table1, "quick"))
    publish([grid.table(results)], results, folder, "grid", GRID)

    files = [machines[m] for m in engines.MACHINES]
    stamp = tuple(w for w in engines.WORKLOADS if w.startswith("stamp-"))
    others = tuple(w for w in engines.WORKLOADS if w not in stamp)
    results = play_all(tools, engines.runs_of(files, others, ENGINES, (), "quick") +
                       engines.runs_of(files, stamp, ENGINES, (), "tiny"))
    publish(engines.tables(results, files, engines.WORKLOADS, ()), results, folder, "engines", EVERY_ENGINE, "engines-")

    results = play_all(tools, sensitivity.runs_of(machines, "tiny"))
    publish(sensitivity.tables(results), results, folder, "sensitivity", SENSITIVITY)

    # Nothing is measured here: that takes the machine itself.
    measured = validation.read_measured(folder / "validation.jsonl")
    results = play_all(tools, validation.runs_of(machines["here"], (), validation.WORKLOADS, "quick"))
    shown = [VALIDATION] + [t.markdown() for t in validation.tables(results, measured)]
    (folder / "validation.md").write_text("\n".join(shown))
