"""Plotly figures of one run or several: the same in a notebook and in the report."""

from __future__ import annotations

import re
import textwrap
from math import ceil
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import polars as pl

from nic2core import words
from nic2core._core import UserError
from nic2core.describe import rows
from nic2core.describe.headline import owned
from nic2core.draw import palette
from nic2core.scenario.quantity import nanoseconds, size_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.results.distribution import Distribution
    from nic2core.results.memory import CauseTraffic
    from nic2core.results.series import Series
    from nic2core.run_record import Record

GRID = "rgba(128, 136, 150, 0.25)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
BAR_GAP = 0.5
"""Share of a bar's place that stays free, for its name."""

OTHER_CAUSES = "descriptors and other small causes"
"""Of memory traffic: those without a colour of their own."""

UNITS = {"us": "µs", "Gbps": "Gbit/s"}
"""Units of the time series as people write them."""

PANEL_TITLES = {
    "completed": "completed (dotted: offered)",
    "goodput": "goodput of closed-loop senders",
    "window": "congestion window, mean of all connections",
    "host-delay": "host delay, mean",
    "fabric-delay": "fabric delay, mean",
    "nic-sram": "NIC input buffer",
    "dropped": "dropped by the NIC",
    "sent-again": "retransmitted",
    "switch-queue": "switch queue",
    "queue": "waiting for the cores",
    "memory-rd": "memory reads",
    "memory-wr": "memory writes",
    "rx-evct": "receive buffers evicted",
}
"""Panels of the time series, top to bottom; `offered` is drawn with `completed`."""

BOUNDS = {"host-delay": "the control's target", "nic-sram": "its capacity"}
"""What the dotted line of a panel is, where there is one."""

COLUMNS = {
    "rate_mps": "completed, M/s",
    "goodput_gbps": "goodput, Gbit/s",
    "p99_ns": "p99 of the latency, ns",
    "p99_rtt_ns": "p99 of the round trip, ns",
    "p99_read_ns": "p99 of a whole read, ns",
    "drop_share": "share of packets dropped",
    "memory_gbytes_per_s": "memory traffic, GB/s",
}
"""Columns of a sweep's table that a comparison draws, as they are called there."""

ONE_KIND = re.compile(r'\{ kind = "([^"]+)" \}')
"""A table of a scenario that is given by its kind alone."""

CONTRAST = 0.1
"""Least span of the values of a grid, of the greatest, that takes all of its colours."""

WIDE = 3
"""Largest over least of values that a linear axis still shows well."""

ONE_WINDOW = "window-"
"""With the number of its sender: the window of a connection that is watched."""

SAWTEETH = {"window", "host-delay", "nic-sram"}
"""Panels whose axis need not begin at zero: what a control moves them by may be small."""

CUT = 0.5
"""Share of such a panel that would stay empty below its lines, from which on the axis is cut."""

LEGEND_ROW = 19
"""Pixels of a row of a legend."""

PHONE = 44
"""Letters of a line that a phone shows whole."""

PANEL_HEIGHT, PANEL_GAP = 96, 38
"""Pixels of a panel of the time series, and of the gap above it, which holds its title."""


def latency_by_stage(results: Sequence[Record], *, shares: bool = False) -> go.Figure:
    """Where the mean packet's time goes: one stacked bar per run, in µs or as shares of it."""
    figure = go.Figure()
    known = dict.fromkeys(s.stage for r in results for s in r.data.latency)
    stages = [s for s in known if s not in {"total", "transmit"}]
    for stage in stages:
        spreads = [s for r in results for s in _stage(r, stage)]
        name = words.LATENCIES.get(stage, stage)
        figure.add_bar(
            name=name,
            y=[r.label for r in results if _stage(r, stage)],
            x=[s.mean_ns / 1e3 for s in spreads],
            orientation="h",
            marker_color=palette.LATENCIES.get(stage, palette.OTHER_CAUSE),
            # As shares the bars' lengths are no times.
            customdata=[f"mean {words.time(s.mean_ns)}<br>{_percentile_text(s)}" for s in spreads],
            hovertemplate=f"<b>{name}</b>, %{{y}}<br>%{{customdata}}<extra></extra>",
        )
    whole = "mean time to the end of the request"
    figure.update_layout(barmode="stack", barnorm="percent" if shares else "")
    figure.update_xaxes(title=f"share of the {whole}, %" if shares else f"{whole}, µs")
    return _style(figure, height=190 + 60 * len(results), bars=True)


