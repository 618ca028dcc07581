# SPDX-License-Identifier: BSD-3-Clause
"""Every row in which the default is slower than libpmemobj, whether or not a target is about it,
and its explanation in explanations.md."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Iterable

import markdown
import units
from rows import DEFAULT, PEER, PEER_HUGE, Row, Rows

NOT_EXPLAINED = "NOT EXPLAINED"


def explanations(files: Iterable[Path]) -> dict[str, str]:
    """The sections of the first file that is there, by their headings (## hashmap insert)."""
    for path in files:
        if path.is_file():
            parts = re.split(r"^##\s+(.+?)\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            return {head: text.strip() for head, text in zip(parts[1::2], parts[2::2])}
    return {}


def heading(name: str, explained: dict[str, str]) -> str | None:
    """The longest heading that is this name or the beginning of it: "ycsb", "ycsb_a" and
    "ycsb_a 100 B" fit "ycsb_a 100 B zipfian". A heading with no text below it explains nothing."""
    fits = [h for h, text in explained.items() if text and re.match(re.escape(h) + r"(?![A-Za-z0-9])", name)]
    return max(fits, key=len, default=None)


def explain(names: Iterable[str], explained: dict[str, str]) -> str:
    """A paragraph per text, with all that it is about."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        fit = heading(name, explained)
        groups.setdefault(explained[fit] if fit else NOT_EXPLAINED, []).append(name)
    return "".join(", ".join(f"**{n}**" for n in those) + f": {text}\n\n" for text, those in groups.items())


def ident(row: Row) -> str:
    """The name of the target that is about such a row, or would be."""
    name = f"{row.structure} {row.work.removeprefix('map_')}" if row.structure else " ".join(
        p for p in (row.work, units.size(row.size), row.distribution) if p)
    return name + (f" {units.threads(row.threads)}" if row.threads > 1 else "")


def _ratio(rows: Rows, row: Row, peer: str) -> float | None:
    other = rows.peer(row, peer)
    return other.ns / row.ns if other is not None and other.ns > 0 and row.ns > 0 else None


def lost(rows: Rows) -> list[tuple[str, list[tuple[Row, float]]]]:
    """The rows that lose to the fair peer, and, where that has no row, those that lose to the other
    one."""
    found: list[tuple[str, list[tuple[Row, float]]]] = [(PEER_HUGE, []), (PEER, [])]
    for row in rows.where(name=DEFAULT):
        for peer, losses in found:
            x = _ratio(rows, row, peer)
            if x is None:
                continue
            if x < 0.995:  # less than the values printed as 1.00
                losses.append((row, x))
            break
    return found


def unexplained(rows: Rows, explained: dict[str, str]) -> list[str]:
    return [ident(r) for _, losses in lost(rows) for r, _ in losses if heading(ident(r), explained) is None]


def section(rows: Rows, explained: dict[str, str]) -> tuple[str, list[str]]:
    """And the names that it explains."""
    out, reported = "", []
    for peer, losses in lost(rows):
        if not losses:
            continue
        names = list(dict.fromkeys(ident(r) for r, _ in losses))
        head = ["", "work", "where", f"throughput over {peer}'s"]
        lines = [[ident(r), r.work, _where(r), f"{x:.2f}×"] for r, x in losses]
        if peer != PEER:
            head.append(f"over {PEER}'s")
            for line, (r, _) in zip(lines, losses):
                plain = _ratio(rows, r, PEER)
                line.append("" if plain is None else f"{plain:.2f}×")
        for line in lines:
            line.append("" if heading(line[0], explained) else NOT_EXPLAINED)
        out += (f"### Where the default is slower than {peer}\n\n"
                + markdown.table([*head, ""], lines, left=3) + "\n"
                + explain([n for n in names if n not in reported], explained))
        reported += names
    return out, reported


def _where(row: Row) -> str:
    parts = (row.structure, units.size(row.size), row.distribution, units.threads(row.threads))
    return ", ".join(p for p in parts if p)
