# SPDX-License-Identifier: BSD-3-Clause
"""report.md: the plots, the tables, the targets and the papers' figures of one run."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable, Iterable

import ents_plots
import instructions
import machine as machines
import papers
import protection_plots
import recoveries
import stamp_plots
import summary
import tables
import targets
import transaction_plots
from canvas import Canvas, Picture
from rows import DEFAULT, PEER, PEER_HUGE, Rows

FILE = "report.md"
TIMES = f"""\
Times are those of one operation in one thread: the median over the rounds, ± half the interquartile
range. **1.42×** (1.71×) after a time is the *throughput* relative to `{PEER_HUGE}` and, in brackets, to `{PEER}`
in the same run: above 1, Scute is faster. {PEER} keeps one undo log, without a copy, and protects neither objects
nor pages; `{DEFAULT}`, the default, survives lost pages, silent corruption and stray writes as well.
In shared memory Scute asks for pages of 2 MiB, which both libraries have on a DAX file; `{PEER_HUGE}` is
{PEER} with its pool brought into such pages from outside, and so the fair peer.
`raw-logfree`, `raw-log` and `raw-redo` are floors: what the engines have to load, store, write back and fence, with no
library around it. `raw-pow` and its variants are those of a log of whole objects next to structures in DRAM.
Absolute times mean little on another machine; ratios mean more, and the counters are the same everywhere.
docs/benchmarks.md describes each workload and system."""

# Heading, works (exact names, or beginnings that end in "_"), plots, tables.
Section = tuple[str, tuple[str, ...], tuple[Callable[[Canvas, Rows], list[Picture]], ...],
                Callable[[Rows, str], str]]
SECTIONS: tuple[Section, ...] = (
    ("Object transactions", tuple(w for w, _ in transaction_plots.OBJECTS),
     (transaction_plots.objects, protection_plots.bytes_written), tables.by_size),
    ("A few objects, overwritten again and again", ("overwrite_hot", "overwrite_hot_cpu"), (), tables.by_size),
    ("Maps", ("map_",), (transaction_plots.maps,), tables.by_structure),
    ("YCSB", ("ycsb_",), (transaction_plots.ycsb,), tables.by_work),
    ("STAMP", (stamp_plots.RUN, stamp_plots.LOAD),
     (stamp_plots.speedup, stamp_plots.overhead, stamp_plots.bytes_written), tables.applications),
    ("STAMP over the cap of the log", (stamp_plots.CAP,), (stamp_plots.log_cap,), tables.by_structure),
    ("Maps, TATP and TPC-C as ENTS ran them", ents_plots.WORKS, (ents_plots.works,), tables.by_cell),
    ("Level hashing", ("ents_level_",), (ents_plots.level,), tables.by_cell),
    ("Works of ENTS without write-backs", ("eadr_",), (ents_plots.eadr,), tables.by_cell),
    ("Opening and cleaning persist-on-write files", (recoveries.RECOVERY, recoveries.CLEAN), (recoveries.curves,),
     recoveries.tables),
    ("Durable records on a disk", ("kv_",), (transaction_plots.durable,), tables.by_threads),
    ("Where the time of a commit goes", ("stages",), (protection_plots.stages,), tables.stages),
    ("Policies of testing checksums", ("policy_",), (protection_plots.policies,), tables.by_size),
    ("Scrubbing, recovery and repair",
     ("scrub", "under_scrub", "recovery_scan", "check", "lost_page", "open_clean", "open_clean_empty",
      "recovery_open", "recovery_full_log"), (protection_plots.scans, protection_plots.opening), tables.by_size),
    ("Kernels", ("parity", "medium"), (protection_plots.kernels,), tables.by_size),
    ("Appending to a sequential log", ("log_append",), (), tables.by_size),
)


def _belongs(work: str, works: tuple[str, ...]) -> bool:
    return any(work == w or (w.endswith("_") and work.startswith(w)) for w in works)


def _sections(rows: Rows, canvas: Canvas) -> str:
    out = ""
    shown: set[str] = {"table3"}  # next to the paper's
    for head, works, plots, table in SECTIONS:
        here = rows.filter(lambda r: _belongs(r.work, works))
        if not len(here):
            continue
        shown.update(here.distinct("work"))
        out += f"## {head}\n\n"
        for plot in plots:
            out += "".join(p.markdown() + "\n" for p in plot(canvas, here))
        out += table(here, "###") + "\n"
    others = rows.filter(lambda r: r.work not in shown)
    if len(others):
        out += "## Other workloads\n\n" + tables.by_size(others, "###")
    return out


def write(folder: Path, rows: Rows, machine: dict[str, Any], counts: instructions.Counts,
          explained: dict[str, str], progress: Callable[[str], None]) -> list[Picture]:
    """Writes report.md and the plots, and removes plots that only the report before it named."""
    old = named(folder / FILE)
    canvas = Canvas(folder, progress)
    folder.mkdir(parents=True, exist_ok=True)
    body = _sections(rows, canvas)
    progress("report.md")
    short = summary.table(rows) if summary.lines(rows) else ""
    text = (f"# Benchmark report: {machine.get('processor', 'unknown processor')}\n\n"
            "Written by `./dev bench`; the text on missed targets comes from explanations.md.\n\n"
            + machines.table(machine) + "\n## How to read this\n\n" + TIMES
            + (f"\n\n## In short\n\nThroughput of {DEFAULT} over {PEER}'s, one thread, unless "
               f"an engine is named.\n\n{short}" if short else "\n")
            + "\n## Targets\n\n"
            + targets.section(rows, machine, counts, explained) + "\n" + body
            + "## Ours next to the papers' figures\n\n"
            "The papers measured Optane modules; our pools are in memory that the CPU flushes as if it "
            "were persistent, on another processor and with few threads. So only ratios can be "
            "compared, and those of writes tend to be smaller here: superfluous writes of a "
            "system cost less. Figures of the papers are given where their text or tables state a number.\n\n"
            + papers.section(rows, papers.load(), "###"))
    (folder / FILE).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    remove_plots(folder, old - {p.stem for p in canvas.written})
    return canvas.written


def remove_plots(folder: Path, stems: Iterable[str]) -> None:
    for stem in stems:
        (folder / f"{stem}.png").unlink(missing_ok=True)


def named(report: Path) -> set[str]:
    """The plots that a report shows."""
    if not report.is_file():
        return set()
    return set(re.findall(r"^!\[.*\]\(([a-z0-9-]+)\.png\)$", report.read_text(encoding="utf-8"),
                          flags=re.MULTILINE))
