# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the SpecPMT paper (ASPLOS 2023) that are about simulated hardware."""
from __future__ import annotations

from math import exp, log

from runs import Run

APPLICATIONS = ("genome", "intruder", "kmeans-low", "kmeans-high", "labyrinth", "ssca2",
                "vacation-low", "vacation-high", "yada")
# One thread's work: without locks (workloads/stamp).
SINGLE = ("genome", "labyrinth", "yada")
# The numbers in the paper's text; its plots have none.
PAPER_SPEEDUP = {"no-log": 1.5, "spec": 1.41, "hoop": 1.19, "spec-dp": 1.0, "ede": 1.0}
PAPER_OVERHEAD = {"ede": 50.0, "spec": 7.0}
PAPER_TRAFFIC = {"hoop": 1 / (1 - 0.189), "ede": 1.0}
PAPER_MEMORY = ((2.6, 1.12), (15.0, 1.36), (20.0, 1.4))
SHOWN = {"none": "no transactions", "no-log": "no-log", "software-undo": "software undo", "ede": "EDE-like",
         "hoop": "HOOP-like", "spec-dp": "SpecHPMT-DP", "spec": "SpecHPMT"}
# KiB of records and page records that end an epoch: Figure 15.
EPOCHS = ((8, 2), (32, 4), (128, 12), (512, 50), (2048, 200), (8192, 800))


def mean(values: list[float]) -> float:
    """Geometric."""
    return exp(sum(log(v) for v in values) / len(values)) if values else float("nan")


def runs_of(figure: str, machine: str, numbers: tuple, scale: str, threads: int) -> list[Run]:
    def run(application: str, scheme: str, more: tuple = ()) -> Run:
        return Run(f"stamp-{application}", scheme, machine, numbers + more, scale, threads)

    schemes = {"1": ("none", "ede", "hoop", "spec", "software-undo"), "13": ("ede", "hoop", "spec-dp", "spec", "no-log"),
               "14": ("ede", "hoop", "spec-dp", "spec", "no-log"), "15": ("ede",)}[figure]
    applications = [a for a in APPLICATIONS if threads == 1 or a not in SINGLE]
    all_runs = [run(a, s) for a in applications for s in schemes]
    if figure == "15":
        all_runs += [run(a, "spec", epoch_numbers(e)) for a in applications for e in EPOCHS]
    return all_runs


def epoch_numbers(epoch: tuple[int, int]) -> tuple:
    return (("scheme.epoch_records", str(epoch[0])), ("scheme.epoch_pages", str(epoch[1])))


class Table:
    """Rows of texts and numbers with a head, and what is said about it."""

    def __init__(self, title: str, head: list[str], unit: str) -> None:
        self.title, self.head, self.unit = title, head, unit
        self.rows: list[list] = []
        self.notes: list[str] = []
        self.bars: list[str] = []  # columns to draw; none: a line over the first column
        self.picture = True

    def add(self, *cells) -> None:
        self.rows.append(list(cells))

    def markdown(self) -> str:
        def show(cell) -> str:
            return cell if isinstance(cell, str) else "" if cell is None else f"{cell:.2f}"

        lines = [f"### {self.title}", "", "| " + " | ".join(self.head) + " |",
                 "|" + "---|" * len(self.head)]
        lines += ["| " + " | ".join(show(c) for c in row) + " |" for row in self.rows]
        return "\n".join(lines + [""] + [n + "\n" for n in self.notes])


def _of(results: dict, application: str, scheme: str, numbers: tuple = None) -> dict | None:
    for run, result in results.items():
        if run.work == f"stamp-{application}" and run.system == scheme and (
                numbers is None or run.numbers[-len(numbers):] == numbers):
            return result
    return None


def _by_application(results: dict, title: str, unit: str, schemes: tuple, value, paper: dict) -> Table:
    table = Table(title, ["application"] + [SHOWN[s] for s in schemes], unit)
    table.bars = [SHOWN[s] for s in schemes]
    columns: dict[str, list[float]] = {s: [] for s in schemes}
    for application in APPLICATIONS:
        cells = []
        for scheme in schemes:
            v = value(application, scheme)
            cells.append(v)
            if v is not None:
                columns[scheme].append(v)
        if any(c is not None for c in cells):
            table.add(application, *cells)
    table.add("**mean**", *[mean(columns[s]) if columns[s] else None for s in schemes])
    table.add("*paper*", *[paper.get(s) for s in schemes])
    return table


