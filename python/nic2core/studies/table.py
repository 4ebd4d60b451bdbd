"""Claims and their simulated results, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from nic2core.words import signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.studies.claim import Judged, Tolerance


def number(value: float) -> str:
    """Three significant digits, or one decimal from 10 on."""
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def span(low: float | None, high: float | None, unit: str) -> str:
    """A range, or one number if both ends print the same."""
    if low is None or high is None:
        return ""
    text = number(low) if number(low) == number(high) else f"{number(low)}..{number(high)}"
    return f"{text} {unit}"


def error_text(judged: Judged, tolerance: Tolerance) -> str:
    """The error at both ends of the range."""
    if judged.error is None:
        return ""
    low, high = judged.error
    scale, unit = (100, "%") if tolerance.kind == "relative" else (1, "points")
    ends = [signed(scale * end, 1) for end in (low, high)]
    return f"{ends[0] if ends[0] == ends[1] else ' / '.join(ends)} {unit}"


def verdict(judged: Judged) -> str:
    """`yes`, `no`, `blind`, or `absent` if a point failed or does not show what is claimed."""
    if judged.simulated is None:
        return "absent"
    return {True: "yes", False: "no", None: "blind"}[judged.holds]


def verdict_text(judged: Judged) -> str:
    """The verdict, how far it goes, and whether it could have been otherwise."""
    return ", ".join(
        [
            verdict(judged),
            *["part of the range"] * _in_part(judged),
            *["fitted"] * judged.claim.fitted,
            *["given"] * judged.claim.given,
        ]
    )


def _in_part(judged: Judged) -> bool:
    """Whether a value holds although its range is much narrower than the published one."""
    return bool(judged.holds) and not judged.reaches


def published_text(judged: Judged) -> str:
    """The published value, `ordering` or `blind`."""
    claim = judged.claim
    if claim.kind == "ordering":
        return "ordering"
    return span(claim.published_low, claim.published_high, claim.unit) or "blind"


def simulated_text(judged: Judged) -> str:
    """The simulated value."""
    found = judged.simulated
    return "" if found is None else span(found.low, found.high, judged.claim.unit)


def score(judged: Sequence[Judged]) -> str:
    """How many values and orderings hold, what these numbers are worth, and how many are blind."""
    values = [j for j in judged if j.claim.kind == "value" and j.claim.published_low is not None]
    orderings = [j for j in judged if j.claim.kind == "ordering"]
    blind = len(judged) - len(values) - len(orderings)
    parts = [
        f"{sum(bool(j.holds) for j in group)} of {len(group)} {name}{_worth(group)}"
        for name, group in (("values", values), ("orderings", orderings))
        if group
    ]
    return " and ".join(parts) + " hold" * bool(parts) + f"; {blind} blind" * bool(blind)


def _worth(group: Sequence[Judged]) -> str:
    """How many of these are no predictions, and how many hold for a part of their range alone."""
    counts = {
        "fitted": sum(j.claim.fitted for j in group),
        "given": sum(j.claim.given for j in group),
        "in part of the range": sum(_in_part(j) for j in group),
    }
    if counts["fitted"] == len(group):
        return " (all fitted)"
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f" ({told})" if told else ""


_STYLES = {"yes": "green", "no": "bold red", "absent": "bold red", "blind": "dim"}


def claims_table(judged: Sequence[Judged], tolerance: Tolerance) -> Table:
    """Claim | published | simulated | error | holds.

    Ids must not be wrapped, or they cannot be copied. Without the paper's name, which `--claim`
    does not need either, and without column lines, everything fits into 80 columns.
    """
    ids = [j.claim.id.removeprefix(f"{j.claim.paper}/") for j in judged]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("claim", width=max(map(len, ids), default=0))
    for heading in ("published", "simulated", "error", "holds"):
        table.add_column(heading, overflow="fold")
    for claim_id, j in zip(ids, judged, strict=True):
        word = verdict(j)
        table.add_row(
            f"{claim_id}\n[dim]{j.claim.statement}[/dim]",
            published_text(j),
            simulated_text(j),
            error_text(j, tolerance),
            f"[{_STYLES[word]}]{verdict_text(j)}[/]",
        )
    return table
