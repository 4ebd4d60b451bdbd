"""The explanation of a run, as a table in the terminal and as data."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nic2core import names, words
from nic2core.command.terminal import bar
from nic2core.describe.hints import at_ease, hints
from nic2core.describe.legend import legend
from nic2core.describe.limits import Row, limits_of
from nic2core.describe.verdict import verdict
from nic2core.explain.help import tail_columns
from nic2core.explain.use import one, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nic2core.explain.help import Help
    from nic2core.result import Result

BAR = 10
"""Cells of a bar."""


def show(result: Result, helps: Sequence[Help], saved_in: str = "DIR") -> None:
    """Draw the explanation of a run saved in a directory; `helps` may have been checked."""
    console = Console(highlight=False)
    console.print(Text(words.sentence(verdict(result)), style="bold"))
    # If no change can help, a column of changes says nothing; the hint below explains why.
    listed = [h for h in helps if not at_ease(result) or h.measured is not None or h.refused]
    whole = _whole(result, listed)
    # Its natural width: measured at the terminal's width, Rich would shrink the table to that.
    wanted = console.measure(whole, options=console.options.update(max_width=999)).maximum
    for table in [whole] if wanted <= console.width else _parts(result, listed):
        if console.width < NARROWEST:
            for column in table.columns:
                column.no_wrap = False
        console.print(table)
    for hint in hints(result, helps, saved_in):
        # A command in it can be copied whole: the terminal wraps it, without a line break.
        console.print(hint, soft_wrap="`" in hint, markup=False, emoji=False)
    if any(h.filling for h in helps):
        console.print(
            "* Queues still grew in this re-run: with a longer run.warmup, more is dropped.",
            style="dim",
        )
    for refused in (h for h in helps if h.refused is not None):
        console.print(
            f"Not possible: {names.stage(refused.change.domain)}, {refused.change.what}: "
            f"{refused.refused}",
            style="dim",
            markup=False,
        )
    for said in legend(result, limits_of(result)):
        console.print(said, style="dim", markup=False)


def _whole(result: Result, helps: Sequence[Help]) -> Table:
    """The domains, and next to each how much a change to it would help."""
    heads = _domain_heads(result, wide=True)
    table = _table([*heads, *_change_heads(helps)])
    tails = tail_columns(helps)
    for row, (first, *more), style in _rows(result, helps):
        cells = _domain_cells(row, wide=True)
        table.add_row(*cells, *_change_cells(first, tails), style=style)
        for help_ in more:
            table.add_row(*[""] * len(heads), *_change_cells(help_, tails), style=style)
    return table


def _parts(result: Result, helps: Sequence[Help]) -> list[Table]:
    """The same for a narrow terminal: two tables, without the columns for bars and uses."""
    domains = _table(_domain_heads(result, wide=False))
    changes = _table([("domain", "left"), *_change_heads(helps)])
    tails = tail_columns(helps)
    for row, of_it, style in _rows(result, helps):
        domains.add_row(*_domain_cells(row, wide=False), style=style)
        for help_ in of_it:
            if help_ is not None:
                changes.add_row(row.name, *_change_cells(help_, tails), style=style)
    if not changes.row_count:
        return [domains]
    domains.add_row()
    return [domains, changes]


def _rows(result: Result, helps: Sequence[Help]) -> Iterator[tuple[Row, list[Help | None], str]]:
    """Each domain, the changes to it (`None` if there are none), and the style of its rows."""
    for row in limits_of(result):
        of_it: list[Help | None] = [h for h in helps if h.change.domain == row.domain]
        yield row, of_it or [None], "bold" if row.domain == result.model.cause else ""


Head = tuple[str, Literal["left", "right"]]
"""The heading of a column, and how its cells are aligned."""


GIVE_WAY = ("of", "change")
"""Columns of words, which are wrapped if the terminal is too narrow."""

LONG = 24
"""Characters of a name with its mark, from which the mark stands below it in a narrow terminal."""

NARROWEST = 80
"""Width of a terminal in which the other columns fit. In a narrower one they would be cut off."""


def _table(heads: Sequence[Head]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head, side in heads:
        table.add_column(head, justify=side, overflow="fold", no_wrap=head not in GIVE_WAY)
    return table


def _domain_heads(result: Result, *, wide: bool) -> list[Head]:
    heads: list[Head] = [("domain", "left"), ("in use", "right"), ("of", "left")]
    if not wide:
        return [*heads, ("held for", "right"), ("allows\nM/s", "right")]
    uses = f"uses/{one(work(result.data)[1])}"
    return [*heads, ("", "left"), ("held for", "right"), (uses, "right"), ("allows M/s", "right")]


def _domain_cells(row: Row, *, wide: bool) -> list[Text | str]:
    name = f"{row.name} ◀ {row.badge}" if row.badge else row.name
    if not wide:
        if row.badge and len(name) > LONG:
            name = f"{row.name}\n◀ {row.badge}"
        return [name, row.in_use, row.of, row.held, row.allows]
    full = Text(bar(row.load, BAR), style=words.severity(row.load).terminal)
    return [name, row.in_use, row.of, full, row.held, row.uses, row.allows]


def _change_heads(helps: Sequence[Help]) -> list[Head]:
    if not helps:
        return []
    heads: list[Head] = [("change", "left"), ("takes", "left"), ("helps by", "right")]
    if any(h.measured is not None or h.refused is not None for h in helps):
        heads.append(("re-run", "right"))
    if any(h.drop_share is not None for h in helps):
        heads += [("dropped", "right"), *((names.TAILS[c], "right") for c in tail_columns(helps))]
    return heads


def _change_cells(help_: Help | None, columns: Sequence[str]) -> list[str]:
    if help_ is None:
        return []
    change = help_.change
    cells = [change.what, names.TAKES[change.takes.name], words.gain(help_.predicted)]
    if help_.refused is not None:
        cells.append("not possible")
    elif help_.measured is not None:
        cells.append(words.gain(help_.measured))
        if help_.drop_share is not None:
            drops = words.percent(help_.drop_share)
            cells.append(f"{drops} *" if help_.filling else drops)
            cells += [words.tail(c, help_.tails.get(c)) for c in columns]
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
        "demand_mps": finite(model.demand),
        "limited": result.limited,
        "limits": model.cause,
        "full": model.full,
        "verdict": verdict(result),
        "domains": [
            {
                "domain": u.name,
                "core": u.core,
                "short_core": u.short_core,
                "unit": u.unit,
                "credits": u.credits,
                "in_use": u.occupancy,
                "held_ns": u.latency_ns,
                "own_ns": u.own_ns,
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
                "takes": names.TAKES[h.change.takes.name],
                "set": h.change.overrides,
                "helps_by": finite(h.predicted),
                "rerun": h.measured,
                "rerun_drop_share": h.drop_share,
                "rerun_tails": dict(h.tails) if h.measured is not None else None,
                "rerun_filling": h.filling if h.measured is not None else None,
                "not_possible": h.refused,
                "not_predicted": h.unknown or None,
                "harm": h.harm or None,
            }
            for h in helps
        ],
    }