def over(table: pl.DataFrame, keys: Sequence[str], column: str) -> go.Figure:
    """A column of a sweep over its first key: a line for each combination of the other keys."""
    first, rest = keys[0], list(keys[1:])
    unit, places = rows.quantities(table[first].to_list())
    # A column of its own: lines are of the rows of one group.
    table = table.with_columns(pl.Series("place", places, strict=False))
    figure = go.Figure()
    curve = table["place"].dtype.is_numeric()
    if curve:
        # In the order of the axis, whatever that of the values: else the line turns back.
        table = table.sort("place", maintain_order=True)
    groups = table.group_by(rest, maintain_order=True) if rest else [((), table)]
    for number, (values, line) in enumerate(groups):
        name = ", ".join(f"{k} = {v}" for k, v in zip(rest, values, strict=True))
        y = line[column].to_list()
        if curve:
            figure.add_scatter(
                name=name,
                x=line["place"].to_list(),
                y=y,
                mode="lines+markers",
                line=palette.line(number),
            )
        else:
            # Between names there is nothing that a line could go through.
            x = [_name(place) for place in line["place"]]
            figure.add_bar(name=name, x=x, y=y, marker_color=palette.run(number))
    axis = {} if curve else {"type": "category"}
    figure.update_xaxes(axis, title=f"{first}, {unit}" if unit else first)
    figure.update_yaxes(title=COLUMNS.get(column, column), rangemode="tozero")
    return _style(figure, legend=bool(rest))


def _name(value: Any) -> str:
    """A value as a short name: of a table that says no more than its kind, that."""
    text = str(value)
    kind = ONE_KIND.fullmatch(text)
    return kind[1] if kind else text


def grid(table: pl.DataFrame, down: str, across: str, column: str) -> go.Figure:
    """A column of a sweep over two keys: a cell for each run, a row for each value of the first."""
    ys, xs = (list(dict.fromkeys(map(str, table[key]))) for key in (down, across))
    runs = zip(table[down], table[across], table[column], strict=True)
    found = {(str(y), str(x)): value for y, x, value in runs}
    cells = [[found.get((y, x)) for x in xs] for y in ys]
    known = [value for value in found.values() if value is not None]
    most = max(known, default=0.0)
    figure = go.Figure()
    figure.add_heatmap(
        # Differences of some percent are no contrast.
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
    figure = _style(figure, height=110 + 44 * len(ys), legend=False)
    figure.update_xaxes(type="category", title_text=across, showgrid=False)
    return figure.update_yaxes(
        type="category", title_text=down, title_standoff=12, showgrid=False, autorange="reversed"
    )


def peak_search(results: Sequence[Record]) -> go.Figure:
    """The p99 at every rate that the searches of peaks tried, and what it is held against."""
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
            marker={"size": 9, "symbol": ["circle" if p.holds else "x" for p in probes]},
            customdata=[f"{words.percent(p.drop_share)} dropped" for p in probes],
            hovertemplate="%{x:,.3~r} Mpps offered: p99 %{y:,.3~r} µs, %{customdata}"
            "<extra></extra>",
        )
        figure.add_scatter(
            x=rates,
            y=[probe.p99_limit_ns / 1e3 for probe in probes],
            mode="lines",
            showlegend=False,
            line={"color": colour, "width": 1.2, "dash": "dot"},
            hovertemplate="objective %{y:,.3~r} µs<extra></extra>",
        )
    figure.update_xaxes(title="offered, Mpps", rangemode="tozero")
    # Beyond the peak it is tens or hundreds of times as long.
    probes = [p for r in results if r.peak is not None for p in r.peak.probes]
    times = [ns / 1e3 for p in probes for ns in (p.p99_ns, p.p99_limit_ns) if ns > 0]
    figure.update_yaxes(_wide(times), title="p99 of the latency, µs")
    return _style(figure, legend=len(results) > 1)


