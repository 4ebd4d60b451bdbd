"""Figures of many runs: a sweep over its keys, and the rates that a peak search tried."""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import polars as pl

from nic2core import words
from nic2core.describe import peaks, rows
from nic2core.describe.labels import value_of
from nic2core.draw import palette
from nic2core.draw.style import style, wide
from nic2core.explain.use import serves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.results.models import Probe
    from nic2core.run_record import Record

COLUMNS = {
    "rate_mps": "completed, M/s",
    "goodput_gbps": "goodput, Gbit/s",
    "p99_ns": "p99 latency, µs",
    "p99_rtt_ns": "p99 round trip, µs",
    "p99_read_ns": "p99 whole read, µs",
    "p99_slowdown_shortest": "p99 slowdown of shortest reads",
    "p99_slowdown_longest": "p99 slowdown of longest reads",
    "mean_host_delay_ns": "mean time in the server, µs",
    "p99_host_delay_ns": "p99 time in the server, µs",
    "drop_share": "share of packets dropped",
    "retransmitted_share": "share of packets retransmitted",
    "packets_in_flight": "packets in flight",
    "fairness": "Jain's fairness index",
    "memory_gbytes_per_s": "memory traffic, GB/s",
}
"""Columns of a sweep's table that a comparison draws, with the titles used there. Times have the
unit that they have among the main numbers."""

PROGRESS = {
    "xmem": ("progress_mps", "M accesses/s"),
    "stream": ("stream_gbytes_per_s", "GB/s"),
}
"""The column of a memory benchmark's progress, and its unit; servers complete requests."""

STEPS = 8
"""Ratio of the largest to the smallest value of a key from which values that keep doubling have an
axis on which they are evenly spaced."""

DECADES = 10
"""Ratio of the largest to the smallest tail from which a curve of tails has a logarithmic axis.

Tails rise without bound where a server is about to fall behind."""

MOST_TICKS = 11
"""Maximum number of ticks of an axis of whole numbers."""

CROWDED = 0.02
"""Smallest distance of two values, relative to the span of all, at which their marks lie apart."""

CONTRAST = 0.1
"""Smallest span of a grid's values, relative to the largest, that uses the whole colour scale."""


def titles(results: Sequence[Record]) -> dict[str, str]:
    """The columns of these runs' table that a comparison draws, with their titles.

    Each of several tenants has its own progress, except one that serves all packets: the completed
    rate is its progress.
    """
    asked = [t for r in results for t in r.scenario["tenants"]]
    serving = [{t["name"] for t in r.scenario["tenants"] if serves(r.data, t)} for r in results]
    alone = {name for names in serving if len(names) == 1 for name in names}
    served = ("progress_mps", "M requests/s")
    drawn = {t["name"]: PROGRESS.get(t["app"]["kind"], served) for t in asked}
    return COLUMNS | {
        f"{column} ({name})": f"{name}, {unit}"
        for name, (column, unit) in drawn.items()
        if name not in alone
    }


