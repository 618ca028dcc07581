# SPDX-License-Identifier: BSD-3-Clause
"""./dev sim: runs workloads on simulated machines and says what they cost."""
from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import comparison  # noqa: E402
import engines  # noqa: E402
import figures  # noqa: E402
import grid  # noqa: E402
import report  # noqa: E402
import sensitivity  # noqa: E402
import validation  # noqa: E402
from runs import ENGINES, SCHEMES, Tools, play_all  # noqa: E402

SIM = Path(__file__).resolve().parent.parent

DESCRIPTION = """\
Programs on machines that are not available: what the SpecPMT paper's hardware would do (--figure), and what this
library's engines and libpmemobj cost on other memory (otherwise). A machine is a file of sim/machines, or one of
yours; --set changes one number of it, --sweep a row of values."""

EXAMPLES = """\
examples:
  ./dev sim --engines                      every engine on optane, cxl and dram: which one wins where
  ./dev sim --engines --machine cxl        on one machine: less than a minute
  ./dev sim --engines --set pm.write=300   what one number (of optane) does to every engine
  ./dev sim --engines --machine cxl --set pm.link=200
                                           and one of another machine
  ./dev sim --sweep pm.write=100..1000     a row of values, on four workloads
  ./dev sim --figure 13                    SpecHPMT and the others over EDE, on STAMP
  ./dev sim --sweep pm.banks=1,4,16 --workloads stamp-ssca2 --systems ede,spec,hoop
  ./dev sim --validate                     the model next to measured benchmarks
  ./dev sim --report                       all of sim/report again
"""


def parse(arguments: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./dev sim", description=DESCRIPTION, epilog=EXAMPLES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, help=argparse.SUPPRESS)
    p.add_argument("--engines", action="store_true",
                   help="what every engine costs on the machine, or on optane, cxl and dram; with --set, and no "
                        "machine named, on optane with and without the change")
    p.add_argument("--figure", choices=("1", "13", "14", "15", "all"), help="this figure of the SpecPMT paper, or all four")
    p.add_argument("--sensitivity", action="store_true", help="what each number of optane and cxl does to every engine")
    p.add_argument("--grid", action="store_true", help="the means of Figure 13 over banks, queue and write times")
    p.add_argument("--report", action="store_true", help="write sim/report again: figures, sweeps, engines")
    p.add_argument("--validate", action="store_true",
                   help="the model of this machine (--machine, default: here) next to the machine itself: the same "
                        "program, in the emulator and without it")
    p.add_argument("--rounds", type=int, default=9, help="with --validate: rounds of measuring (default: 9)")
    p.add_argument("--measured", metavar="FILE", help="with --validate: measure nothing, take what an earlier run "
                   "has left in the folder of --out")
    p.add_argument("--check", action="store_true", help="with --validate: fail where the bounds are not kept, or where the "
                   "programs are not those that were measured any more")
    p.add_argument("--machine", default=None, help="a file, or a name of sim/machines (default: table1; with "
                   "--engines: optane, cxl and dram)")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="numbers",
                   help="change one number of the machine (--list shows them); may be repeated")
    p.add_argument("--sweep", metavar="NAME=FROM..TO or NAME=A,B,...", help="give one number of the machine a row of values")
    p.add_argument("--workloads", help="workloads, separated by commas: " + ", ".join(engines.WORKLOADS) + ", other maps and sizes")
    p.add_argument("--systems", help="separated by commas: " + ", ".join((*ENGINES, *SCHEMES)))
    p.add_argument("--scale", choices=("tiny", "quick"), default=None,
                   help="size of the workloads (default: tiny for --engines, --sweep and --sensitivity; otherwise quick)")
    p.add_argument("--threads", type=int, choices=(1, 2), default=1, help="cores, for those of STAMP's applications that use two (default: 1)")
    p.add_argument("--jobs", type=int, default=int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "2")),
                   help="simulations at once (default: number of CPUs)")
    p.add_argument("--kept", metavar="FILE", help="take results that this file has of the same programs and machines, and "
                   "add what is made: an interrupted command continues")
    p.add_argument("--out", metavar="DIR",
                   help="write tables, plots and results.jsonl to this folder (default: print tables only)")
    p.add_argument("--json", metavar="FILE", help="write the results to this file, a line each")
    p.add_argument("--list", action="store_true", help="print the numbers of the machine")
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


