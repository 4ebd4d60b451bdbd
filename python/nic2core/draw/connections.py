"""What each connection of closed-loop senders got."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core.draw import palette
from nic2core.draw.style import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.run_record import Record


def by_connection(results: Sequence[Record]) -> go.Figure:
    """What connections delivered relative to their mean, from the one that got least on.

    A flat line is a fair share for each. No traces without connections that delivered anything.
    """
    figure = go.Figure()
    for number, result in enumerate(results):
        transport = result.data.transport
        of = sorted(transport.connections if transport else [], key=lambda c: c.delivered)
        delivered = sum(c.delivered for c in of)
        if delivered == 0:
            continue
        mean = delivered / len(of)
        figure.add_scatter(
            name=result.label,
            x=[(place + 0.5) / len(of) for place in range(len(of))],
            y=[c.delivered / mean for c in of],
            line={**palette.line(number), "shape": "hvh"},
            customdata=[(c.sender, c.queue, c.delivered, c.timeouts, c.mean_window) for c in of],
            hovertemplate="sender %{customdata[0]}, queue %{customdata[1]}: %{customdata[2]:,} "
            "packets (%{y:.2f} of the mean), %{customdata[3]} timeouts, mean window "
            "%{customdata[4]:.3~g}<extra></extra>",
        )
    figure.update_xaxes(title="share of the connections", tickformat="~%", range=[0, 1])
    figure.update_yaxes(title="delivered, relative to the mean", rangemode="tozero")
    return style(figure, legend=len(results) > 1)
