"""The style shared by all figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

GRID = "rgba(128, 136, 150, 0.25)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
BAR_GAP = 0.5
"""Share of a bar's space that stays free, for its name."""

BAR, NARROW_BAR = 60, 36
"""Height of a bar with its name, pixels, and of one of many."""

MANY_BARS = 8
"""Number of bars from which they are narrow."""

LEGEND_LINE = 20
"""Height of a line of the legend, pixels."""

FEW_NAMES = 3
"""Number of names in a legend for which a figure has room; each of the others may need a line."""

WIDE = 3
"""Ratio of the largest to the smallest value up to which a linear axis works well."""


def bars_height(number: int) -> int:
    """The height of so many bars with their names."""
    return number * (BAR if number < MANY_BARS else NARROW_BAR)


def style(
    figure: go.Figure, height: int = 340, *, bars: bool = False, legend: bool = True
) -> go.Figure:
    """One plain style for all; a report takes the background away, so that the page's is seen.

    The figure is higher by what a long legend takes.
    """
    named = {trace.name for trace in figure.data if trace.name and trace.showlegend is not False}
    if legend:
        height += LEGEND_LINE * max(0, len(named) - FEW_NAMES)
    figure.update_layout(
        template="none",
        height=height,
        font={"family": FONT, "size": 13},
        paper_bgcolor="#ffffff",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 64, "r": 16, "t": 40 if legend else 20, "b": 52},
        showlegend=legend,
        # With the default maximum height (half the plot), a wrapped legend would get a scroll bar.
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "maxheight": 400},
        hoverlabel={"font": {"family": FONT, "size": 13}},
        hovermode="closest",
    )
    figure.update_xaxes(gridcolor=GRID, zeroline=False, automargin=True, title_font_size=13)
    figure.update_yaxes(gridcolor=GRID, zeroline=False, automargin=True, title_font_size=13)
    if bars:
        # A run's name is above its bar, not next to it, so that bars have the whole width.
        figure.update_layout(legend_traceorder="normal", margin_l=12, bargap=BAR_GAP)
        # A name may look like a number.
        figure.update_yaxes(
            type="category", autorange="reversed", showgrid=False, showticklabels=False
        )
        names = [
            {
                "text": label, "x": 0, "xref": "paper", "xanchor": "left", "showarrow": False,
                "y": place - (1 - BAR_GAP) / 2, "yanchor": "bottom",
            }
            for place, label in enumerate(dict.fromkeys(y for bar in figure.data for y in bar.y))
        ]  # fmt: skip
        # All at once: one by one, each would copy those before it.
        figure.update_layout(annotations=[*figure.layout.annotations, *names])
    return figure


def wide(values: Sequence[float]) -> dict[str, Any]:
    """An axis for times: logarithmic if they span more than half a decade."""
    most, least = max(values, default=1.0), min(values, default=1.0)
    if most < WIDE * least:
        return {"type": "linear"}
    # Ticks at 1, 2 and 5 are too few within one decade, and too many beyond three.
    steps = range(1, 10) if most < 10 * least else (1, 2, 5) if most < 1000 * least else (1,)
    ticks = [n * 10.0**k for k in range(-3, 7) for n in steps if n * 10.0**k <= 2 * most]
    return {"type": "log", "tickvals": ticks}
