"""How much longer reads of each size take than alone."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core._core import UserError
from nic2core.describe import slowdowns
from nic2core.describe.senders import GROUPS
from nic2core.draw import palette
from nic2core.draw.style import style
from nic2core.scenario.quantity import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.run_record import Record

PERCENTILES = (99.0, 50.0, 90.0, 99.9)
"""The percentiles of reads that can be drawn, first the one that is drawn unless asked."""


ABOVE = 0.1
"""Room above the highest point, powers of ten."""


def slowdowns_by_size(results: Sequence[Record], percentile: float = 99.0) -> go.Figure:
    """The slowdown of reads at a percentile of those of each size; those of rivals dashed.

    No traces for runs whose reads have one size and no load.
    """
    if percentile not in PERCENTILES:
        allowed = ", ".join(f"{p:g}" for p in sorted(PERCENTILES))
        raise UserError(f"plot_slowdowns: percentile = {percentile!r}; allowed: {allowed}.")
    figure = go.Figure()
    seen: set[int] = set()
    for number, result in enumerate(results):
        for group, name in enumerate(GROUPS):
            of = [size for size in slowdowns.sizes(result.data) if size.group == group]
            of.sort(key=lambda size: size.bytes)
            if not of:
                continue
            seen.update(size.bytes for size in of)
            figure.add_scatter(
                name=result.label if group == 0 else f"{result.label}, {name}",
                x=[size.bytes for size in of],
                y=[slowdowns.slowdown(size, percentile) for size in of],
                mode="lines+markers",
                line={**palette.line(number), **({"dash": "dash"} if group else {})},
                customdata=[(size_text(size.bytes), size.latency.count) for size in of],
                hovertemplate="%{customdata[1]:,} reads of %{customdata[0]}: "
                "%{y:.3~r} times as long as alone<extra></extra>",
            )
    ticks = sorted(seen)
    figure.update_xaxes(
        type="log",
        title="bytes of a read",
        tickvals=ticks,
        ticktext=[size_text(size) for size in ticks],
    )
    steps = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    figure.update_yaxes(
        type="log",
        title=f"p{percentile:g} slowdown (alone: 1)",
        tickvals=steps,
        ticktext=[f"{step:,}" for step in steps],
        range=[0, log10(max((y for trace in figure.data for y in trace.y), default=1.0)) + ABOVE],
    )
    return style(figure, legend=len(figure.data) > 1)
