# SPDX-License-Identifier: BSD-3-Clause
"""The report of the shield: plots and tables of one run, the goals, and Pavise's figures next to
ours."""
from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any, Callable

import machine as machines
import markdown
import report
import shield_goals
import shield_paper
import shield_parts
import shield_plots
import units
from canvas import Canvas, Picture
from ratio import Ratio, geometric_mean
from shield_rows import CLOCKS, PLAIN, Cell, Results

READING = """\
Each configuration runs the same operations in a fresh pool, in turns with the others. Opening and closing the
file are not in these times and have a table of their own. A ratio is of times of the same round: the median over the rounds, ± half the
interquartile range; *least* is the ratio of the shortest times. **Processor time is what counts**, since other work on
the machine disturbs it less: that of the program and of its supervisor, user's and kernel's. In every configuration the
map was read back without the shield and held the same, and the shielded file was found sound.

| configuration | |
|---|---|
| plain | the program by itself, on a file without a shield |
| interposed | under `scute shield run`, on a file without a shield: what the interposed calls cost alone |
| windows | shielded, a transaction or atomic call of libpmemobj is one commit: the default |
| per-fence | shielded, `--windows off`: every fence is a commit |
| redo-none to redo-mlpc | engine redo: a log alone, two copies of it (ml), with parity (mlp), with checksums (mlpc) |
| logfree-mlpc, spec-none, spec-mlpc | the other engines; logfree-mlpc is what windows has |
| *maps in pages of 2 MiB* | the file is in such pages, and so is its view (`--huge-pages`); all else is in pages of 4 KiB |
| N, P | rows of a column, and rows of parity, with engine logfree; else N = 100, P = 1 |
"""
ABSENT = """\
- *Redis, memcached and vacation* of Figure 11, which are not ours to ship; `docs/internals/shield.md` says how to run a program under the
  shield.
- *Pangolin and the paper's programs on this machine*: the paper's numbers stand next to ours as they were published, of another
  processor, of Optane and of other programs. Only ratios are compared, and those say less than ratios of one run.
- *Chunks of other sizes* (Figure 16): there is no such option.
- *Time inside a commit by its own clocks*: the shield has none. The parts of the breakdown are differences of runs.
"""


def _cell(value: Ratio | None) -> str:
    return "" if value is None else f"{value.value:.2f} ±{value.half * 100 / max(value.value, 1e-9):.0f}%"


def _rounds(n: int) -> str:
    return f"{n} round" if n == 1 else f"{n} rounds"


def _times(results: Results, name: str) -> str:
    """Works down, configurations across; a table for each clock."""
    configs = [c for c in results.configs(name) if c != PLAIN]
    out = ""
    for clock, text in CLOCKS.items():
        lines = []
        for work in results.works(name):
            plain = results.cell(name, work, PLAIN)
            if plain is None:
                continue
            line = [work[1], f"{plain.us(clock):.2f} µs"]
            for config in configs:
                least = results.least(name, work, config, clock)
                line.append(_cell(results.ratio(name, work, config, clock))
                            + ("" if least is None else f" (least {least:.2f})"))
            lines.append(line)
        means = [geometric_mean(results.ratios(name, c, clock)) for c in configs]
        lines.append(["geometric mean", "", *("" if m is None else f"{m:.2f}" for m in means)])
        out += f"Over the unprotected program, {text}:\n\n" + markdown.table(["", "plain, an operation", *configs], lines) + "\n"
    cells = [c for c in results.cells if c.set == name]
    programs = ", ".join(dict.fromkeys(c.program for c in cells))
    return out + f"Program: {programs}; {cells[0].operations:,} operations, {_rounds(len(cells[0].cpu))}.{_huge(cells)}\n\n"


def _huge(cells: list[Cell]) -> str:
    """How much of the files was in pages of 2 MiB, where they were to be."""
    shares = [100 * int(c.facts["huge_pages"]) / max(1, c.pool_bytes >> 21) for c in cells if "huge_pages" in c.facts]
    return f" Of each file at least {min(shares):.0f} % was in pages of 2 MiB." if shares else ""