def over(table: pl.DataFrame, keys: Sequence[str], column: str, title: str = "") -> go.Figure:
    """A column of a sweep over its first key: one line per combination of the other keys.

    A table of means over seeds has columns of half their intervals, drawn as bars.
    """
    table = _in_units(table, column)
    first, rest = keys[0], list(keys[1:])
    unit, places = rows.quantities(table[first].to_list())
    # Added as a column, so that it is grouped together with the other columns.
    table = table.with_columns(pl.Series("place", places, strict=False))
    figure = go.Figure()
    curve = table["place"].dtype.is_numeric()
    if curve:
        # Sort by position on the axis: otherwise the line would turn back.
        table = table.sort("place", maintain_order=True)
    named = {key: _names(table[key].to_list()) for key in keys}
    groups = table.group_by(rest, maintain_order=True) if rest else [((), table)]
    for number, (values, line) in enumerate(groups):
        name = ", ".join(f"{k} = {named[k](v)}" for k, v in zip(rest, values, strict=True))
        y, spread = line[column].to_list(), _spread(line, column)
        if curve:
            figure.add_scatter(
                name=name,
                x=line["place"].to_list(),
                y=y,
                error_y=spread,
                mode="lines+markers",
                line=palette.line(number),
            )
        else:
            # A line between names would have no meaning.
            x = [named[first](place) for place in line["place"]]
            figure.add_bar(name=name, x=x, y=y, error_y=spread, marker=palette.bar(number))
    axis = _places(places) if curve else {"type": "category"}
    even = " (logarithmic)" if axis.get("type") == "log" else ""
    figure.update_xaxes(axis, title=(f"{first}, {unit}" if unit else first) + even)
    figure.update_yaxes(title=title or COLUMNS.get(column, column), rangemode="tozero")
    known = [value for value in table[column] if value is not None]
    if (
        curve
        and column.startswith("p99_")
        and max(known, default=0) >= DECADES * min(known, default=1)
    ):
        figure.update_yaxes(wide([value for value in known if value > 0]))
    return style(figure, legend=bool(rest))


