"""Fills the templates: everything that the page needs is inside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from nic2core import names, words
from nic2core._core import UserError
from nic2core.describe import contents, peaks, rows, seeds, senders, slowdowns
from nic2core.describe.capture_facts import capture_facts
from nic2core.describe.compared import COLUMNS, compared
from nic2core.describe.differences import UNCHANGED
from nic2core.describe.doubts import all_doubts, doubts
from nic2core.describe.glossary import SPANS, meaning
from nic2core.describe.headline import LIMITED_BY, headline, parts
from nic2core.describe.hints import hints
from nic2core.describe.labels import told_apart
from nic2core.describe.legend import what_counts
from nic2core.describe.limiter import limit
from nic2core.describe.limits import limits_of
from nic2core.describe.rates import DIFFERENCE_FELT, SAME_RATE
from nic2core.describe.scenario_keys import first
from nic2core.describe.verdict import verdict
from nic2core.draw import palette, plots
from nic2core.draw.queues import AXES
from nic2core.draw.slowdowns import PERCENTILES
from nic2core.explain.use import neighbours
from nic2core.files import write_whole
from nic2core.report.path import WIDTH, picture
from nic2core.results.timeline import VIEWER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from plotly.graph_objects import Figure

    from nic2core.results.models import Distribution
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

TEMPLATES = Environment(
    loader=PackageLoader("nic2core.report"),
    autoescape=select_autoescape(enabled_extensions=("j2",)),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Panel:
    """A chart on the page, with the views that its toggle offers."""

    key: str
    title: str
    text: str
    views: list[tuple[str, Figure]]
    wide: bool = False


def write_report(results: Sequence[Record], path: Path, gaps: Sequence[str] = ()) -> Path:
    """Write the report of one run, or a comparison of several, to `path`.

    `gaps` are sentences on runs that are missing.
    """
    if not results:
        raise UserError("A report needs at least one result.")
    write_whole(path, report_html(results, gaps))
    return path


def report_html(results: Sequence[Record], gaps: Sequence[str] = ()) -> str:
    """The page as text; see `write_report`."""
    results = told_apart(results)
    panels, over = _panels(results), [*_curves(results), *_grid(results)]
    figures = {p.key: [f for _, f in p.views] for p in (*over, *panels)}
    found = compared(results)
    keys, more_keys = first(found.keys)
    warnings = all_doubts(results)
    limits = [limits_of(r) for r in results]
    return page_html(
        "report.html.j2",
        _head(results),
        results,
        figures,
        pictures=[svg(r, f"path{n}") for n, r in enumerate(results)],
        panels=panels,
        over=over,
        unfolded=UNFOLDED,
        columns=COLUMNS,
        words=words,
        peaks=peaks,
        senders=senders,
        slowdowns=slowdowns,
        verdict=verdict,
        meaning=meaning,
        spans=SPANS,
        palette=palette,
        limits=limits,
        by_limit=_by_limit(results),
        what_counts=what_counts(results, list(chain.from_iterable(limits))),
        hints=list(hints(results[0], results[0].helps)) if len(results) == 1 else [],
        unchanged=UNCHANGED,
        parts=parts(results[0]),
        compared=found,
        captured=_captured(results),
        gaps=gaps,
        warnings=warnings,
        doubtful=sum(1 for result in results if doubts(result)),
        shown_warnings=SHOWN_WARNINGS,
        keys=keys,
        more_keys=more_keys,
        spreads=[_spreads(r) for r in results],
        scenarios=[json.dumps(r.scenario, indent=2) for r in results],
    )


def page_html(
    template: str,
    head: str,
    results: Sequence[Record],
    figures: Mapping[str, Sequence[Figure]],
    **parts: Any,
) -> str:
    """A page with the head, the foot and the scripts that all reports have."""
    drawn = {key: [json.loads(f.to_json()) for f in views] for key, views in figures.items()}
    return TEMPLATES.get_template(template).render(
        head=head,
        machine=_machine(results),
        made=_made(results),
        figures=_script_json(drawn),
        plotly=Markup(get_plotlyjs()),  # noqa: S704 - plotly's own script, from the package
        results=list(results),
        **parts,
    )


def notebook_html(result: Record) -> str:
    """What a notebook shows for a run: verdict, path and main numbers."""
    return TEMPLATES.get_template("notebook.html.j2").render(
        result=result,
        picture=svg(result, _ident(result)),
        words=words,
        verdict=verdict,
        meaning=meaning,
        headline=headline(result),
        warnings=doubts(result),
    )


def _ident(result: Record) -> str:
    """An id for the picture in a notebook, whose cells are one page: no other picture has it."""
    return "n" + sha256(repr(picture(result)).encode()).hexdigest()[:12]


def svg(result: Record, ident: str) -> Markup:
    """The path of a run as SVG; `ident` keeps its ids distinct from those of other pictures."""
    template = TEMPLATES.get_template("path.svg.j2")
    text = template.render(picture=picture(result), width=WIDTH, id=ident)
    return Markup(text)  # noqa: S704 - rendered with autoescape just above


SHOWN_WARNINGS = 3
"""Maximum number of warnings listed under the title; more are folded so that the numbers are seen
first."""

UNFOLDED = 3
"""Maximum number of runs that have cards of their own, and of changes; more are folded in one."""

CURVE = 3
"""Number of values of a key from which they are drawn as a curve."""


HAIR = 10
"""Ratio of two mean latencies from which a bar of the shorter tells nothing beside the longer."""


def _curves(results: Sequence[Record]) -> list[Panel]:
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


def _grid(results: Sequence[Record]) -> list[Panel]:
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


def _panels(results: Sequence[Record]) -> list[Panel]:
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


def _by_limit(results: Sequence[Record]) -> dict[str, list[int]]:
    """The numbers of the runs that the same limits, by that in a few words."""
    found: dict[str, list[int]] = {}
    for number, result in enumerate(results):
        found.setdefault(f"{LIMITED_BY} {limit(result)}", []).append(number)
    return found


def _spreads(result: Record) -> dict[str, dict[str, Distribution]]:
    """The delays of a run as tables: packets by stage, and what closed-loop senders see."""
    tables = {"latency": names.latencies(result.data), senders.TITLE: senders.delays(result.data)}
    return {title: named for title, named in tables.items() if named}


def _made(results: Sequence[Record]) -> dict[str, str]:
    """How the runs were made; what is the same for all of them appears once."""
    data = [r.data for r in results]
    seeds = list(dict.fromkeys(str(d.seed) for d in data))
    return {
        "versions": ", ".join(dict.fromkeys(d.engine_version for d in data)),
        "seeds": f"seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}",
        "times": ", ".join(dict.fromkeys(words.time(d.measured_ns) for d in data)),
        "packets": f"{sum(d.packets.completed for d in data):,}",
        "accesses": f"{sum(d.line_accesses for d in data):,}",
    }


def _machine(results: Sequence[Record]) -> str:
    """The machine of all runs; empty if there are several machines."""
    all_of = {r.scenario["machine"].get("description", "") for r in results}
    return all_of.pop() if len(all_of) == 1 else ""


def _captured(results: Sequence[Record]) -> str:
    """The sentence about the capture; empty unless all runs replay the same one in the same way."""
    told = {capture_facts(r) for r in results}
    return told.pop() if len(told) == 1 else ""


def _head(results: Sequence[Record]) -> str:
    """The scenarios and the runs."""
    labels = [r.label for r in results]
    runs = " against ".join(labels) if len(results) < 4 else f"{len(results)} runs compared"
    names = ", ".join(dict.fromkeys(r.scenario_name for r in results if r.scenario_name))
    return f"{names}: {runs}" if names else runs


def _script_json(value: Any) -> Markup:
    """JSON that is safe inside a script element: it contains no `<` that could end it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - escaped just above
