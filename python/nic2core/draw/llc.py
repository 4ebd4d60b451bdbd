"""Figures of what the LLC holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core import names, words
from nic2core.describe import contents
from nic2core.describe.headline import several_tenants
from nic2core.draw import palette
from nic2core.draw.style import bars_height, style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nic2core.results.models import LlcContents
    from nic2core.run_record import Record


def llc_by_way(result: Record) -> go.Figure:
    """What each way of the LLC holds: one stacked bar per way."""
    ways, io_ways = contents.ways(result), contents.io_ways(result)
    figure = go.Figure()
    for name, (colour, held) in _named([result]).items():
        of_ways = [_sum(of for of in held[0] if of.way == way) for way in range(ways)]
        figure.add_bar(
            name=name,
            x=[*range(ways)],
            y=[share for share, _ in of_ways],
            marker_color=colour,
            customdata=[dirty for _, dirty in of_ways],
            hovertemplate=f"<b>{name}</b>, way %{{x}}<br>%{{y:.3~p}} of its lines, %{{customdata}} "
            "of these dirty<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.15, legend_traceorder="normal")
    ticks = [f"{way}<br>I/O" if way < io_ways else str(way) for way in range(ways)]
    figure.update_xaxes(title="way", tickvals=[*range(ways)], ticktext=ticks, showgrid=False)
    figure.update_yaxes(title="share of its lines", tickformat="~%", range=[0, 1])
    return style(figure)


def llc_contents(results: Sequence[Record], *, io: bool = False) -> go.Figure:
    """What the LLC holds, or with `io` its I/O ways: one stacked bar per run."""
    labels = [r.label for r in results]
    figure = go.Figure()
    for name, (colour, held) in _named(results).items():
        shares = []
        for result, lines in zip(results, held, strict=True):
            ways = contents.io_ways(result) if io else contents.ways(result)
            share, dirty = _sum(of for of in lines if of.way < ways)
            shares.append((share / ways if ways else None, dirty))
        figure.add_bar(
            name=name,
            y=labels,
            x=[share for share, _ in shares],
            orientation="h",
            marker_color=colour,
            customdata=[dirty for _, dirty in shares],
            hovertemplate=f"<b>{name}</b>, %{{y}}<br>%{{x:.3~p}}, %{{customdata}} of these dirty"
            "<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    of = "the I/O ways" if io else "the LLC"
    figure.update_xaxes(title=f"share of {of}", tickformat="~%", range=[0, 1])
    return style(figure, height=170 + bars_height(len(results)), bars=True)


def _named(results: Sequence[Record]) -> dict[str, tuple[str, list[list[LlcContents]]]]:
    """The lines of each run by what they hold: its colour, and one list per run."""
    by_tenant = several_tenants(results)
    found: dict[str, tuple[str, list[list[LlcContents]]]] = {}
    every = [held for result in results for held in result.data.llc_contents or ()]
    order = {kind: place for place, kind in enumerate(names.CONTENTS)}
    tenants = list(dict.fromkeys(of.name for result in results for of in result.data.tenants))
    for held in sorted(every, key=lambda of: order.get(of.kind, len(order))):
        name = contents.kind(held, by_tenant=by_tenant)
        colour = palette.CONTENTS.get(held.kind, palette.OTHER_CAUSE)
        if held.kind == contents.APP:
            colour = (
                palette.TENANTS[tenants.index(held.tenant) % len(palette.TENANTS)]
                if held.tenant is not None
                else palette.PAGE_TABLES
            )
        found.setdefault(name, (colour, [[] for _ in results]))
    for lines, result in enumerate(results):
        for held in result.data.llc_contents or ():
            found[contents.kind(held, by_tenant=by_tenant)][1][lines].append(held)
    return found


def _sum(held: Iterable[LlcContents]) -> tuple[float, str]:
    """Shares of ways together, and which part of the lines is dirty."""
    lines = [*held]
    dirty, every = sum(of.dirty for of in lines), sum(of.lines for of in lines)
    return sum(of.share for of in lines), words.percent(dirty / every if every else 0.0)