def _in_units(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """The table with a column, and half its intervals, in the unit in which it is drawn."""
    if not COLUMNS.get(column, "").endswith(", µs"):
        return table
    drawn = [name for name in (column, f"{column} ±") if name in table.columns]
    return table.with_columns(pl.col(drawn) / 1e3)


def _places(places: Sequence[Any]) -> dict[str, Any]:
    """The axis of a key in numbers.

    Logarithmic if each is about as many times the one before, or if only then none lie on another.
    """
    values = sorted(set(places))
    linear = _whole(values) if all(type(value) is int for value in values) else {}
    if values[0] <= 0 or values[-1] < STEPS * values[0]:
        return linear
    ratios = [after / before for before, after in pairwise(values)]
    steps = [after - before for before, after in pairwise(values)]
    doubling = max(ratios) <= 2 * min(ratios) and max(steps) > 2 * min(steps)
    evenly = min(steps) / (values[-1] - values[0])
    apart = log(min(ratios)) / log(values[-1] / values[0])
    if not doubling and len(steps) > 1 and not evenly < CROWDED < apart:
        return linear
    return {"type": "log", "tickvals": values, "ticktext": [f"{value:,g}" for value in values]}


def _whole(values: Sequence[int]) -> dict[str, Any]:
    """An axis with ticks at whole numbers alone, as it has no more of them than there are."""
    return {"nticks": min(MOST_TICKS, values[-1] - values[0] + 1)}


def _spread(line: pl.DataFrame, column: str) -> dict[str, Any] | None:
    """The confidence intervals as bars, if the column has means."""
    half = f"{column} ±"
    return {"type": "data", "array": line[half].to_list(), "width": 5} if half in line else None


def _names(values: Sequence[Any]) -> Callable[[Any], str]:
    """How the values of a key are shown: whole tables as in the labels of runs."""
    several = [value for value in dict.fromkeys(values) if value is not None]
    return value_of(several)


def grid(table: pl.DataFrame, down: str, across: str, column: str) -> go.Figure:
    """A column of a sweep over two keys: one cell per run, one row per value of the first key."""
    table = _in_units(table, column)
    row, cell = (_names(table[key].to_list()) for key in (down, across))
    ys, xs = (
        list(dict.fromkeys(map(row, table[down]))),
        list(dict.fromkeys(map(cell, table[across]))),
    )
    runs = zip(table[down], table[across], table[column], strict=True)
    found = {(row(y), cell(x)): value for y, x, value in runs}
    cells = [[found.get((y, x)) for x in xs] for y in ys]
    known = [value for value in found.values() if value is not None]
    most = max(known, default=0.0)
    figure = go.Figure()
    figure.add_heatmap(
        # Differences of a few percent should not look like a contrast.
        zmin=min([*known, (1 - CONTRAST) * most]),
        zmax=most,
        x=xs,
        y=ys,
        z=cells,
        text=[["" if v is None else words.three(v) for v in row] for row in cells],
        texttemplate="%{text}",
        colorscale=[[0, "rgba(47, 116, 189, 0.06)"], [1, "rgba(47, 116, 189, 0.5)"]],
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate=f"{down} = %{{y}}, {across} = %{{x}}: <b>%{{text}}</b><extra></extra>",
    )
    figure = style(figure, height=110 + 44 * len(ys), legend=False)
    figure.update_xaxes(type="category", title_text=across, showgrid=False)
    return figure.update_yaxes(
        type="category", title_text=down, title_standoff=12, showgrid=False, autorange="reversed"
    )


def peak_drops(results: Sequence[Record]) -> go.Figure:
    """The share of packets dropped at every rate that peak searches tried."""
    figure = go.Figure()
    for number, result in enumerate(results):
        if result.peak is None:
            continue
        probes = sorted(result.peak.probes, key=lambda probe: probe.offered_mpps)
        figure.add_scatter(
            name=result.label,
            x=[probe.offered_mpps for probe in probes],
            y=[100 * probe.drop_share for probe in probes],
            mode="lines+markers",
            line=palette.line(number),
            marker=_tried(probes),
            hovertemplate="%{x:,.3~r} Mpps offered: %{y:,.3~r} % dropped<extra></extra>",
        )
    figure.update_xaxes(title="offered, Mpps", rangemode="tozero")
    figure.update_yaxes(title="dropped, %", rangemode="tozero")
    return style(figure, legend=len(results) > 1)


def _tried(probes: Sequence[Probe]) -> dict[str, Any]:
    """Markers of the rates tried: crosses for those that fail."""
    return {"size": 9, "symbol": ["circle" if p.holds else "x" for p in probes]}


def peak_search(results: Sequence[Record]) -> go.Figure:
    """The p99 at every rate that peak searches tried, and the objective.

    An objective that no rate comes near, as in a search for a rate without loss, is left out.
    """
    figure = go.Figure()
    for number, result in enumerate(results):
        if result.peak is None:
            continue
        probes = sorted(result.peak.probes, key=lambda probe: probe.offered_mpps)
        rates = [probe.offered_mpps for probe in probes]
        colour = palette.run(number)
        figure.add_scatter(
            name=result.label,
            x=rates,
            y=[probe.p99_ns / 1e3 for probe in probes],
            mode="lines+markers",
            line=palette.line(number),
            marker=_tried(probes),
            customdata=[f"{words.percent(p.drop_share)} dropped" for p in probes],
            hovertemplate="%{x:,.3~r} Mpps offered: p99 %{y:,.3~r} µs, %{customdata}"
            "<extra></extra>",
        )
        if _far(probes):
            continue
        figure.add_scatter(
            x=rates,
            y=[probe.p99_limit_ns / 1e3 for probe in probes],
            mode="lines",
            showlegend=False,
            line={"color": colour, "width": 1.2, "dash": "dot"},
            hovertemplate="objective %{y:,.3~r} µs<extra></extra>",
        )
    figure.update_xaxes(title="offered, Mpps", rangemode="tozero")
    # Beyond the peak, the p99 is tens or hundreds of times as long.
    times = []
    for probes in (r.peak.probes for r in results if r.peak is not None):
        ends = ("p99_ns",) if _far(probes) else ("p99_ns", "p99_limit_ns")
        times += [ns / 1e3 for p in probes for end in ends if (ns := getattr(p, end)) > 0]
    figure.update_yaxes(wide(times), title="p99 latency, µs")
    return style(figure, legend=len(results) > 1)


def _far(probes: Sequence[Probe]) -> bool:
    """Whether the objective is far above every p99."""
    slowest = max((p.p99_ns for p in probes), default=0.0)
    return all(p.p99_limit_ns > peaks.FAR * slowest for p in probes)
