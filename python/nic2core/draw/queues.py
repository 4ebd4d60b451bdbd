"""Figures of the cores that serve packets and of their queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core._core import UserError
from nic2core.draw import palette
from nic2core.draw.style import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.run_record import Record

AXES = {
    "packets": ("M packets/s", ".4~g"),
    "busy": ("share of the time", ".3~%"),
    "rx_descriptors": ("receive descriptors in use", ".4~g"),
    "tx_descriptors": ("transmit descriptors in use", ".4~g"),
}
"""What can be drawn: the title of its axis and the format of its values."""

RECEIVED, NOT_RECEIVED = "received", "not received"

SEVERAL_TICKS = 24
"""Number of cores up to which each has its tick."""


def by_core(results: Sequence[Record], of: str = "packets") -> go.Figure:
    """What each core that serves packets does, or its queue.

    Of a single run bars, with the packets that came and were not received (dropped, or still in the
    NIC) on top; of several a line each, of packets those received. No traces if no core serves
    packets.
    """
    if of not in AXES:
        raise UserError(f"plot_queues: of = {of!r}; allowed: {', '.join(AXES)}.")
    title, number = AXES[of]
    if of == "packets" and len(results) > 1:
        title = f"{RECEIVED}, {title}"
    figure = go.Figure()
    for place, result in enumerate(results):
        cores = [q.core for q in result.data.queues]
        for name, values in _values(result, of).items() if cores else ():
            if len(results) == 1:
                figure.add_bar(
                    name=name,
                    x=cores,
                    y=values,
                    marker_color=palette.QUEUES[name],
                    hovertemplate=f"core %{{x}}: %{{y:{number}}} {name}<extra></extra>",
                )
            elif name != NOT_RECEIVED:
                figure.add_scatter(
                    name=result.label,
                    x=cores,
                    y=values,
                    mode="lines+markers",
                    # Even load is the same in all runs.
                    line=palette.crossing(place),
                    marker=palette.mark(place),
                    hovertemplate=f"<b>{result.label}</b>, core %{{x}}<br>%{{y:{number}}} {name}"
                    "<extra></extra>",
                )
    figure.update_layout(barmode="stack", bargap=0.15)
    every = sorted({core for trace in figure.data for core in trace.x})
    ticks = {"tickvals": every} if len(every) <= SEVERAL_TICKS else {}
    figure.update_xaxes(title="core", showgrid=False, tickformat="d", **ticks)
    whole = {"range": [0, 1], "tickformat": "~%"} if of == "busy" else {"rangemode": "tozero"}
    figure.update_yaxes(title=title, **whole)
    return style(figure)


def _values(result: Record, of: str) -> dict[str, list[float]]:
    """One value per queue, by what it counts."""
    queues, us = result.data.queues, result.data.measured_ns / 1e3
    match of:
        case "packets":
            found = {RECEIVED: [q.received / us for q in queues]}
            if result.drop_share == 0:
                return found
            # Some that came before may have been received meanwhile.
            return found | {NOT_RECEIVED: [max(0, q.offered - q.received) / us for q in queues]}
        case "busy":
            known = [q.core_busy_ps for q in queues if q.core_busy_ps is not None]
            return {"busy": [ps / 1e6 / us for ps in known]} if len(known) == len(queues) else {}
        case "rx_descriptors":
            return {"in use": [q.rx_busy_ps / 1e6 / us for q in queues]}
        case _:
            return {"in use": [q.tx_busy_ps / 1e6 / us for q in queues]}
