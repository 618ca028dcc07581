# SPDX-License-Identifier: BSD-3-Clause
"""The page that leads to the committed reports, one per kind of processor."""
from __future__ import annotations

from pathlib import Path

import instructions
import kinds
import machine as machines
import markdown
import shield_goals
import slower
import targets
from ratio import geometric_mean
from rows import PEER_HUGE, Rows
from shield_rows import Results
from target_result import Score

FILE = "README.md"
EXPLANATIONS = "explanations.md"

ABOUT = f"""\
# Benchmark reports

Written by `./dev bench`: one full run per kind of processor that was available, and in `…-pow` the workloads
of stores alone. Times and their ratios are of that kind alone; instruction counts and the counters of fences, lines
and bytes are the same everywhere. Throughput is held against `{PEER_HUGE}`.
[docs/benchmarks.md](../../docs/benchmarks.md) describes the workloads and systems.

"""

SHIELDS = """
## The shield

Written by `./dev bench --shield`: processor time of libpmemobj's example maps under the shield over that without it, the geometric mean,
and what else Pavise's paper has figures of.

"""


def text(reports: Path) -> str:
    lines = []
    for folder in kinds.folders(reports):
        rows, m = Rows.load(folder / "results.jsonl"), machines.load(folder / "machine.json")
        explained = slower.explanations([folder / EXPLANATIONS])
        rest = slower.unexplained(rows, explained)
        losing = sum(len(losses) for _, losses in slower.lost(rows))
        lines.append([
            f"[{folder.name}]({folder.name}/report.md)", f"{m.get('processor', 'unknown')}, {m.get('cpus', '?')} CPUs",
            str(m.get("date", "")), str(m.get("commit", "unknown"))[:12],
            str(Score.of(instructions.target_results(instructions.load(folder / instructions.FILE)))),
            str(Score.of(targets.times(rows, m))), f"{losing}" + (f", {len(rest)} not explained" if rest else "")])
    head = ["kind", "processor", "date", "commit", "targets of instructions met", "targets of time met",
            "rows slower than libpmemobj"]
    return ABOUT + markdown.table(head, lines, left=4) + _shields(reports / kinds.SHIELD)


def _shields(reports: Path) -> str:
    lines = []
    for folder in kinds.folders(reports):
        results, m = Results.load(folder / "results.jsonl"), machines.load(folder / "machine.json")
        means = [geometric_mean(results.ratios("overhead", c)) for c in ("windows", "per-fence")]
        lines.append([f"[{folder.name}]({kinds.SHIELD}/{folder.name}/report.md)", f"{m.get('processor', 'unknown')}, {m.get('cpus', '?')} CPUs",
                      str(m.get("date", "")), str(m.get("commit", "unknown"))[:12],
                      *("" if v is None else f"{v:.2f}" for v in means), str(Score.of(shield_goals.target_results(results)))])
    head = ["kind", "processor", "date", "commit", "maps, windows", "maps, per fence", "goals met"]
    return SHIELDS + markdown.table(head, lines, left=4) if lines else ""


def write(reports: Path) -> None:
    (reports / FILE).write_text(text(reports), encoding="utf-8")
