"""The figure of the time series: stacked panels with a common time axis."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from nic2core.draw import palette
from nic2core.draw.style import style
from nic2core.scenario.closed_loop import controls
from nic2core.scenario.quantity import nanoseconds, size_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.results.models import Series
    from nic2core.run_record import Record

UNITS = {"us": "µs", "Gbps": "Gbit/s"}
"""Units of the time series, as displayed."""

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
    "switch-dropped": "dropped by the switch",
    "marked": "marked by the switch or the NIC (ECN)",
    "queue": "waiting for the cores",
    "memory-rd": "memory reads",
    "memory-wr": "memory writes",
    "rx-evct": "receive buffers evicted",
}
"""Panels of the time series, top to bottom; `offered` is drawn with `completed`."""

BOUNDS = {"host-delay": "the control's target", "nic-sram": "its capacity"}
"""What a panel's dotted line shows, if there is one."""

ONE_WINDOW = "window-"
"""Prefix, followed by the sender's number, of the window of a connection that is recorded."""

RIVALS = "rivals-"
"""Prefix of what is recorded of rivals alone; it is drawn with that of all senders."""

SAWTEETH = {"window", "host-delay", "nic-sram"}
"""Panels whose axis need not start at zero: a congestion control may move them only a little."""

CUT = 0.5
"""Empty share of such a panel below its lines from which the axis does not start at zero."""

PHONE = 44
"""Characters per line that fit on a phone."""

PANEL_HEIGHT, PANEL_GAP = 96, 38
"""Height in pixels of a panel, and of the gap above it, which holds its title."""


def time_series(results: Sequence[Record]) -> go.Figure:
    """The time series: one panel per quantity, one line per run, and a common time axis.

    With a common axis, zooming affects all panels, and hovering reads all of them at the same time.
    """
    columns = [{c.name: c for c in r.data.series.columns} for r in results]
    known = list(dict.fromkeys(n for c in columns for n in c))
    watched = [n for n in known if n.startswith(ONE_WINDOW)]
    rivals = [n for n in known if n.startswith(RIVALS)]
    together = {"completed": ["offered"], "window": [*watched]}
    for name in rivals:
        of_all = name.removeprefix(RIVALS)
        panel = "window" if _is_watched(name) else of_all
        together.setdefault(panel, []).append(name)
    there = [n for n in PANEL_TITLES if n in known]
    there += [n for n in known if n not in {*PANEL_TITLES, "offered", *watched, *rivals}]
    panels = [
        panel
        for panel in there
        if any(
            any(c[n].values) for c in columns for n in (*together.get(panel, []), panel) if n in c
        )
    ]
    # Runs that were measured at different times, as peaks are, lie over one another all the same.
    starts = {r.data.series.start_ns for r in results}
    together_from = [r.data.series.start_ns if len(starts) > 1 else 0.0 for r in results]
    figure = go.Figure()
    shown: set[str] = set()
    for row, panel in enumerate(panels, start=1):
        bounds = []
        for number, (result, series) in enumerate(zip(results, columns, strict=True)):
            for column in (*together.get(panel, []), panel):
                if column in series:
                    line = _series_line(
                        result,
                        series[column],
                        number,
                        several=len(results) > 1,
                        zero_ns=together_from[number],
                    )
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
        thin = " (thin: single connections)" if watched and panel == "window" else ""
        lines = [line for line in figure.data if line.yaxis == f"y{row}"]
        drawn = [v for line in lines for v in line.y if v is not None]
        cut = panel in SAWTEETH and min(drawn, default=0.0) > CUT * max(drawn + bounds, default=0.0)
        dotted = f" (dotted: {BOUNDS[panel]})" if bounds else ""
        dashed = " (dashed: of rivals)" if RIVALS + panel in rivals else ""
        title = f"{PANEL_TITLES.get(panel, panel)}{dotted}{dashed}{thin}, {unit}"
        title += " (axis not from 0)" if cut else ""
        _add_panel(figure, row, len(panels), title, bounds, zero=not cut)
    rows = max(1, len(panels))
    height = rows * (PANEL_HEIGHT + PANEL_GAP) + 92
    figure = style(figure, height=height, legend=len(results) > 1)
    zero = [
        PANEL_TITLES.get(n, n).partition(" (")[0]
        for n in there
        if n not in panels and any(v is not None for c in columns if n in c for v in c[n].values)
    ]
    figure.update_xaxes(
        title_text=_of_time(
            "since measuring began" if len(starts) > 1 else "simulated time",
            zero if any(r.data.packets.offered for r in results) else [],
        ),
        anchor=f"y{rows}",
        unifiedhovertitle={"text": "%{x:.3f} ms"},
        showspikes=True, spikemode="across", spikethickness=1, spikedash="solid",
    )  # fmt: skip
    return figure.update_layout(
        hovermode="x unified",
        hoversubplots="axis",
        legend={"y": 1.0, "yref": "container", "yanchor": "top"},
    )


