"""Figures of latency: by stage, and the tail of the total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core import names, words
from nic2core._core import UserError
from nic2core.describe import senders
from nic2core.draw import palette
from nic2core.draw.style import bars_height, style, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.results.models import Distribution
    from nic2core.run_record import Record


def latency_by_stage(results: Sequence[Record], *, shares: bool = False) -> go.Figure:
    """Where the mean packet's time goes: one stacked bar per run, in µs or as shares of it.

    Names of bars that show shares are followed by the whole.
    """
    figure = go.Figure()
    known = dict.fromkeys(s.stage for r in results for s in r.data.latency)
    stages = [s for s in known if s not in {"total", "transmit", "sent"}]
    for stage in stages:
        spreads = [s for r in results for s in _stage(r, stage)]
        name = names.LATENCIES.get(stage, stage)
        figure.add_bar(
            name=name,
            y=[r.label for r in results if _stage(r, stage)],
            x=[s.mean_ns / 1e3 for s in spreads],
            orientation="h",
            marker_color=palette.LATENCIES.get(stage, palette.OTHER_CAUSE),
            # The hover text gives times even if the bars show shares.
            customdata=[f"mean {words.time(s.mean_ns)}<br>{_percentile_text(s)}" for s in spreads],
            hovertemplate=f"<b>{name}</b>, %{{y}}<br>%{{customdata}}<extra></extra>",
        )
    whole = "mean time to the end of the request"
    figure.update_layout(barmode="stack", barnorm="percent" if shares else "")
    figure.update_xaxes(title=f"share of the {whole}, %" if shares else f"{whole}, µs")
    style(figure, height=190 + bars_height(len(results)), bars=True)
    means = {r.label: words.time(s.mean_ns) for r in results if (s := r.total_latency) is not None}
    for name in figure.layout.annotations if shares else ():
        name.text = f"{name.text}: {means[name.text]}"
    return figure


TOTAL = "total"
"""What `latency_cdf` draws unless it is a delay that closed-loop senders see."""


def latency_cdf(results: Sequence[Record], of: str = TOTAL) -> go.Figure:
    """The tail of a latency: the share of packets, or of reads, that take longer than a given time.

    `of` is `total`, from a packet's arrival to the end of its service, or a delay that closed-loop
    senders see: a key of `names.DELAYS`.
    """
    if of != TOTAL and of not in names.DELAYS:
        allowed = ", ".join((TOTAL, *names.DELAYS))
        raise UserError(f"plot_latency_cdf: of = {of!r}; allowed: {allowed}.")
    figure = go.Figure()
    times: list[float] = []
    for number, result in enumerate(results):
        spread = result.total_latency
        if of != TOTAL:
            spread = senders.delays(result.data).get(names.DELAYS[of])
        if spread is None:
            continue
        points = [(ns / 1e3, 1 - share) for ns, share in spread.cdf if ns > 0 and share < 1]
        times += [time for time, _ in points]
        figure.add_scatter(
            name=result.label,
            x=[x for x, _ in points],
            y=[y for _, y in points],
            line=palette.line(number),
            hovertemplate="%{y:.3~p} take more than %{x:,.3~r} µs<extra></extra>",
        )
    whole = "time from arrival to the end of the request"
    named = whole if of == TOTAL else names.DELAYS[of]
    figure.update_xaxes(wide(times), title=f"{named}, µs")
    figure.update_yaxes(type="log", title="share that takes longer", tickformat="~%", dtick=1)
    return style(figure, legend=len(results) > 1)


def _stage(result: Record, stage: str) -> list[Distribution]:
    """The latency of a stage; empty for a run without packets."""
    return [s.distribution for s in result.data.latency if s.stage == stage]


def _percentile_text(spread: Distribution) -> str:
    return "<br>".join(f"p{p:g} {words.time(ns)}" for p, ns in spread.percentiles_ns)
