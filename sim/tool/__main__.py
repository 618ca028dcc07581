# SPDX-License-Identifier: BSD-3-Clause
"""./dev sim: runs works on simulated machines and says what they cost."""
from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import comparison  # noqa: E402
import figures  # noqa: E402
import plots  # noqa: E402
from runs import ENGINES, SCHEMES, Tools, play_all  # noqa: E402

SIM = Path(__file__).resolve().parent.parent

DESCRIPTION = """\
Programs on machines that are not at hand: what the SpecPMT paper's hardware would do (--figure), and what this
library's engines and libpmemobj cost on other memory (otherwise). A machine is a file of sim/machines, or one of
yours; --set changes one number of it, --sweep a row of values."""

EXAMPLES = """\
examples:
  ./dev sim --figure 13                    SpecHPMT and the others over EDE, on STAMP (some minutes)
  ./dev sim --machine optane               every engine on a few works
  ./dev sim --machine cxl --set pm.link=200
  ./dev sim --sweep pm.write=100..1000     what one number does to every engine (about a minute)
  ./dev sim --sweep pm.banks=1,4,16 --works stamp-ssca2 --systems ede,spec,hoop
  ./dev sim --report                       all of sim/report anew (about an hour)
"""


def parse(arguments: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./dev sim", description=DESCRIPTION, epilog=EXAMPLES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, help=argparse.SUPPRESS)
    p.add_argument("--figure", choices=("1", "13", "14", "15", "all"))
    p.add_argument("--report", action="store_true", help="all figures, and every engine on optane, cxl and dram")
    p.add_argument("--machine", default=None, help="a file, or a name of sim/machines (default: table1)")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="numbers")
    p.add_argument("--sweep", metavar="NAME=FROM..TO or NAME=A,B,...")
    p.add_argument("--works", help="separated by commas: " + ", ".join(comparison.WORKS) + ", stamp-APPLICATION")
    p.add_argument("--systems", help="separated by commas: " + ", ".join((*ENGINES, *SCHEMES)))
    p.add_argument("--scale", choices=("tiny", "quick"), default=None)
    p.add_argument("--threads", type=int, choices=(1, 2), default=1, help="cores; of STAMP's applications that can")
    p.add_argument("--jobs", type=int, default=int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "2")))
    p.add_argument("--out", help="folder for tables, plots and results.jsonl")
    p.add_argument("--json", help="file for the results, a line each")
    p.add_argument("--list", action="store_true", help="the numbers of the machine")
    return p.parse_args(arguments)


def machine_file(name: str) -> str:
    path = Path(name)
    if not path.is_file():
        path = SIM / "machines" / f"{name}.machine"
    if not path.is_file():
        known = ", ".join(sorted(m.stem for m in (SIM / "machines").glob("*.machine")))
        raise SystemExit(f"sim: there is no machine {name}; there are {known}")
    return str(path.resolve())


def numbers_of(texts: list[str]) -> tuple:
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SystemExit(f"sim: --set {text}: NAME=VALUE")
        pairs.append((name, value))
    return tuple(pairs)


def publish(tables: list, results: dict, out: str | None, json_file: str | None, head: str) -> None:
    text = "\n".join(t.markdown() for t in tables)
    print(text)
    lines = [json.dumps(r) for r in results.values()]
    if json_file:
        Path(json_file).write_text("\n".join(lines) + "\n")
    if not out:
        return
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.jsonl").write_text("\n".join(lines) + "\n")
    shown = [head, ""]
    for table in tables:
        name = re.sub(r"[^a-z0-9]+", "-", table.title.split(":")[0].lower()).strip("-") + ".png"
        plots.draw(table, folder / name)
        shown += [table.markdown(), f"![{table.title}]({name})", ""]
    (folder / "tables.md").write_text("\n".join(shown))


def main() -> int:
    a = parse(sys.argv[1:])
    tools = Tools(Path(a.build), max(a.jobs, 1))
    numbers = numbers_of(a.numbers)
    machine = machine_file(a.machine or "table1")
    works = tuple(a.works.split(",")) if a.works else comparison.SWEPT if a.sweep else comparison.WORKS
    systems = tuple(a.systems.split(",")) if a.systems else (*ENGINES, "none", "ede", "hoop", "spec", "no-log")
    for system in systems:
        if system not in ENGINES and system not in SCHEMES:
            raise SystemExit(f"sim: there is no system {system}")
    if a.list:
        for line in Path(machine).read_text().splitlines():
            print(line)
        return 0
    made: list = []
    results: dict = {}
    head = "# " + " ".join(["./dev sim", *[x for x in sys.argv[1:] if not x.startswith("--build")]])
    if a.figure or a.report:
        wanted = tuple(figures.FIGURES) if a.report or a.figure == "all" else (a.figure,)
        runs = [r for f in wanted for r in figures.runs_of(f, machine, numbers, a.scale or "quick", a.threads)]
        results = play_all(tools, runs)
        made = [figures.FIGURES[f](results) for f in wanted]
    if a.report:
        machines = [machine_file(m) for m in ("optane", "cxl", "dram")]
        more = play_all(tools, comparison.runs_of(machines, works, ENGINES, numbers, None, a.scale or "quick"))
        made += comparison.tables(more, machines, works, numbers, None)
        results.update(more)
    if not a.figure and not a.report:
        sweep = comparison.sweep_values(a.sweep) if a.sweep else None
        scale = a.scale or ("tiny" if sweep else "quick")
        results = play_all(tools, comparison.runs_of([machine], works, systems, numbers, sweep, scale))
        made = comparison.tables(results, [machine], works, numbers, sweep)
    publish(made, results, a.out or (str(SIM / "report") if a.report else None), a.json, head)
    for text in tools.failed:
        print(f"sim: {text}", file=sys.stderr)
    return 1 if tools.failed else 0


if __name__ == "__main__":
    sys.exit(main())
