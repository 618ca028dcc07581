# SPDX-License-Identifier: BSD-3-Clause
"""Pavise's figures next to ours. pavise.json holds the claims of the paper's text, with the place,
and the differences."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import markdown
import papers
import shield_goals
import shield_parts
from ratio import geometric_mean
from shield_rows import Results

FILE = Path(__file__).with_name("pavise.json")


def load(path: Path = FILE) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _times(value: float | None) -> str:
    return papers.NOT_HERE if value is None else f"{value:.2f}×"


def _overhead(config: str) -> Callable[[Results], str]:
    def ours(r: Results) -> str:
        parts = [f"{text} {_times(geometric_mean(values))} (of {len(values)})"
                 for name, text in shield_goals.SETS if (values := r.ratios(name, config))]
        return "; ".join(parts) or papers.NOT_HERE
    return ours


def _worst(r: Results) -> str:
    found = sorted(((x.value, f"{work[1]}") for name, _ in shield_goals.SETS for work in r.works(name)
                    if (x := r.ratio(name, work, "windows")) is not None), reverse=True)
    return ", ".join(f"{text} {value:.2f}×" for value, text in found[:3]) or papers.NOT_HERE


def _over_hundred(*configs: str) -> Callable[[Results], str]:
    def ours(r: Results) -> str:
        means = [(c, geometric_mean(r.ratios("ratio", c, against="N = 100"))) for c in configs]
        return ", ".join(f"{c}: {m:.2f}×" for c, m in means if m is not None) or papers.NOT_HERE
    return ours


def _largest_part(r: Results) -> str:
    means = shield_parts.means(r)
    if not means:
        return papers.NOT_HERE
    name = max(means, key=lambda n: means[n])
    return f"{name}: {means[name] * 100:.0f} % of the added time"


def _protection_parts(r: Results) -> str:
    means = shield_parts.means(r)
    found = [f"{n}: {means[n] * 100:.0f} %" for n in ("checksums", "parity") if n in means]
    return ", ".join(found) + " of the added time" if found else papers.NOT_HERE


def _space(r: Results) -> str:
    share = shield_goals.largest_share(r)
    return papers.NOT_HERE if share is None else f"{share:.2f} % with checksums, logs and superblocks"


def _faults(r: Results) -> str:
    parts = []
    for rows, parity, bits in dict.fromkeys((f.rows, f.parity, f.bits) for f in r.faults):
        whole = [f.rate for f in r.faults if (f.rows, f.parity, f.bits) == (rows, parity, bits)
                 and all(g.all_back == g.trials for g in r.faults
                         if (g.rows, g.parity, g.bits) == (rows, parity, bits) and g.rate <= f.rate)]
        if whole:
            parts.append(f"{max(whole):.0e} (N = {rows}, P = {parity}, {bits} bit{'' if bits == 1 else 's'})")
    return ", ".join(parts) or papers.NOT_HERE


OURS: dict[str, Callable[[Results], str]] = {
    "windows": _overhead("windows"), "per_fence": _overhead("per-fence"), "worst": _worst,
    "smaller_n": _over_hundred("N = 20", "N = 50"), "one_row": _over_hundred("N = 1"),
    "largest_part": _largest_part, "protection_parts": _protection_parts,
    "faults": _faults,
    "fragment": lambda r: "4096 bytes, the only one", "space": _space,
}


def section(results: Results, name: str, data: dict[str, Any]) -> str:
    """The paper's claims of one figure, ours next to them, and the differences."""
    figure = data["figures"][name]
    lines = [[c["says"], papers.published(c), OURS[c["ours"]](results) if c["ours"] else f"— ({c['why']})", c["place"]]
             for c in figure["claims"]]
    return (f"{data['name']} {figure['figure']}, {figure['title']}:\n\n"
            + markdown.table(["", "paper", "ours", "stated in"], lines, left=4)
            + f"\nDifferences: {figure['differs']}\n\n")