def _section_overhead(results: Results, c: Canvas) -> str:
    out = "".join(p.markdown() + "\n" for p in shield_plots.overhead(c, results))
    for name, text in shield_goals.SETS:
        if results.works(name):
            out += f"### {text}\n\n{_times(results, name)}"
    if results.works(shield_goals.SERVER):
        out += ("### A server over a socket\n\nThe item server of the tests, which keeps all in a mapped file and flushes by instructions of its own, compiled "
                "by clang, or by scute-cc under the shield. Four clients in one process of Python set and get in equal parts, "
                "and wait for each answer; so the wall time is theirs as well, and the processor time is the server's alone.\n\n"
                + _times(results, shield_goals.SERVER))
    if results.works(shield_goals.WARM):
        out += ("### Look-ups when warm\n\nThe map is filled before, without the shield; then it is opened, and keys are looked up. Nothing is committed.\n\n"
                + _times(results, shield_goals.WARM))
    return out + _openings(results) + _counters(results)


def _openings(results: Results) -> str:
    """Medians over the rounds and the workloads, which all have the same file."""
    lines = []
    for name in results.sets():
        for config in results.configs(name):
            cells = [c for c in results.cells if c.set == name and c.config == config]
            medians = [statistics.median(t for c in cells for t in getattr(c, what)) for what in ("open_cpu", "open_wall", "close_cpu")]
            pools = ", ".join(units.size(n) for n in sorted({c.pool_bytes for c in cells}))
            lines.append([name, config, pools, *(f"{m:.0f} ms" for m in medians)])
    return ("### Opening and closing\n\nFrom the start of the program, and of its supervisor, to its first answer; and what both do when it "
            "ends on request. Under the shield all of the file is read. Work that an engine has put off is done in closing.\n\n"
            + markdown.table(["", "", "pool", "opening, processor", "opening, wall", "closing, processor"], lines, left=2) + "\n")


def _counters(results: Results) -> str:
    lines = []
    for x in results.counters:
        n = x.numbers
        per = [f"{n[k] / x.operations:.2f}" for k in ("flushes", "repeated_flushes", "unchanged_flushes", "fences",
                                                      "empty_fences", "commits", "committed_lines")]
        lines.append([f"{x.program} {x.map}", x.config, *per, f"{n['committed_lines'] / max(n['commits'], 1):.1f}"])
    if not lines:
        return ""
    head = ["", "", "lines flushed", "of them again", "unchanged", "fences", "of them idle", "commits", "lines committed",
            "lines a commit"]
    return ("### What the programs asked for\n\nPer operation, as `scute shield audit` counts it. A line is 64 bytes; with windows a "
            "line that is flushed several times in a transaction is committed once.\n\n" + markdown.table(head, lines, left=2) + "\n")


def _section_bars(name: str, draw: Callable[[Canvas, Results], list[Picture]]) -> Callable[[Results, Canvas], str]:
    def section(results: Results, c: Canvas) -> str:
        if not results.works(name):
            return ""
        return "".join(p.markdown() + "\n" for p in draw(c, results)) + _times(results, name)
    return section


def _section_faults(results: Results, c: Canvas) -> str:
    if not results.faults:
        return "Not in this run.\n\n"
    rates = sorted({f.rate for f in results.faults})
    lines = []
    for rows, parity, bits in dict.fromkeys((f.rows, f.parity, f.bits) for f in results.faults):
        at = {f.rate: f for f in results.faults if (f.rows, f.parity, f.bits) == (rows, parity, bits)}
        lines.append([f"N = {rows}, P = {parity}", str(bits),
                      *(f"{100 * at[r].all_back / at[r].trials:.0f} ({100 * at[r].within / at[r].trials:.0f})" if r in at else ""
                        for r in rates)])
    f = results.faults
    return ("In how many per cent of the trials every page of the file came back, and in brackets in how many the geometry "
            "permits it: no column of bytes has more damaged cells than there are parities. A checksum finds damage in few places, so "
            "more can come back than that. "
            f"Files of {units.size(f[0].size)}, {f[0].trials} trials of each. Errors invert so many bits, at so many errors per bit of the file "
            "and of all that FILE.scute has in use. Then the pool is checked and repaired, each page is read and compared with what "
            "it was, and with what FILE holds by itself.\n\n"
            + markdown.table(["", "bits", *(f"{r:.0e}" for r in rates)], lines, left=1)
            + f"\nOf {sum(x.pages for x in f):,} pages {sum(x.right for x in f):,} came back, the others were refused with an error, and "
            f"{sum(x.silent for x in f)} read wrong. Every page came back in {sum(x.within_back for x in f)} of the {sum(x.within for x in f)} trials "
            f"that the geometry permits. Of {sum(x.errors for x in f):,} errors {sum(x.in_sidecar for x in f):,} fell outside of "
            "the file. `scute-campaign rest --shielded` does it; [docs/internals/testing.md](../../../../docs/internals/testing.md) has more.\n\n")


