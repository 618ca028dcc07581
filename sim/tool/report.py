# SPDX-License-Identifier: BSD-3-Clause
"""Tables, pictures and results in a folder; all of sim/report."""
from __future__ import annotations

import json
import re
from pathlib import Path

import comparison
import engines
import figures
import plots
from runs import ENGINES, Run, Tools, play_all

BANKS = (("pm.banks", "4"),)
SWEEPS = ("pm.banks=1,4,16", "pm.queue=128,512,4096", "pm.write=100,500,1000")
SWEPT = ("stamp-genome", "stamp-kmeans-high", "stamp-yada")
SCHEMES = ("ede", "hoop", "spec", "no-log")

FIGURES = """\
# Simulated hardware: the figures of the SpecPMT paper

Made by `./dev sim --report` on `table1`, STAMP with the inputs for simulators, one core.
[docs/simulator.md](../../docs/simulator.md) explains the differences.
"""
FEW_BANKS = """\
# Figure 13 with 4 banks instead of 16

`./dev sim --figure 13 --set pm.banks=4`
"""
MANY = """\
# One number of the machine, on three applications

`./dev sim --sweep NAME=VALUES --works stamp-genome,stamp-kmeans-high,stamp-yada --systems ede,hoop,spec,no-log --scale quick`
"""
EVERY_ENGINE = """\
# Every engine on memory that is not at hand

Made by `./dev sim --report`; `./dev sim --engines` makes the same tables from smaller works. What the machines are is in
[sim/machines](../machines), what was run and what to make of it in [docs/engines.md](../../docs/engines.md).
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
    """All of sim/report. `machines`: the files of table1 and of engines.MACHINES, by name."""
    table1 = machines["table1"]
    runs = [r for f in figures.FIGURES for r in figures.runs_of(f, table1, (), "quick", 1)]
    results = play_all(tools, runs)
    publish([t for f in figures.FIGURES for t in figures.tables(f, results)], results, folder, "tables", FIGURES)

    results = play_all(tools, figures.runs_of("13", table1, BANKS, "quick", 1))
    few = figures.FIGURES["13"](results)
    few.title = few.title.replace("Figure 13", "Figure 13, 4 banks")
    publish([few], results, folder, "banks4", FEW_BANKS)

    tables, results = [], {}
    for text in SWEEPS:
        sweep = comparison.sweep_values(text)
        part = play_all(tools, comparison.runs_of([table1], SWEPT, SCHEMES, (), sweep, "quick"))
        for table in comparison.tables(part, [table1], SWEPT, (), sweep):
            table.picture = False
            tables.append(table)
        results.update(part)
    publish(tables, results, folder, "sweeps", MANY)

    files = [machines[m] for m in engines.MACHINES]
    results = play_all(tools, engines.runs_of(files, engines.WORKS, ENGINES, (), "quick"))
    publish(engines.tables(results, files, engines.WORKS, ()), results, folder, "engines", EVERY_ENGINE, "engines-")
