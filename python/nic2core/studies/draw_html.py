"""All figures of a study as one self-contained interactive page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core.draw.standalone import write_page
from nic2core.studies.chart import Bars, Curves, Panel, Stacks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def save(title: str, figures: Sequence[tuple[str, Sequence[Panel], int]], file: Path) -> None:
    """Write figures (heading, panels, columns) one below the other."""
    sections = [(heading, [*map(_laid_out, panels)], n) for heading, panels, n in figures]
    write_page(title, sections, file)


def _laid_out(panel: Panel) -> go.Figure:
    figure = draw(panel)
    figure.update_layout(
        title={"text": panel.title, "y": 0.98, "yanchor": "top"},
        yaxis_title=panel.y,
        template="plotly_white",
        height=640 if isinstance(panel, Stacks) else 480,
        margin={"t": 130},
        # Above the axes: below them the legend would cover long bar names.
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    )
    figure.update_xaxes(title=panel.x)
    return figure


def draw(panel: Panel) -> go.Figure:
    """Draw one panel."""
    match panel:
        case Bars():
            return _bars(panel)
        case Stacks():
            return _stacks(panel)
        case Curves():
            return _curves(panel)


def _bars(panel: Bars) -> go.Figure:
    figure = go.Figure(
        [
            go.Bar(
                name=series.name,
                x=list(panel.clusters),
                y=list(series.values),
                marker={
                    "color": series.color,
                    "pattern": {"shape": "/" if series.hatched else ""},
                },
            )
            for series in panel.series
        ]
    )
    figure.update_layout(barmode="group")
    return figure


def _stacks(panel: Stacks) -> go.Figure:
    outer = [cluster for cluster in panel.clusters for _ in panel.bars]
    inner = list(panel.bars) * len(panel.clusters)
    figure = go.Figure(
        [
            go.Bar(
                name=part.name,
                x=[outer, inner],
                y=[height for cluster in part.heights for height in cluster],
                marker={"color": part.color},
            )
            for part in panel.parts
            if any(height for cluster in part.heights for height in cluster)
        ]
    )
    figure.update_layout(barmode="stack")
    return figure


def _curves(panel: Curves) -> go.Figure:
    figure = go.Figure()
    for line in panel.lines:
        modes = ["lines"] + ["markers"] * line.marked + ["text"] * bool(line.labels)
        figure.add_scatter(
            name=line.name,
            x=list(line.xs),
            y=list(line.ys),
            mode="+".join(modes),
            text=list(line.labels) or None,
            textposition="top right",
            line={"color": line.color, "dash": "dash" if line.dashed else "solid"},
        )
    if panel.log_x:
        figure.update_xaxes(type="log")
    return figure