def _section_breakdown(results: Results, c: Canvas) -> str:
    columns = shield_parts.columns(results)
    if not columns:
        return ""
    parts = [n for n in shield_parts.names() if any(n in x.parts for x in columns)]
    lines = [[n, *(f"{x.parts[n]:.2f}" if n in x.parts else "" for x in columns)] for n in parts]
    lines.append(["together", *(f"{sum(x.parts.values()):.2f}" for x in columns)])
    return ("".join(p.markdown() + "\n" for p in shield_plots.breakdown(c, results))
            + "In units of the unprotected program's processor time; medians of all rounds. *One log*: what a commit writes goes to a log, "
            "and from there to its place. *Second copy*: of the log, and of the pool's metadata. A part below zero is within the spread of "
            "the runs.\n\n" + markdown.table(["", *(x.name for x in columns)], lines) + "\n")


def _section_fragments(results: Results, c: Canvas) -> str:
    lines = [[units.size(n), f"{shield_plots.HEADER / n * 100:.2f} %"] for n in (512, 1024, 4096, 16384)]
    return ("The shield has no option for it. A fragment is a page of the file, since a page is what is lost and rebuilt as one, and "
            "since its header then costs 0.8 %. One header for each fragment of some size would take of the file:\n\n"
            + markdown.table(["fragment", "headers"], lines) + "\n"
            "A commit of one line (64 bytes) has to read that line's old bytes, the 32 bytes of the header, and the line of each row "
            "of parity; nothing else of the fragment. That is the design, and no measurement.\n\n"
            + "".join(p.markdown() + "\n" for p in shield_plots.fragments(c)))


def _section_space(results: Results, c: Canvas) -> str:
    if not results.shapes:
        return ""
    names = list(dict.fromkeys(shield_plots.shape_name(s.engine, s.rows, s.parity) for s in results.shapes))
    at = {(s.size, shield_plots.shape_name(s.engine, s.rows, s.parity)): s for s in results.shapes}
    lines = [[units.size(size), *(f"{at[size, n].share * 100:.2f} %" if (size, n) in at else "" for n in names)]
             for size in sorted({s.size for s in results.shapes})]
    return ("".join(p.markdown() + "\n" for p in shield_plots.space(c, results))
            + "All blocks of FILE.scute, and of FILE.scute.log with engine spec, right after `scute shield add`, which reserves all "
            "that a session will need, and with room for a quarter more:\n\n" + markdown.table(["", *names], lines) + "\n")


# Heading, name in pavise.json, what is shown.
SECTIONS: tuple[tuple[str, str, Callable[[Results, Canvas], str]], ...] = (
    ("Overhead (Figure 11)", "overhead", _section_overhead),
    ("Faults (Figure 12)", "faults", _section_faults),
    ("N and P (Figure 13)", "ratio", _section_bars("ratio", shield_plots.ratio)),
    ("Schemes (Figure 14)", "schemes", _section_bars("schemes", shield_plots.schemes)),
    ("Breakdown (Figure 15)", "breakdown", _section_breakdown),
    ("Size of fragments (Figure 16)", "fragments", _section_fragments),
    ("Space (Figure 17)", "space", _section_space),
)


def write(folder: Path, results: Results, machine: dict[str, Any], progress: Callable[[str], None]) -> list[Picture]:
    """report.md and the plots; plots that only the report before it named are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    old = report.named(folder / report.FILE)
    canvas = Canvas(folder, progress)
    paper = shield_paper.load()
    body = ""
    for head, name, section in SECTIONS:
        shown = section(results, canvas)
        if shown:
            body += f"## {head}\n\n{shown}{shield_paper.section(results, name, paper)}"
    (folder / report.FILE).write_text(
        f"# What the shield costs: {machine.get('processor', 'unknown processor')}\n\n"
        "Written by `./dev bench --shield`. [docs/internals/shield.md](../../../../docs/internals/shield.md) describes the shield.\n\n"
        + machines.table(machine) + "\n## Goals\n\n" + shield_goals.section(results)
        + "\n## How to read this\n\n" + READING + "\n" + body
        + f"## What is not here, or cannot be compared\n\nThe paper: {paper['source']}. Measured on: {paper['setting']}.\n\n" + ABSENT,
        encoding="utf-8")
    report.remove_plots(folder, old - {p.stem for p in canvas.written})
    return canvas.written
