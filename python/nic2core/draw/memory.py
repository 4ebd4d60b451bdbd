"""Figures of memory: its traffic by cause, and the latency of its reads."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core import names, words
from nic2core._core import UserError
from nic2core.describe.headline import owned
from nic2core.draw import palette
from nic2core.draw.style import bars_height, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.results.models import CauseTraffic, Distribution
    from nic2core.run_record import Record

OTHER_CAUSES = "descriptors and other small causes"
"""Name for the causes of memory traffic that have no colour of their own."""

LEGEND_ROW = 19
"""Height of a legend row in pixels."""


def memory_by_cause(results: Sequence[Record], unit: str = "per_request") -> go.Figure:
    """The memory traffic by cause: one stacked bar per run.

    For a single run with several tenants, one more bar per tenant, with the tenant's own lines.
    """
    if unit not in {"per_request", "gbytes_per_s"}:
        raise UserError(f"plot_memory: unit = {unit!r}; allowed: per_request, gbytes_per_s.")
    shown = [(r.label, r.data.memory.causes) for r in results]
    tenants = owned(results[0]) if len(results) == 1 else []
    if len(tenants) > 1:
        # Bars are identified by name, so a tenant's must differ from the run's.
        shown += [(f"of {name}", causes) for name, causes in tenants]
    labels = [label for label, _ in shown]
    traffic = [{c.cause: c for c in causes} for _, causes in shown]
    known = dict.fromkeys([*palette.CAUSES, *(c for t in traffic for c in t)])
    order = [c for c in known if any(c in t and t[c].lines > 0 for t in traffic)]
    # The small causes share one colour and one bar.
    small = [c for c in order if palette.cause(c) == palette.OTHER_CAUSE]
    bars = [[c] for c in order if c not in small] + ([small] if small else [])
    figure = go.Figure()
    for causes in bars:
        parts = [[t[c] for c in causes if c in t] for t in traffic]
        several = len(causes) > 1
        name = OTHER_CAUSES if several else names.CAUSES.get(causes[0], causes[0])
        title = name if several else names.cause(causes[0])
        figure.add_bar(
            name=name,
            y=labels,
            x=[sum(getattr(row, unit) or 0.0 for row in of) if of else None for of in parts],
            orientation="h",
            marker_color=palette.cause(causes[0]),
            customdata=[_causes_text(of, named=several) for of in parts],
            hovertemplate=f"<b>{title}</b>, %{{y}}<br>%{{customdata}}<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    titles = {"per_request": "cache lines per completed request", "gbytes_per_s": "GB/s"}
    figure.update_xaxes(title=titles[unit])
    # On half a page the legend has two causes per row; the bars below it keep their height.
    legend = LEGEND_ROW * ceil(len(figure.data) / 2)
    return style(figure, height=170 + legend + bars_height(len(shown)), bars=True)


def dram_cdf(results: Sequence[Record]) -> go.Figure:
    """The distribution of the DRAM read latency."""
    figure = go.Figure()
    for number, result in enumerate(results):
        spread = result.data.dram.read_latency
        if spread.count == 0:
            continue
        figure.add_scatter(
            name=result.label,
            x=[ns for ns, _ in spread.cdf],
            y=[share for _, share in spread.cdf],
            line=palette.line(number),
            hovertemplate="%{y:.3~p} of reads take at most %{x:,.4~r} ns<extra></extra>",
        )
        figure.add_scatter(
            name="mean",
            x=[spread.mean_ns],
            y=[_share_at(spread, spread.mean_ns)],
            mode="markers",
            showlegend=False,
            marker={"color": palette.run(number), "size": 10, "symbol": "diamond"},
            hovertemplate=f"mean of {result.label}: %{{x:,.4~r}} ns<extra></extra>",
        )
    # The slowest percent would squeeze the rest against the axis.
    slowest = max((_time_at(r.data.dram.read_latency, 0.99) for r in results), default=0.0)
    figure.update_xaxes(title="DRAM read latency, ns (◆ mean)", range=[0, slowest * 1.05 or 1])
    figure.update_yaxes(title="share of reads", tickformat="~%", range=[0, 1.02])
    return style(figure, legend=len(results) > 1)


def _causes_text(rows: Sequence[CauseTraffic], *, named: bool) -> str:
    """The numbers of a bar: of a single cause, or of several, one named line for each."""
    if not rows:
        return "none"
    if named:
        return "<br>".join(f"{names.cause(row.cause)}: {', '.join(_numbers(row))}" for row in rows)
    return "<br>".join(_numbers(rows[0]))


def _numbers(row: CauseTraffic) -> list[str]:
    rate = f"{words.three(row.gbytes_per_s)} GB/s"
    if row.per_request is None:
        return [rate]
    return [f"{words.three(row.per_request)} lines per request", rate]


def _share_at(spread: Distribution, ns: float) -> float:
    """The share of samples up to `ns`, interpolated linearly between points of the distribution."""
    before = (0.0, 0.0)
    for at, share in spread.cdf:
        if at >= ns:
            run = at - before[0]
            return share if run <= 0 else before[1] + (share - before[1]) * (ns - before[0]) / run
        before = (at, share)
    return 1.0


def _time_at(spread: Distribution, share: float) -> float:
    return next((ns for ns, at in spread.cdf if at >= share), 0.0)