def latency_cdf(results: Sequence[Record]) -> go.Figure:
    """The tail of the whole latency: the share of packets slower than a time."""
    figure = go.Figure()
    for number, result in enumerate(results):
        spread = result.total_latency
        if spread is None:
            continue
        points = [(ns / 1e3, 1 - share) for ns, share in spread.cdf if ns > 0 and share < 1]
        figure.add_scatter(
            name=result.label,
            x=[x for x, _ in points],
            y=[y for _, y in points],
            line=palette.line(number),
            hovertemplate="%{y:.3~p} of packets take more than %{x:,.3~r} µs<extra></extra>",
        )
    spreads = [r.total_latency for r in results if r.total_latency is not None]
    times = [ns / 1e3 for s in spreads for ns, share in s.cdf if ns > 0 and share < 1]
    figure.update_xaxes(_wide(times), title="time from arrival to the end of the request, µs")
    figure.update_yaxes(type="log", title="share of packets slower", tickformat="~%", dtick=1)
    return _style(figure, legend=len(results) > 1)


def memory_by_cause(results: Sequence[Record], unit: str = "per_request") -> go.Figure:
    """What the memory traffic is made of: one stacked bar per run.

    Of a single run with several tenants one more for each, of the lines that are its own.
    """
    if unit not in {"per_request", "gbytes_per_s"}:
        raise UserError(f"plot_memory: unit = {unit!r}; allowed: per_request, gbytes_per_s.")
    shown = [(r.label, r.data.memory.causes) for r in results]
    if len(results) == 1:
        # A bar is known by its name, which a tenant's may be too.
        shown += [(f"of {tenant}", causes) for tenant, causes in owned(results[0])]
    labels = [label for label, _ in shown]
    traffic = [{c.cause: c for c in causes} for _, causes in shown]
    known = dict.fromkeys([*palette.CAUSES, *(c for t in traffic for c in t)])
    order = [c for c in known if any(c in t and t[c].lines > 0 for t in traffic)]
    # Those that are small have one colour, and are one bar.
    small = [c for c in order if palette.cause(c) == palette.OTHER_CAUSE]
    bars = [[c] for c in order if c not in small] + ([small] if small else [])
    figure = go.Figure()
    for causes in bars:
        parts = [[t[c] for c in causes if c in t] for t in traffic]
        several = len(causes) > 1
        name = OTHER_CAUSES if several else words.CAUSES.get(causes[0], causes[0])
        title = name if several else words.cause(causes[0])
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
    names = {"per_request": "cache lines per completed request", "gbytes_per_s": "GB/s"}
    figure.update_xaxes(title=names[unit])
    # In half a page the legend has two causes to a row; the bars keep their height below it.
    legend = LEGEND_ROW * ceil(len(figure.data) / 2)
    return _style(figure, height=170 + legend + 60 * len(shown), bars=True)


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
    # The last hundredth would press the rest against the axis.
    slowest = max((_time_at(r.data.dram.read_latency, 0.99) for r in results), default=0.0)
    figure.update_xaxes(title="DRAM read latency, ns (◆ mean)", range=[0, slowest * 1.05 or 1])
    figure.update_yaxes(title="share of reads", tickformat="~%", range=[0, 1.02])
    return _style(figure, legend=len(results) > 1)


