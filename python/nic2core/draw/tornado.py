"""How far each value of a scenario moves throughput and p99 latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plotly.subplots import make_subplots

from nic2core.draw import palette
from nic2core.draw.style import style

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from nic2core.effects import Effects

MOST = 25
"""Maximum number of keys that are drawn, those with the largest effect."""

ROW, AXES = 34, 120
"""Height of a key and of what is above and below all of them, pixels."""


SHAPES = {"lower": "", "higher": "/"}
"""The pattern of the bars of each side."""


def tornado(found: Effects) -> Figure:
    """A pair of bars for each key that does more than chance, the largest effect at the top.

    The band in the middle is what chance does. If no key does more, those are drawn that do less.
    """
    effects = found.drawn[:MOST]
    shown = {f"throughput ({found.unit}), %": "rate"}
    if found.chance.p99 is not None:
        shown[f"{found.p99}, %"] = "p99"
    if found.of_drops:
        shown["drops, points"] = "drops"
    titles = list(shown)
    figure = make_subplots(cols=len(titles), shared_yaxes=True, horizontal_spacing=0.04)
    sides = {"lower": [e.lower for e in effects], "higher": [e.higher for e in effects]}
    for number, (side, changes) in enumerate(sides.items(), 1):
        for column, what in enumerate(shown.values(), 1):
            shares = [None if c is None else getattr(c, what) for c in changes]
            figure.add_bar(
                name=side,
                x=[None if share is None else 100 * share for share in shares],
                y=[f"{e.key} = {e.value}" for e in effects],
                customdata=["" if c is None else c.value for c in changes],
                hovertemplate="%{customdata}: %{x:+.2f}<extra></extra>",
                orientation="h",
                showlegend=column == 1,
                row=1,
                col=column,
                # Not by colour alone.
                marker=palette.bar(number) | {"pattern_shape": SHAPES[side]},
            )
    for column, (title, what) in enumerate(shown.items(), 1):
        edge = 100 * (getattr(found.chance, what) or 0.0)
        figure.add_vrect(
            -edge, edge, fillcolor=palette.OTHER_CAUSE, opacity=0.2, line_width=0, layer="below",
            col=column,
        )  # fmt: skip
        figure.update_xaxes(title=title, col=column)
    style(figure, height=AXES + ROW * len(effects))
    figure.update_xaxes(zeroline=True, zerolinecolor=palette.OTHER_CAUSE)
    return figure.update_yaxes(autorange="reversed", type="category")
