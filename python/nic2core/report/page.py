"""Fills the templates: everything that the page needs is inside it."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from nic2core import names, words
from nic2core._core import UserError
from nic2core.describe import peaks, senders, slowdowns
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
from nic2core.describe.scenario_keys import first
from nic2core.describe.verdict import verdict
from nic2core.draw import palette
from nic2core.files import write_whole
from nic2core.report.panels import curves, grid, panels
from nic2core.report.path import WIDTH, picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from plotly.graph_objects import Figure

    from nic2core.results.models import Distribution
    from nic2core.run_record import Record

TEMPLATES = Environment(
    loader=PackageLoader("nic2core.report"),
    autoescape=select_autoescape(enabled_extensions=("j2",)),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


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
    charts, over = panels(results), [*curves(results), *grid(results)]
    figures = {p.key: [f for _, f in p.views] for p in (*over, *charts)}
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
        panels=charts,
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
