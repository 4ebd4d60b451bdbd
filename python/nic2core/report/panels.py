"""The charts of a report, and which of them have something to draw."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nic2core import names
from nic2core.describe import contents, rows, seeds, senders
from nic2core.describe.rates import DIFFERENCE_FELT, SAME_RATE
from nic2core.draw import plots
from nic2core.draw.queues import AXES
from nic2core.draw.slowdowns import PERCENTILES
from nic2core.explain.use import neighbours
from nic2core.results.timeline import VIEWER

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from plotly.graph_objects import Figure

    from nic2core.run_record import Record

SERIES_TEXT = (
    "Drag to zoom all panels, double-click to reset. To see what individual packets wait for, run "
    f"with --timeline timeline.json and open that file at {VIEWER.removeprefix('https://')}."
)

LLC_TEXT = (
    "When the run ended. The data of a consumed receive buffer is needed by nobody: it takes room "
    "until it is overwritten, swept or evicted. Policies that write no packets to the I/O ways "
    "have no bar for these."
)

QUEUES_TEXT = (
    "What each core's queue gets of the packets, for what share of the time the core does not wait "
    "for the next one, and how many descriptors of its rings are in use."
)

CURVE = 3
"""Number of values of a key from which they are drawn as a curve."""


HAIR = 10
"""Ratio of two mean latencies from which a bar of the shorter tells nothing beside the longer."""


@dataclass(frozen=True)
class Panel:
    """A chart on the page, with the views that its toggle offers."""

    key: str
    title: str
    text: str
    views: list[tuple[str, Figure]]
    wide: bool = False


def panels(results: Sequence[Record]) -> list[Panel]:
    """The charts with something to draw: a run without packets has no latency, for example."""
    packets = any(r.total_latency is not None for r in results)
    # Lines of cores that serve no packets belong to no packet: show GB/s first then.
    beside = any(neighbours(r.data, r.scenario) for r in results)
    requests = any(c.per_request is not None for r in results for c in r.data.memory.causes)
    reads = any(r.data.dram.read_latency.count for r in results)
    searched = any(r.peak is not None for r in results)
    sampled = any(c.values for r in results for c in r.data.series.columns)
    memory = [
        ("per request", plots.memory_by_cause(results, "per_request")),
        ("GB/s", plots.memory_by_cause(results, "gbytes_per_s")),
    ]
    if not requests:
        memory = memory[1:]
    elif beside:
        memory.reverse()
    panels = [
        Panel(
            "latency",
            "Latency by stage",
            "Where the mean packet's time goes. Hover for percentiles.",
            _latency(results),
        ),
        Panel(
            "memory",
            "Memory traffic by cause",
            "Every byte on the memory bus, by what caused it.",
            memory,
        ),
        Panel("queues", "By core", QUEUES_TEXT, _queues(results)),
        Panel("llc", "What the LLC holds", LLC_TEXT, _llc(results)),
        Panel(
            "tail",
            "Latency tail",
            "The share of packets, or of what senders see, that take longer than a given time.",
            ([("packets", plots.latency_cdf(results))] if packets else []) + _delays(results),
        ),
        Panel(
            "connections",
            "Who gets what",
            "What each connection delivered, from the one with least on: a flat line is fair.",
            [("connections", plots.by_connection(results))],
        ),
        Panel(
            "slowdowns",
            "Reads by size",
            "How many times as long as alone reads of each size take.",
            [
                (f"p{percentile:g}", plots.slowdowns_by_size(results, percentile))
                for percentile in PERCENTILES
            ],
        ),
        Panel(
            "search",
            "Rates tried",
            "The p99 or the drops at each rate of the search. ✕ marks rates that fail; dotted: the "
            "p99 objective, unless it is far away.",
            [("p99", plots.peak_search(results)), ("drops", plots.peak_drops(results))]
            if searched
            else [],
        ),
        Panel(
            "dram",
            "DRAM read latency",
            "How long reads take at the memory controller. Queueing shows as a long tail.",
            [("cdf", plots.dram_cdf(results))] if reads else [],
        ),
        Panel(
            "series",
            "Over time",
            SERIES_TEXT + (" Click a run in the legend to hide it." if len(results) > 1 else ""),
            [("series", plots.time_series(results))] if sampled else [],
            wide=True,
        ),
    ]
    drawn = [
        replace(panel, views=[(name, figure) for name, figure in panel.views if figure.data])
        for panel in panels
    ]
    return [panel for panel in drawn if panel.views]


def curves(results: Sequence[Record]) -> list[Panel]:
    """The main numbers over the first key that was varied in numbers."""
    if not rows.of_one_scenario(results):
        return []
    found, keys, means = seeds.drawn(results)
    # Nothing lies between two seeds.
    curves = (k for k in keys if k != seeds.SEED)
    key = next((k for k in curves if rows.is_curve(found[k].to_list(), CURVE)), None)
    if key is None:
        return []
    keys.sort(key=lambda k: k != key)
    lines = "One line per value of the other keys." if len(keys) > 1 else ""
    bars = "Means over the seeds, with their 95 % confidence intervals." if means else ""
    text = f"{lines} {bars}".strip()
    views = [
        (title.split(",")[0], plots.over(found, keys, column, title))
        for column, title in _columns(results, found)
    ]
    return [Panel("curve", f"Over {key}", text, views, wide=True)]


def grid(results: Sequence[Record]) -> list[Panel]:
    """The main numbers over two keys that were varied, one cell per run."""
    found, keys, means = seeds.drawn(results)
    if not rows.of_one_scenario(results) or len(keys) != 2 or found[keys].is_duplicated().any():
        return []
    down, across = keys
    views = [
        (title, plots.grid(found, down, across, column))
        for column, title in _columns(results, found)
    ]
    text = "One cell per run." if not means else "Means over the seeds."
    return [Panel("grid", f"{down} by {across}", text, views, wide=True)]


def _columns(results: Sequence[Record], found: pl.DataFrame) -> list[tuple[str, str]]:
    """The columns to draw, with their titles: those in which some run has a value.

    Those in which runs differ least come last.
    """
    titles = plots.titles(results)
    known = {c for c in found.columns if found[c].null_count() < found.height}
    drawn = [(column, title) for column, title in titles.items() if column in known]
    return sorted(drawn, key=lambda of: _alike(found[of[0]].drop_nulls().to_list()))


def _alike(values: Sequence[float]) -> int:
    """How alike the values are: 0 if users notice the difference, 2 if they are about the same."""
    return sum(max(values) <= (1 + felt) * min(values) for felt in (DIFFERENCE_FELT, SAME_RATE))


def _latency(results: Sequence[Record]) -> list[tuple[str, Figure]]:
    """The latency by stage; first as shares if beside the slowest run the fastest is a hair."""
    spreads = [spread for r in results if (spread := r.total_latency) is not None]
    means = [spread.mean_ns for spread in spreads if spread.count]
    if not spreads:
        return []
    views = [
        ("time", plots.latency_by_stage(results)),
        ("share", plots.latency_by_stage(results, shares=True)),
    ]
    return views[::-1] if means and max(means) > HAIR * min(means) else views


def _delays(results: Sequence[Record]) -> list[tuple[str, Figure]]:
    """The delays that closed-loop senders see."""
    known = {name for r in results for name in senders.delays(r.data)}
    of = {name: key for key, name in names.DELAYS.items() if name in known}
    return [(name, plots.latency_cdf(results, key)) for name, key in of.items()]


def _queues(results: Sequence[Record]) -> list[tuple[str, Figure]]:
    """What cores do, where there are several to tell apart."""
    if all(len(r.data.queues) < 2 for r in results):
        return []
    return [(of.replace("_", " "), plots.by_core(results, of)) for of in AXES]


def _llc(results: Sequence[Record]) -> list[tuple[str, Figure]]:
    """What the LLC holds; no views for results of engines that did not tell it."""
    if all(r.data.llc_contents is None for r in results):
        return []
    if len(results) == 1:
        return [("by way", plots.llc_by_way(results[0]))]
    views = [("LLC", plots.llc_contents(results))]
    if any(contents.io_ways(r) for r in results):
        views.append(("I/O ways", plots.llc_contents(results, io=True)))
    return views
