# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the shield's report."""
from __future__ import annotations

import canvas
import shield_goals
import shield_parts
import units
from canvas import Canvas, Picture, Point
from shield_rows import CLOCKS, PLAIN, Results

HEADER = 32  # bytes, for each fragment
FRAGMENT = 4096
PAVISE_CHUNK, PAVISE_CHECKSUM = 512, 4


def _panel(results: Results, name: str, clock: str, configs: list[str]) -> canvas.Panel:
    panel: dict[str, dict[str, Point]] = {}
    for config in configs:
        for work in results.works(name):
            ratio = results.ratio(name, work, config, clock)
            if ratio is not None:
                panel.setdefault(config, {})[work[1].replace("_", "\n")] = Point(ratio.value, ratio.half)
    return panel


def _brief(value: float) -> str:
    return f"{value:.2f}"


def _places(results: Results, name: str) -> list[str]:
    return [w[1].replace("_", "\n") for w in results.works(name)]


def overhead(c: Canvas, results: Results) -> list[Picture]:
    """Pavise's Figure 11."""
    sets = [s for s in shield_goals.SETS if results.works(s[0])]
    if not sets:
        return []
    stem, title = "overhead", "Time over that of the unprotected program, lower is better"
    configs = [x for x in results.configs(sets[0][0]) if x != PLAIN]
    panels = [(name, text, clock) for name, text in sets for clock in CLOCKS]
    figure, axes = c.grid(stem, title, len(CLOCKS), len(panels), 5.4)
    for a, (name, text, clock) in zip(axes, panels):
        canvas.bars(a, _panel(results, name, clock, configs), configs, _places(results, name), 1.0, True, _brief)
        a.set_title(f"{text}, {CLOCKS[clock]}")
        a.set_ylabel("times")
    canvas.legend(figure, configs)
    return [c.save(figure, stem, title, "Dashed: the program without the shield. Goals: 1.5 with windows (the mean), 2.5 per fence.")]


def _bars(c: Canvas, results: Results, name: str, stem: str, title: str, caption: str) -> list[Picture]:
    configs = [x for x in results.configs(name) if x != PLAIN]
    if not configs:
        return []
    figure, axes = c.grid(stem, title, 1, 1, 9.5, 3.2)
    canvas.bars(axes[0], _panel(results, name, "cpu", configs), configs, _places(results, name), 1.0, True, _brief)
    axes[0].set_ylabel("times")
    canvas.legend(figure, configs)
    return [c.save(figure, stem, title, caption)]


def schemes(c: Canvas, results: Results) -> list[Picture]:
    """In the place of Pavise's Figure 14."""
    return _bars(c, results, "schemes", "schemes", "Engines and levels of protection: processor time over the unprotected program's, lower is better",
                 "Windows. none: a log alone; ml: two copies of it; mlp: and parity; mlpc: and checksums.")


def ratio(c: Canvas, results: Results) -> list[Picture]:
    """Pavise's Figure 13, and rows of parity."""
    return _bars(c, results, "ratio", "ratio", "Rows of a column, and rows of parity: processor time over the unprotected program's, lower is better",
                 "Windows, engine logfree. N with P = 1; P with N = 100.")


def breakdown(c: Canvas, results: Results) -> list[Picture]:
    """Pavise's Figure 15."""
    columns = shield_parts.columns(results)
    if not columns:
        return []
    stem, title = "breakdown", "Where the processor time goes, lower is better"
    parts = [n for n in shield_parts.names() if any(n in x.parts for x in columns)]
    figure, axes = c.grid(stem, title, 1, 1, 9.5, 3.4)
    canvas.stacks(axes[0], {x.name: x.parts for x in columns}, [x.name for x in columns], parts)
    axes[0].set_ylabel("times the unprotected program")
    canvas.parts_legend(figure, parts)
    return [c.save(figure, stem, title, "Differences of runs; one below zero is not drawn, and stands in the table.")]


def fragments(c: Canvas) -> list[Picture]:
    """In the place of Pavise's Figure 16: arithmetic, no measurement."""
    stem, title = "fragments", "Space that checksums take, by the bytes under each; lower is better"
    sizes = {units.size(n): float(n) for n in (128 << i for i in range(9))}
    panel = {f"a header of {HEADER} bytes": {n: Point(HEADER / s * 100) for n, s in sizes.items()},
             f"a checksum of {PAVISE_CHECKSUM} bytes": {n: Point(PAVISE_CHECKSUM / s * 100) for n, s in sizes.items()}}
    figure, axes = c.grid(stem, title, 1, 1, 7.0, 3.0)
    canvas.curves(axes[0], panel, list(panel), sizes, lambda v: f"{v:g}")
    for x, y, text in ((FRAGMENT, HEADER / FRAGMENT, "the shield"), (PAVISE_CHUNK, PAVISE_CHECKSUM / PAVISE_CHUNK, "Pavise")):
        axes[0].annotate(text, (x, y * 100), xytext=(6, 6), textcoords="offset points", fontsize=8)
    axes[0].set_ylabel("percent of the file")
    canvas.legend(figure, list(panel), lines=True)
    return [c.save(figure, stem, title, "Arithmetic: size of a header or checksum over the bytes that it covers.")]


def space(c: Canvas, results: Results) -> list[Picture]:
    """Pavise's Figure 17."""
    if not results.shapes:
        return []
    stem, title = "space", "FILE.scute, and its log, over FILE; lower is better"
    sizes = {units.size(n): float(n) for n in sorted({s.size for s in results.shapes})}
    panel: dict[str, dict[str, Point]] = {}
    for s in results.shapes:
        name = shape_name(s.engine, s.rows, s.parity)
        panel.setdefault(name, {})[units.size(s.size)] = Point(s.share * 100)
    figure, axes = c.grid(stem, title, 1, 1, 7.5, 3.2)
    canvas.curves(axes[0], panel, list(panel), sizes, lambda v: f"{v:g} %")
    axes[0].axhline(2.5, color="black", linewidth=1.0, linestyle="--")
    canvas.legend(figure, list(panel), lines=True)
    return [c.save(figure, stem, title, "Dashed: the goal, 2.5 % at N = 100 and P = 1 from 512 MiB on.")]


def shape_name(engine: str, rows: int, parity: int) -> str:
    return f"{engine}, N = {rows}, P = {parity}"
