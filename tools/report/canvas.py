# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of charts, and how a figure becomes files.

A figure is a grid of panels that share one legend outside of them. It is written as PNG at 150 dots
per inch, with its texts as the description. The file holds no date and no random name, so the same
results give the same file."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Mapping, Sequence

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.artist import Artist  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator  # noqa: E402

import palette  # noqa: E402

plt.rcParams.update({
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.5,
})


@dataclass(frozen=True)
class Point:
    """A measured value and half the height of its whisker."""
    value: float
    half: float = 0.0


# Panel[series][group]: what is measured of one system at one place on the axis.
Panel = Mapping[str, Mapping[str, Point]]


@dataclass(frozen=True)
class Picture:
    """A figure that was written: the name of its file without the ending, and its text."""
    stem: str
    title: str
    caption: str = ""

    def markdown(self) -> str:
        return f"![{self.title}]({self.stem}.png)\n\n*{self.title}.* {self.caption}".rstrip() + "\n"


@dataclass
class Canvas:
    """Where figures go. Calls `progress` with the name of each before it draws."""
    folder: Path
    progress: Callable[[str], None] = lambda what: None
    written: list[Picture] = field(default_factory=list)

    def grid(self, stem: str, title: str, columns: int, panels: int, width: float,
             height: float = 2.7) -> tuple[Figure, list[Axes]]:
        self.progress(stem)
        lines = -(-panels // columns)
        figure, axes = plt.subplots(lines, columns, figsize=(width * columns, height * lines + 0.5),
                                    squeeze=False, layout="constrained")
        figure.suptitle(title, fontsize=11, fontweight="bold")
        flat = [a for line in axes for a in line]
        for spare in flat[panels:]:
            spare.set_axis_off()
        return figure, flat[:panels]

    def save(self, figure: Figure, stem: str, title: str, caption: str) -> Picture:
        self.folder.mkdir(parents=True, exist_ok=True)
        # Finding the place of everything takes the time, so that is done once.
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # not "none", which would have each file drawn twice
        box = figure.get_tightbbox().padded(0.1)
        texts = [t.get_text() for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
        figure.savefig(self.folder / f"{stem}.png", dpi=150, bbox_inches=box,
                       metadata={"Software": None, "Description": "\n".join(texts)})
        plt.close(figure)
        picture = Picture(stem, title, caption)
        self.written.append(picture)
        return picture


def legend(figure: Figure, names: Sequence[str], lines: bool = False) -> None:
    """Below the panels, outside of them."""
    handles = []
    for name in names:
        at = palette.look(name)
        if lines:
            handles.append(plt.Line2D([], [], color=at.color, marker=at.marker, markersize=5,
                                      linestyle="--" if at.dashed else "-", label=name))
        else:
            handles.append(Patch(facecolor=at.color, hatch=at.hatch, edgecolor="#333333",
                                 linewidth=0.4, label=name))
    _below(figure, handles)


def parts_legend(figure: Figure, parts: Sequence[str]) -> None:
    _below(figure, [Patch(facecolor=palette.part(i), edgecolor="#333333", linewidth=0.4, label=p)
                    for i, p in enumerate(parts)])


def _below(figure: Figure, handles: Sequence[Artist]) -> None:
    if not handles:
        return
    lines = -(-len(handles) // 7)
    columns = -(-len(handles) // lines)
    # A legend fills its columns first; people read lines.
    by_line = [handles[i] for c in range(columns) for i in range(c, len(handles), columns)]
    figure.legend(handles=by_line, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns,
                  frameon=False)


def bars(axes: Axes, panel: Panel, series: Sequence[str], groups: Sequence[str],
         baseline: float | None = None, label_values: bool = False,
         format_value: Callable[[float], str] = lambda v: f"{v:.2g}") -> None:
    """A group of bars per place, a bar per system, whiskers over the spread.

    A whisker that is far longer than its bar is cut off by the axis, so that it hides no other."""
    series = [s for s in series if panel.get(s)]
    width = 0.84 / max(len(series), 1)
    tallest = 0.0
    for i, name in enumerate(series):
        at = palette.look(name)
        for g, group in enumerate(groups):
            point = panel.get(name, {}).get(group)
            if point is None:
                continue
            x = g + (i - (len(series) - 1) / 2) * width
            axes.bar(x, point.value, width * 0.94, color=at.color, hatch=at.hatch,
                     edgecolor="#333333", linewidth=0.4)
            if point.half > 0:
                axes.errorbar(x, point.value, yerr=min(point.half, point.value), color="black",
                              linewidth=0.8, capsize=min(2.5, 24 * width))
            top = point.value + point.half
            tallest = max(tallest, min(top, 1.5 * point.value))
            if label_values:
                axes.annotate(format_value(point.value), (x, top), xytext=(0, 4 if point.half > 0 else 2),
                              textcoords="offset points", ha="center", va="bottom", fontsize=6.5,
                              rotation=90 if len(series) * len(groups) > 8 else 0)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.tick_params(axis="x", length=0)
    if baseline is not None:
        axes.axhline(baseline, color="black", linewidth=1.0, linestyle="--", zorder=3)
    if tallest > 0:
        tallest = max(tallest, baseline or 0.0)
        axes.set_ylim(0, tallest * (1.18 if label_values else 1.05))


def curves(axes: Axes, panel: Panel, series: Sequence[str], places: Mapping[str, float],
           format_y: Callable[[float], str], logarithmic: bool = True) -> None:
    """A line per system over an axis of sizes. Both axes are logarithmic, or both linear from
    zero."""
    for name in series:
        points = [(x, panel[name][g]) for g, x in places.items() if g in panel.get(name, {})]
        if not points:
            continue
        at = palette.look(name)
        axes.errorbar([x for x, _ in points], [p.value for _, p in points],
                      yerr=[min(p.half, p.value * 0.95) for _, p in points], color=at.color,
                      marker=at.marker, markersize=4.5, linewidth=1.4, capsize=2,
                      linestyle="--" if at.dashed else "-", markeredgecolor="#333333",
                      markeredgewidth=0.4)
    shown = list(places.items())
    if not logarithmic:
        axes.set_xticks([x for _, x in shown], [g for g, _ in shown])
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: format_y(v)))
        axes.grid(color="#dddddd", linewidth=0.6)
        return
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([x for _, x in shown], [g for g, _ in shown])
    if len(shown) > 5:
        axes.tick_params(axis="x", labelrotation=40)
    axes.xaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    ticks = [m * 10.0**e for e in range(-1, 13) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    if len(ticks) > 9:
        ticks = [t for t in ticks if str(t).startswith("1")]
    axes.set_yticks(ticks)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: format_y(v)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="#dddddd", linewidth=0.6)


def stacks(axes: Axes, panel: Mapping[str, Mapping[str, float]], columns: Sequence[str],
           parts: Sequence[str]) -> None:
    """A column per system, made of parts: panel[column][part]."""
    for c, column in enumerate(columns):
        bottom = 0.0
        for i, part in enumerate(parts):
            value = panel.get(column, {}).get(part, 0.0)
            if value <= 0:
                continue
            axes.bar(c, value, 0.7, bottom=bottom, color=palette.part(i),
                     edgecolor="#333333", linewidth=0.3)
            bottom += value
    axes.set_xticks(range(len(columns)), columns, rotation=35, ha="right")
    axes.set_xlim(-0.6, len(columns) - 0.4)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.tick_params(axis="x", length=0)