def main() -> int:
    a = parse(sys.argv[1:])
    tools = Tools(Path(a.build), max(a.jobs, 1), kept=Path(a.kept) if a.kept else None)
    numbers = numbers_of(a.numbers)
    machine = machine_file(a.machine or "table1")
    systems = tuple(a.systems.split(",")) if a.systems else ()
    for system in systems:
        if system not in ENGINES and system not in SCHEMES:
            raise SystemExit(f"sim: there is no system {system}")
    if a.list:
        for line in Path(machine).read_text().splitlines():
            print(line)
        return 0
    workloads = tuple(a.workloads.split(",")) if a.workloads else ()
    head = "# " + " ".join(["./dev sim", *[x for i, x in enumerate(sys.argv[1:]) if not hidden(i + 1)]])
    if a.report:
        report.write(tools, SIM / "report", {m: machine_file(m) for m in ("table1", "here", *engines.MACHINES)})
        return finish(tools)
    if a.validate:
        chosen_workloads = workloads or validation.WORKLOADS
        measured = (validation.read_measured(Path(a.measured)) if a.measured
                    else validation.measure(tools, chosen_workloads, a.scale or "quick", max(a.rounds, 1)))
        results = play_all(tools, validation.runs_of(machine_file(a.machine or "here"), numbers, chosen_workloads,
                                                     a.scale or "quick", systems))
        if not a.measured:
            measured += validation.counted(results)
        made = validation.tables(results, measured)
        tools.failed += validation.faults_found(results, measured) if a.check else []
        if a.out:
            Path(a.out).mkdir(parents=True, exist_ok=True)
            (Path(a.out) / "measured.jsonl").write_text("".join(json.dumps(m) + "\n" for m in measured))
    elif a.sensitivity:
        results = play_all(tools, sensitivity.runs_of({m: machine_file(m) for m in sensitivity.CHANGES}, a.scale or "tiny"))
        made = sensitivity.tables(results)
    elif a.grid:
        results = play_all(tools, grid.runs_of(machine, a.scale or "quick"))
        made = [grid.table(results)]
    elif a.figure:
        wanted = tuple(figures.FIGURES) if a.figure == "all" else (a.figure,)
        runs = [r for f in wanted for r in figures.runs_of(f, machine, numbers, a.scale or "quick", a.threads)]
        results = play_all(tools, runs)
        made = [t for f in wanted for t in figures.tables(f, results)]
    elif a.sweep:
        sweep = comparison.sweep_values(a.sweep)
        chosen = systems or (*ENGINES, "none", "ede", "hoop", "spec", "no-log")
        results = play_all(tools, comparison.runs_of([machine], workloads or comparison.SWEPT, chosen, numbers, sweep,
                                                     a.scale or "tiny"))
        made = comparison.tables(results, [machine], workloads or comparison.SWEPT, numbers, sweep)
    elif any(s in SCHEMES for s in systems):
        chosen_workloads = workloads or engines.WORKLOADS
        results = play_all(tools, comparison.runs_of([machine], chosen_workloads, systems, numbers, None,
                                                     a.scale or "quick"))
        made = comparison.tables(results, [machine], chosen_workloads, numbers, None)
    else:
        names = [a.machine] if a.machine else engines.MACHINES[:1] if numbers else engines.MACHINES
        machines = [machine_file(m) for m in names]
        chosen_workloads = workloads or engines.WORKLOADS
        runs = []
        for each in ([(), numbers] if numbers else [()]):
            runs += engines.runs_of(machines, chosen_workloads, systems or ENGINES, each, a.scale or "tiny")
        results = play_all(tools, runs)
        made = engines.tables(results, machines, chosen_workloads, numbers)
    print("\n".join(t.markdown() for t in made))
    if a.json:
        Path(a.json).write_text("".join(json.dumps(r) + "\n" for r in results.values()))
    if a.out:
        report.publish(made, results, Path(a.out), "tables", head)
    return finish(tools)


def hidden(index: int) -> bool:
    """Arguments that ./dev adds."""
    return sys.argv[index].startswith("--build") or sys.argv[index - 1] == "--build"


def finish(tools: Tools) -> int:
    for text in tools.failed:
        print(f"sim: {text}", file=sys.stderr)
    return 1 if tools.failed else 0


if __name__ == "__main__":
    sys.exit(main())