def _of_time(what: str, zero: list[str]) -> str:
    """The title of the time axis, and below it what has no panel: zero drops are worth knowing."""
    text = f"zero in every sample: {', '.join(zero)}" if zero else ""
    return "<br>".join([f"{what}, ms", *textwrap.wrap(text, PHONE)])


def _add_panel(
    figure: go.Figure, row: int, rows: int, title: str, bounds: list[float], *, zero: bool
) -> None:
    """The axis of one of the stacked panels, and the title above it."""
    share = 1 / rows
    top = 1 - share * (row - 1 + PANEL_GAP / (PANEL_HEIGHT + PANEL_GAP))
    axis = {
        "domain": [1 - share * row, top], "anchor": "x", "nticks": 5,
        "rangemode": "tozero" if zero else "normal",
        # A bound is drawn as a shape, for which the axis does not make room by itself.
        "autorangeoptions": {"include": max(bounds) * 1.05} if bounds else {},
    }  # fmt: skip
    figure.update_layout({f"yaxis{row}": axis})
    figure.add_annotation(
        text=title, showarrow=False, font_size=13,
        x=0, xref="paper", xanchor="left", y=top, yref="paper", yanchor="bottom",
    )  # fmt: skip


def _series_line(
    result: Record, series: Series, number: int, *, several: bool, zero_ns: float
) -> go.Scatter:
    begin, spacing = result.data.series.start_ns - zero_ns, result.data.series.interval_ns
    run = f", {result.label}" if several else ""
    return go.Scatter(
        name=result.label,
        legendgroup=result.label,
        x=[(begin + (i + 0.5) * spacing) / 1e6 for i in range(len(series.values))],
        y=series.values,
        # A value between two gaps has no line.
        mode="lines+markers" if None in series.values else "lines",
        # Drops come in bursts: filled, even a single one is visible.
        fill="tozeroy" if series.name == "dropped" else "none",
        line=palette.line(number, 0.6 if _is_watched(series.name) else 1.6)
        | ({"dash": "dot"} if series.name == "offered" else {})
        | ({"dash": "dash"} if series.name.startswith(RIVALS) else {}),
        hovertemplate=f"{series.name}{run}: <b>%{{y:,.4~r}}</b> {_unit(series)}<extra></extra>",
    )


def _is_watched(name: str) -> bool:
    """Whether a series is of a single connection."""
    return name.removeprefix(RIVALS).startswith(ONE_WINDOW)


def _unit(series: Series) -> str:
    return UNITS.get(series.unit, series.unit)


def _bound(result: Record, panel: str) -> float | None:
    """The bound or target of a quantity, in its unit, if the scenario defines one."""
    if panel == "nic-sram":
        return size_bytes(result.scenario["machine"]["nic"]["sram"]) / 1024
    if panel == "host-delay":
        tables = controls(result.scenario["traffic"]).values()
        targets = (table.get("endpoint_target") for table in tables)
        return next((nanoseconds(target) / 1e3 for target in targets if target is not None), None)
    return None
