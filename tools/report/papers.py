# SPDX-License-Identifier: BSD-3-Clause
"""Our rows next to the published ones.

papers.json holds only claims of a paper's text or tables, with the place; `ours` says which rows
give the same ratio here. A claim whose `ours` is null says why there is none."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import footprints
import loads
import markdown
import units
from ratio import geometric_mean
from rows import PEER, PEER_HUGE, Row, Rows

FILE = Path(__file__).with_name("papers.json")

# The meaning of `quantity`, for a row and, where it takes two, the one next to it.
PAIRS = {
    "throughput": lambda a, b: b.ns / a.ns,
    "time": lambda a, b: a.ns / b.ns,
    "saved": lambda a, b: (1 - a.ns / b.ns) * 100,  # of the other's time
    "more": lambda a, b: (a.ns / b.ns - 1) * 100,
    "lost": lambda a, b: (1 - b.ns / a.ns) * 100,  # of the other's throughput
    "gained": lambda a, b: (b.ns / a.ns - 1) * 100,
    "bytes": lambda a, b: _bytes(a, b),
}
SINGLES = {
    "us": lambda r, spec: r.ns / 1e3,
    "gb_per_s": lambda r, spec: r.gb_per_s,
    "untested": lambda r, spec: None if r.number("untested") is None else r.number("untested") * 100,
    "stage": lambda r, spec: _stage(r, spec["stage"]),
    "stage_gb_per_s": lambda r, spec: _stage_rate(r, spec["stage"]),
}
UNITS = {"throughput": "×", "time": "×", "gb_per_s": " GB/s", "stage_gb_per_s": " GB/s", "us": " µs", "times": "×"}
NOT_HERE = "not in this run"
WHERE_MAX = 6  # so many places are listed one by one; of more, the range


def _bytes(a: Row, b: Row) -> float | None:
    x, y = a.number("bytes_per_op"), b.number("bytes_per_op")
    return None if x is None or not y else x / y * 100


def _stage(row: Row, part: str) -> float | None:
    """The share of the stages whose name contains the part."""
    stages = row.fields.get("stages")
    if not isinstance(stages, dict) or sum(stages.values()) <= 0:
        return None
    found = [float(v) for name, v in stages.items() if part in name]
    return sum(found) / sum(stages.values()) * 100 if found else None


def _stage_rate(row: Row, part: str) -> float | None:
    """How fast that stage went over what the row reads."""
    moved = row.number("read_per_op")
    ns = float((row.fields.get("stages") or {}).get(part, 0))
    return None if moved is None or ns <= 0 else moved / ns


def unit(quantity: str) -> str:
    return UNITS.get(quantity, " %")


def load(path: Path = FILE) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def published(claim: dict[str, Any]) -> str:
    if "words" in claim:
        return claim["words"] or "—"
    sign = unit(claim["unit"]) if claim["unit"] != "percent" else " %"
    low, high = claim.get("low"), claim.get("high")
    if low is None:
        return f"≤ {high:g}{sign}"
    if high is None:
        return f"> {low:g}{sign}"
    return f"{low:g}{sign}" if low == high else f"{low:g} to {high:g}{sign}"


def measure(rows: Rows, spec: dict[str, Any]) -> list[tuple[Row, float]]:
    """The value at each place where the rows have all that it takes."""
    want: dict[str, Any] = {"work": spec["works"], "name": spec["of"]}
    for ours, theirs in (("threads", "threads"), ("sizes", "size"), ("distribution", "distribution"),
                         ("structures", "structure")):
        if ours in spec:
            want[theirs] = spec[ours]
    found = []
    for row in rows.where(**want):
        if spec["quantity"] in SINGLES:
            value = SINGLES[spec["quantity"]](row, spec)
        else:
            other = rows.peer(row, spec["against"])
            value = PAIRS[spec["quantity"]](row, other) if other is not None and row.ns > 0 else None
        if value is not None:
            found.append((row, value))
    return found


def ours(rows: Rows, claim: dict[str, Any]) -> str:
    spec = claim["ours"]
    if spec is None:
        return f"— ({claim['why']})"
    if _has_fair(spec):  # the fair one first
        fair, plain = _shown(rows, {**spec, "against": PEER_HUGE}), _shown(rows, spec)
        return "; ".join(t for t in (fair, f"over {PEER} {plain}" if plain else "") if t) or NOT_HERE
    return _shown(rows, spec) or NOT_HERE


def _has_fair(spec: dict[str, Any]) -> bool:
    """Next to the peer there is a fair one, except where the peer is held against itself."""
    return spec.get("against") == PEER and not spec["of"].startswith(PEER)


def _shown(rows: Rows, spec: dict[str, Any]) -> str:
    """"" if nothing was found."""
    found = measure(rows, spec)
    if not found:
        return ""
    sign = unit(spec["quantity"])
    digits = 2 if sign != " %" and sign != " µs" else 1

    def show(v: float) -> str:
        return f"{v:.{digits}f}{sign}"

    values = [v for _, v in found]
    if spec.get("mean"):
        return f"{show(geometric_mean(values))} (mean of {len(values)})"  # type: ignore[arg-type]
    if len(found) == 1:
        return show(values[0])
    out = f"{min(values):.{digits}f} to {show(max(values))}"
    if len(found) <= WHERE_MAX:
        out += " (" + ", ".join(f"{_where(r, rows_of(found))} {v:.{digits}f}" for r, v in found) + ")"
    return out


def rows_of(found: list[tuple[Row, float]]) -> Rows:
    return Rows(r for r, _ in found)


def _where(row: Row, among: Rows) -> str:
    """The fields that distinguish this row from the others."""
    parts = [row.structure] if row.structure else [units.size(row.size)]
    if len(among.distinct("work")) > 1:
        parts.insert(0, row.work)
    if len(among.distinct("threads")) > 1:
        parts.append(units.threads(row.threads))
    return " ".join(parts)


def section(rows: Rows, data: dict[str, Any], level: str) -> str:
    out = ""
    for paper in data["papers"]:
        out += f"{level} {paper['name']}\n\n{paper['source']}. Measured on: {paper['setting']}.\n\n"
        for figure in paper["figures"]:
            lines = [[c["says"], published(c), ours(rows, c), _how(c), c["place"]]
                     for c in figure["claims"]]
            out += (f"{level}# {paper['name']} {figure['figure']}: {figure['title']}\n\n"
                    + markdown.table(["", "paper", "ours", "our rows", "stated in"], lines, left=5)
                    + f"\nDifferences: {figure['differs']}\n\n")
    return (out + footprints.section(rows, data["table3"], level + "#")
            + loads.section(rows, data["table2"], level + "#"))


def _how(claim: dict[str, Any]) -> str:
    spec = claim["ours"]
    if spec is None:
        return ""
    against = spec.get("against")
    return spec["of"] + (f" : {PEER_HUGE if _has_fair(spec) else against}" if against else "")
