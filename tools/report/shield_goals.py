# SPDX-License-Identifier: BSD-3-Clause
"""What the shield was to cost, and what it costs."""
from __future__ import annotations

import markdown
import units
from ratio import geometric_mean
from shield_rows import Results, Shape
from target_result import TargetResult

SPACE_FROM = 512 << 20  # bytes; smaller files pay for what is fixed
SERVER, WARM = "server", "warm"
SETS = (("overhead", "maps"), ("huge", "maps in pages of 2 MiB"), ("values", "maps with values of 256 bytes"))


def largest_share(results: Results) -> float | None:
    """Percent at N = 100, P = 1, of the default on shared memory; the log of spec is apart."""
    found = [s.share * 100 for s in results.shapes if counts(s)]
    return max(found) if found else None


def counts(shape: Shape) -> bool:
    return (shape.size >= SPACE_FROM and shape.rows == 100 and shape.parity == 1 and shape.engine == "logfree")


def survival(results: Results) -> float | None:
    """Of the trials that the redundancy covers, byte by byte, the percent in which all pages came
    back."""
    within = sum(f.within for f in results.faults)
    return 100 * sum(f.within_back for f in results.faults) / within if within else None


def target_results(results: Results) -> list[TargetResult]:
    out = []
    for name, text in SETS:
        windows, fences = results.ratios(name, "windows"), results.ratios(name, "per-fence")
        out += [TargetResult(f"{text}, windows", "geometric mean", 1.5, geometric_mean(windows), at_most=True),
                TargetResult(f"{text}, windows", "the worst of them", 2.0, max(windows, default=None), at_most=True),
                TargetResult(f"{text}, per fence", "geometric mean", 2.5, geometric_mean(fences), at_most=True)]
    out.append(TargetResult("server over a socket", "wall time of its clients", 1.15, max(results.ratios(SERVER, "windows", "wall"), default=None),
                       at_most=True))
    out.append(TargetResult("look-ups when warm", "geometric mean", 1.05, geometric_mean(results.ratios(WARM, "windows")), at_most=True))
    out.append(TargetResult("space", f"of files from {units.size(SPACE_FROM)} on, N = 100, P = 1", 2.5, largest_share(results),
                       at_most=True, unit=" %"))
    out.append(TargetResult("faults", "trials that came back, of those that the geometry permits", 95.0, survival(results), at_most=False,
                       unit=" %"))
    silent = sum(f.silent for f in results.faults) if results.faults else None
    out.append(TargetResult("faults", "pages that read wrong without an error", 0, silent, at_most=True, unit=""))
    return out


def section(results: Results) -> str:
    lines = [[v.ident, v.what, *(v.line()[2:4]), v.word()] for v in target_results(results)]
    return markdown.table(["", "", "goal", "measured", ""], lines, left=2)
