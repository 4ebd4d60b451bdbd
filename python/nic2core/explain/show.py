"""The explanation of a run, as a table in the terminal and as data."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nic2core import words
from nic2core.explain.use import one, work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.explain.help import Help
    from nic2core.explain.use import Use
    from nic2core.results import Result

BAR = 10
"""Cells of a bar."""
WIDE = 120
"""Columns of a terminal in which all of the table has room; others go without bars and uses."""


def show(result: Result, helps: Sequence[Help]) -> None:
    """Draw the explanation of a run; `helps` may have been checked."""
    console = Console(highlight=False)
    console.print(Text(words.sentence(words.verdict(result)), style="bold"))
    console.print(_table(result, helps, wide=console.width >= WIDE))
    rate, what = work(result.data)
    console.print(
        f"The run does {words.three(rate)} M {what}/s. A domain allows credits / (uses x time "
        "held); I/O write credits count in whole TLPs. The marked domain is where the credits "
        "that allow least spend most of their wait. A change helps up to what the next domain "
        "allows.",
        style="dim",
    )
    for refused in (h for h in helps if h.refused is not None):
        console.print(
            f"Not possible: {words.stage(refused.change.domain)}, {refused.change.what}: "
            f"{refused.refused}",
            style="dim",
        )


def _table(result: Result, helps: Sequence[Help], *, wide: bool) -> Table:
    _, what = work(result.data)
    checked = any(h.measured is not None or h.refused is not None for h in helps)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("domain", no_wrap=True)
    table.add_column("in use", justify="right")
    table.add_column("of")
    if wide:
        table.add_column("", no_wrap=True)
    table.add_column("held for" if wide else "held", justify="right", no_wrap=True)
    if wide:
        table.add_column(f"uses/{one(what)}", justify="right")
    table.add_column("allows M/s" if wide else "M/s", justify="right")
    table.add_column("change")
    table.add_column("helps by" if wide else "helps", justify="right", no_wrap=True)
    if checked:
        table.add_column("re-run", justify="right")
    by_domain = {h.change.domain: h for h in helps}
    for use in result.model.used:
        table.add_row(
            *_row(result, use, by_domain.get(use.name), wide=wide),
            style="bold" if use.name == result.model.cause else "",
        )
    return table


def _row(result: Result, use: Use, help_: Help | None, *, wide: bool) -> list[Text | str]:
    name = words.stage(use.name)
    if use.name == result.model.cause:
        name += f" ◀ {words.mark(result)}" if words.mark(result) else ""
    full, rest = divmod(round(use.load * BAR * 2), 2)
    cells: list[Text | str] = [name, words.three(use.occupancy)]
    cells.append(f"{use.credits:,} {words.what_for(use)}")
    if wide:
        bar = ("█" * full + "▌" * rest).ljust(BAR)
        cells.append(Text(bar, style=words.severity(use.load).terminal))
    cells.append(words.time(use.latency_ns) if use.uses_per_us > 0 else words.NOTHING)
    if wide:
        cells.append(words.three(use.uses_per_work))
    cells.append(words.allowed(result, use))
    cells.append("" if help_ is None else help_.change.what)
    cells.append("" if help_ is None else words.gain(help_.predicted))
    if help_ is not None and help_.refused is not None:
        cells.append("not possible")
    elif help_ is not None and help_.measured is not None:
        cells.append(words.gain(help_.measured))
    return cells


def to_json(result: Result, helps: Sequence[Help]) -> dict[str, Any]:
    """The explanation as JSON values."""
    model = result.model
    rate, what = work(result.data)

    def finite(value: float) -> float | None:
        return value if isfinite(value) else None

    return {
        "label": result.label,
        "rate_mps": rate,
        "of": what,
        "offered_mps": finite(model.demand),
        "limited": result.limited,
        "limits": model.cause,
        "full": model.full,
        "verdict": words.verdict(result),
        "domains": [
            {
                "domain": u.name,
                "unit": u.unit,
                "credits": u.credits,
                "in_use": u.occupancy,
                "held_ns": u.latency_ns,
                "uses_per_us": u.uses_per_us,
                "uses_per_work": u.uses_per_work,
                "starved_share": u.starved,
                "allows_mps": finite(model.allows.get(u.name, u.allows_mps)),
                "spent_ns": model.pools[u.name].spent_ns if u.name in model.pools else None,
            }
            for u in model.used
        ],
        "changes": [
            {
                "domain": h.change.domain,
                "change": h.change.what,
                "set": h.change.overrides,
                "helps_by": finite(h.predicted),
                "rerun": h.measured,
                "not_possible": h.refused,
            }
            for h in helps
        ],
    }