def figure_1(results: dict) -> Table:
    def value(application: str, scheme: str) -> float | None:
        raw, with_it = _of(results, application, "none"), _of(results, application, scheme)
        return None if raw is None or with_it is None else with_it["ns"] / raw["ns"]

    paper = {s: 1 + p / 100 for s, p in PAPER_OVERHEAD.items()}
    table = _by_application(results, "Figure 1 (below): time over that without transactions", "times",
                            ("ede", "hoop", "spec", "software-undo"), value, paper)
    table.notes.append("1 is no overhead. The mean is geometric; the paper does not say which its is.")
    return table


def figure_13(results: dict) -> Table:
    def value(application: str, scheme: str) -> float | None:
        ede, other = _of(results, application, "ede"), _of(results, application, scheme)
        return None if ede is None or other is None else ede["ns"] / other["ns"]

    return _by_application(results, "Figure 13: speedup over the EDE-like scheme", "times",
                           ("hoop", "spec-dp", "spec", "no-log"), value, PAPER_SPEEDUP)


def figure_14(results: dict) -> Table:
    def value(application: str, scheme: str) -> float | None:
        ede, other = _of(results, application, "ede"), _of(results, application, scheme)
        if ede is None or other is None:
            return None
        return ede["pm_lines"] / max(other["pm_lines"], 1)

    table = _by_application(results, "Figure 14: lines written by the EDE-like scheme over those of another", "times",
                            ("hoop", "spec-dp", "spec", "no-log"), value, PAPER_TRAFFIC)
    table.notes.append("More is less traffic. Lines that the memory's queue has accepted, log and data together. "
                       "Of the paper's, one is in its text: HOOP writes 18.9 percent less than EDE. Besides: EDE and "
                       "SpecHPMT-DP write most, SpecHPMT least except one, HOOP as little as SpecHPMT on half of the "
                       "applications.")
    return table


def figure_15(results: dict) -> Table:
    table = Table("Figure 15: memory for records, and speedup over the EDE-like scheme",
                  ["records per epoch (KiB)", "pages per epoch", "more memory (%)", "speedup",
                   "traffic (EDE-like / SpecHPMT)"], "times")
    for epoch in EPOCHS:
        records = everything = 0.0
        faster, traffic = [], []
        for application in APPLICATIONS:
            ede = _of(results, application, "ede")
            spec = _of(results, application, "spec", epoch_numbers(epoch))
            if ede is None or spec is None:
                continue
            records += spec["log_bytes_mean"]
            everything += spec["footprint"]
            faster.append(ede["ns"] / spec["ns"])
            traffic.append(ede["pm_lines"] / max(spec["pm_lines"], 1))
        if faster:
            table.add(str(epoch[0]), str(epoch[1]), 100 * records / max(everything, 1), mean(faster), mean(traffic))
    table.notes.append("Paper: " + ", ".join(f"+{m} % memory {s}x" for m, s in PAPER_MEMORY) + ". "
                       "Memory is that of the records alive, averaged over the ends of transactions, over what "
                       "the program has in persistent memory, both added up over the applications.")
    return table


def footprints(results: dict) -> Table:
    """Shows why Figure 15 needs more memory than the paper's: its programs have other data next to
    their records."""
    epoch = EPOCHS[4]
    table = Table(f"Persistent memory of the programs of Figure 15, and records with epochs of {epoch[0]} KiB",
                  ["application", "the program's (KiB)", "records alive (KiB)", "percent"], "KiB")
    table.picture = False
    for application in APPLICATIONS:
        spec = _of(results, application, "spec", epoch_numbers(epoch))
        if spec is not None:
            mine, records = spec["footprint"] / 1024, spec["log_bytes_mean"] / 1024
            table.add(application, f"{mine:.0f}", f"{records:.0f}", f"{100 * records / max(mine, 1):.0f}")
    table.notes.append("An epoch may have 2 MiB of records before it ends, and eight live at once; STAMP's inputs for "
                       "simulators leave some programs with less than that, so that the percentages are those of the "
                       "inputs rather than of the scheme.")
    return table


def tables(figure: str, results: dict) -> list[Table]:
    made = [FIGURES[figure](results)]
    if figure == "15":
        made.append(footprints(results))
    if any(r.threads != 1 for r in results):
        made[0].notes.append(f"On two cores, without {', '.join(SINGLE[:-1])} and {SINGLE[-1]}, which are one thread's work.")
    return made


FIGURES = {"1": figure_1, "13": figure_13, "14": figure_14, "15": figure_15}