def time_series(results: Sequence[Record]) -> go.Figure:
    """The time series: a panel for each quantity, a line for each run, one time axis for all.

    As the axis is one, a zoom is of all panels, and hovering reads all of them at one time.
    """
    columns = [{c.name: c for c in r.data.series.columns} for r in results]
    known = list(dict.fromkeys(n for c in columns for n in c))
    watched = [n for n in known if n.startswith(ONE_WINDOW)]
    together = {"completed": ["offered"], "window": watched}
    there = [n for n in PANEL_TITLES if n in known]
    there += [n for n in known if n not in {*PANEL_TITLES, "offered", *watched}]
    panels = [
        panel
        for panel in there
        if any(
            any(c[n].values) for c in columns for n in (*together.get(panel, []), panel) if n in c
        )
    ]
    figure = go.Figure()
    shown: set[str] = set()
    for row, panel in enumerate(panels, start=1):
        bounds = []
        for number, (result, series) in enumerate(zip(results, columns, strict=True)):
            for column in (*together.get(panel, []), panel):
                if column in series:
                    line = _series_line(result, series[column], number, several=len(results) > 1)
                    # The legend shows the line of a panel's own quantity.
                    first = column == panel and result.label not in shown
                    line.update(yaxis=f"y{row}", showlegend=first)
                    shown |= {result.label} if first else set()
                    figure.add_trace(line)
            bound = _bound(result, panel) if panel in series else None
            if bound is not None:
                bounds.append(bound)
                figure.add_shape(
                    type="line", x0=0, x1=1, xref="x domain", y0=bound, y1=bound, yref=f"y{row}",
                    line={"color": palette.run(number), "width": 1.2, "dash": "dot"},
                )  # fmt: skip
        unit = _unit(next(c[panel] for c in columns if panel in c))
        thin = " (thin: of single ones)" if watched and panel == "window" else ""
        drawn = [v for line in figure.data if line.yaxis == f"y{row}" for v in line.y]
        cut = panel in SAWTEETH and min(drawn, default=0.0) > CUT * max(drawn + bounds, default=0.0)
        dotted = f" (dotted: {BOUNDS[panel]})" if bounds else ""
        title = f"{PANEL_TITLES.get(panel, panel)}{dotted}{thin}, {unit}"
        title += " (axis not from 0)" if cut else ""
        _add_panel(figure, row, len(panels), title, bounds, zero=not cut)
    rows = max(1, len(panels))
    height = rows * (PANEL_HEIGHT + PANEL_GAP) + 92
    figure = _style(figure, height=height, legend=len(results) > 1)
    zero = [PANEL_TITLES.get(n, n).partition(" (")[0] for n in there if n not in panels]
    figure.update_xaxes(
        title_text=_of_time(zero if any(r.data.packets.offered for r in results) else []),
        anchor=f"y{rows}",
        unifiedhovertitle={"text": "%{x:.3f} ms"},
        showspikes=True, spikemode="across", spikethickness=1, spikedash="solid",
    )  # fmt: skip
    return figure.update_layout(
        hovermode="x unified",
        hoversubplots="axis",
        legend={"y": 1.0, "yref": "container", "yanchor": "top"},
    )


def _of_time(zero: list[str]) -> str:
    """The title of the time axis, and below it what has no panel: no drops are worth knowing."""
    text = f"zero in every sample: {', '.join(zero)}" if zero else ""
    return "<br>".join(["simulated time, ms", *textwrap.wrap(text, PHONE)])


def _add_panel(
    figure: go.Figure, row: int, rows: int, title: str, bounds: list[float], *, zero: bool
) -> None:
    """The axis of one of the panels that stand below each other, and its title above it."""
    share = 1 / rows
    top = 1 - share * (row - 1 + PANEL_GAP / (PANEL_HEIGHT + PANEL_GAP))
    axis = {
        "domain": [1 - share * row, top], "anchor": "x", "nticks": 5,
        "rangemode": "tozero" if zero else "normal",
        # A bound is drawn as a shape, for which an axis makes no room by itself.
        "autorangeoptions": {"include": max(bounds) * 1.05} if bounds else {},
    }  # fmt: skip
    figure.update_layout({f"yaxis{row}": axis})
    figure.add_annotation(
        text=title, showarrow=False, font_size=13,
        x=0, xref="paper", xanchor="left", y=top, yref="paper", yanchor="bottom",
    )  # fmt: skip


def _series_line(result: Record, series: Series, number: int, *, several: bool) -> go.Scatter:
    begin, spacing = result.data.series.start_ns, result.data.series.interval_ns
    run = f", {result.label}" if several else ""
    return go.Scatter(
        name=result.label,
        legendgroup=result.label,
        x=[(begin + (i + 0.5) * spacing) / 1e6 for i in range(len(series.values))],
        y=series.values,
        mode="lines",
        # Drops come in bursts: filled, a lone one can be seen.
        fill="tozeroy" if series.name == "dropped" else "none",
        line=palette.line(number, 0.6 if series.name.startswith(ONE_WINDOW) else 1.6)
        | ({"dash": "dot"} if series.name == "offered" else {}),
        hovertemplate=f"{series.name}{run}: <b>%{{y:,.4~r}}</b> {_unit(series)}<extra></extra>",
    )


