"""All figures of a study as one self-contained interactive page."""

from __future__ import annotations

import html
from itertools import count
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core.files import write_whole
from nic2core.studies.chart import Bars, Curves, Panel, Stacks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
.panels { display: grid; gap: 1rem; }
@media (max-width: 60rem) { .panels { grid-template-columns: 1fr !important; } }
"""


def save(title: str, figures: Sequence[tuple[str, Sequence[Panel], int]], file: Path) -> None:
    """Write figures (heading, panels, columns) one below the other."""
    parts = []
    number = count()
    for heading, panels, columns in figures:
        drawn = [_drawn(panel, next(number)) for panel in panels]
        boxes = "".join(f"<div>{d}</div>" for d in drawn)
        grid = f"grid-template-columns: repeat({columns}, minmax(0, 1fr))"
        parts.append(
            f'<h2>{html.escape(heading)}</h2><div class="panels" style="{grid}">{boxes}</div>'
        )
    write_whole(
        file,
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1>{html.escape(title)}</h1>{''.join(parts)}</body></html>",
    )


def _drawn(panel: Panel, number: int) -> str:
    """A panel as HTML; the first one of a page brings Plotly's script with it."""
    return str(
        _laid_out(panel).to_html(
            full_html=False,
            include_plotlyjs=number == 0,
            config={"displayModeBar": False},
            # Plotly would draw one at random, and the page would differ from one run to the next.
            div_id=f"panel-{number}",
        )
    )


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
