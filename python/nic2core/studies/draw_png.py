"""Figures as PNG, in the layout of the paper."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from nic2core.files import write_whole
from nic2core.studies.chart import Bars, Curves, Panel, Stacks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

CLUSTER_WIDTH = 0.84
"""Width of a cluster as a share of the distance between clusters; the rest is the gap."""
HATCH = "////"


def save(title: str, panels: Sequence[Panel], columns: int, file: Path) -> None:
    """Draw panels in rows of `columns`."""
    rows = -(-len(panels) // columns)
    wide = 11.0 if columns == 1 else 5.2 * columns
    canvas = Canvas(figsize=(wide, 4.2 * rows), layout="constrained")
    FigureCanvasAgg(canvas)
    canvas.suptitle(title)
    for i, panel in enumerate(panels):
        draw(panel, canvas.add_subplot(rows, columns, i + 1))
    png = BytesIO()
    # Leave the library's version out of the file, so that equal results give equal bytes.
    canvas.savefig(png, dpi=150, metadata={"Software": None})
    write_whole(file, png.getvalue())


def draw(panel: Panel, axes: Axes) -> None:
    """Draw one panel."""
    match panel:
        case Bars():
            _bars(panel, axes)
        case Stacks():
            _stacks(panel, axes)
        case Curves():
            _curves(panel, axes)


def _bars(panel: Bars, axes: Axes) -> None:
    width = CLUSTER_WIDTH / len(panel.series)
    for i, series in enumerate(panel.series):
        shift = (i + 0.5) * width - CLUSTER_WIDTH / 2
        present = [(n, value) for n, value in enumerate(series.values) if value is not None]
        axes.bar(
            [n + shift for n, _ in present],
            [value for _, value in present],
            width,
            label=series.name,
            color=series.color,
            edgecolor="white",
            hatch=HATCH if series.hatched else None,
        )
    _frame(panel, axes)
    axes.set_xticks(range(len(panel.clusters)), panel.clusters)


def _stacks(panel: Stacks, axes: Axes) -> None:
    width = CLUSTER_WIDTH / len(panel.bars)
    shifts = [(i + 0.5) * width - CLUSTER_WIDTH / 2 for i in range(len(panel.bars))]
    xs = [n + shift for n in range(len(panel.clusters)) for shift in shifts]
    bottom = [0.0] * len(xs)
    for part in panel.parts:
        heights = [height for cluster in part.heights for height in cluster]
        if not any(heights):
            continue
        axes.bar(xs, heights, 0.92 * width, bottom, label=part.name, color=part.color)
        bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
    _frame(panel, axes)
    axes.set_xticks(xs, list(panel.bars) * len(panel.clusters), rotation=90, fontsize="x-small")
    axes.set_ylim(0, 1.12 * max(bottom))
    for n, cluster in enumerate(panel.clusters):
        axes.text(n, 1.1 * max(bottom), cluster, ha="center", va="top", fontsize="small")


def _curves(panel: Curves, axes: Axes) -> None:
    for line in panel.lines:
        axes.plot(
            line.xs,
            line.ys,
            label=line.name,
            color=line.color,
            linestyle="--" if line.dashed else "-",
            marker="o" if line.marked else None,
        )
        for x, y, label in zip(line.xs, line.ys, line.labels, strict=False):
            axes.annotate(label, (x, y), (4, 4), textcoords="offset points", fontsize="x-small")
    if panel.log_x:
        axes.set_xscale("log")
    axes.margins(x=0.12 if any(line.labels for line in panel.lines) else 0.05)
    _frame(panel, axes)


def _frame(panel: Panel, axes: Axes) -> None:
    """Put the title below, as in the paper, and the legend above, where it hides nothing."""
    axes.set_xlabel(f"{panel.x}\n{panel.title}")
    axes.set_ylabel(panel.y)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="x-small", frameon=False
    )