def _wide(values: Sequence[float]) -> dict[str, Any]:
    """An axis for times: a logarithmic one if they fill more than half a decade."""
    most, least = max(values, default=1.0), min(values, default=1.0)
    if most < WIDE * least:
        return {"type": "linear"}
    # Within a decade 1, 2 and 5 alone are too few, and beyond two too many.
    steps = range(1, 10) if most < 10 * least else (1, 2, 5) if most < 1000 * least else (1,)
    ticks = [n * 10.0**k for k in range(-3, 7) for n in steps if n * 10.0**k <= 2 * most]
    return {"type": "log", "tickvals": ticks}


def _unit(series: Series) -> str:
    return UNITS.get(series.unit, series.unit)


def _bound(result: Record, panel: str) -> float | None:
    """What a quantity is held against, in its unit, if the scenario says so."""
    if panel == "nic-sram":
        return size_bytes(result.scenario["machine"]["nic"]["sram"]) / 1024
    if panel == "host-delay":
        target = result.scenario["traffic"]["control"].get("endpoint_target")
        return None if target is None else nanoseconds(target) / 1e3
    return None


def _stage(result: Record, stage: str) -> list[Distribution]:
    """The latency of a stage; nothing in a run without packets."""
    return [s.distribution for s in result.data.latency if s.stage == stage]


def _percentile_text(spread: Distribution) -> str:
    return "<br>".join(f"p{p:g} {words.time(ns)}" for p, ns in spread.percentiles_ns)


def _causes_text(rows: Sequence[CauseTraffic], *, named: bool) -> str:
    """The numbers of a bar: of a single cause, or of several, a line with its name for each."""
    if not rows:
        return "none"
    if named:
        return "<br>".join(f"{words.cause(row.cause)}: {', '.join(_numbers(row))}" for row in rows)
    return "<br>".join(_numbers(rows[0]))


def _numbers(row: CauseTraffic) -> list[str]:
    rate = f"{words.three(row.gbytes_per_s)} GB/s"
    if row.per_request is None:
        return [rate]
    return [f"{words.three(row.per_request)} lines per request", rate]


def _share_at(spread: Distribution, ns: float) -> float:
    """The share of samples at most `ns`, between the points of the distribution in a line."""
    before = (0.0, 0.0)
    for at, share in spread.cdf:
        if at >= ns:
            run = at - before[0]
            return share if run <= 0 else before[1] + (share - before[1]) * (ns - before[0]) / run
        before = (at, share)
    return 1.0


def _time_at(spread: Distribution, share: float) -> float:
    return next((ns for ns, at in spread.cdf if at >= share), 0.0)


def _style(
    figure: go.Figure, height: int = 340, *, bars: bool = False, legend: bool = True
) -> go.Figure:
    """One quiet style for all; the paper is transparent and takes the page's colour."""
    figure.update_layout(
        template="none",
        height=height,
        font={"family": FONT, "size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 64, "r": 16, "t": 40 if legend else 20, "b": 52},
        showlegend=legend,
        # Beside its default of half the plot a legend that wraps would get a scroll bar.
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "maxheight": 400},
        hoverlabel={"font": {"family": FONT, "size": 13}},
        hovermode="closest",
    )
    figure.update_xaxes(gridcolor=GRID, zeroline=False, automargin=True, title_font_size=13)
    figure.update_yaxes(gridcolor=GRID, zeroline=False, automargin=True, title_font_size=13)
    if bars:
        # A run's name stands above its bar, not beside it: the whole width is the bars'.
        figure.update_layout(legend_traceorder="normal", margin_l=12, bargap=BAR_GAP)
        figure.update_yaxes(autorange="reversed", showgrid=False, showticklabels=False)
        for place, label in enumerate(dict.fromkeys(y for bar in figure.data for y in bar.y)):
            figure.add_annotation(
                text=label, x=0, xref="paper", xanchor="left", showarrow=False,
                y=place - (1 - BAR_GAP) / 2, yanchor="bottom",
            )  # fmt: skip
    return figure
