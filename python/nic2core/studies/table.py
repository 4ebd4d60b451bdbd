"""Claims beside what was simulated, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.studies.claim import Judged, Tolerance


def number(value: float) -> str:
    """Three significant digits, but at least those up to the first after the point."""
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def span(low: float | None, high: float | None, unit: str) -> str:
    """A range, or one number if both ends print alike."""
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
    ends = [f"{scale * end:+.1f}" for end in (low, high)]
    return f"{ends[0] if ends[0] == ends[1] else ' / '.join(ends)} {unit}"


def verdict(judged: Judged) -> str:
    """`yes`, `no`, `blind`, or `absent` if a point failed or shows nothing to the claim."""
    if judged.simulated is None:
        return "absent"
    return {True: "yes", False: "no", None: "blind"}[judged.holds]


def verdict_text(judged: Judged) -> str:
    """The same, and whether it is of a fit."""
    return verdict(judged) + ", fitted" * judged.claim.fitted


def published_text(judged: Judged) -> str:
    """What the paper has."""
    claim = judged.claim
    if claim.kind == "ordering":
        return "ordering"
    return span(claim.published_low, claim.published_high, claim.unit) or "blind"


def simulated_text(judged: Judged) -> str:
    """What the simulator has."""
    found = judged.simulated
    return "" if found is None else span(found.low, found.high, judged.claim.unit)


def score(judged: Sequence[Judged]) -> str:
    """How many hold, of the values and of the orderings, and how many are fits; blind apart."""
    values = [j for j in judged if j.claim.kind == "value" and j.claim.published_low is not None]
    orderings = [j for j in judged if j.claim.kind == "ordering"]
    blind = len(judged) - len(values) - len(orderings)
    parts = [
        f"{sum(bool(j.holds) for j in group)} of {len(group)} {name}{_fits(group)}"
        for name, group in (("values", values), ("orderings", orderings))
        if group
    ]
    return " and ".join(parts) + " hold" * bool(parts) + f"; {blind} blind" * bool(blind)


def _fits(group: Sequence[Judged]) -> str:
    """How many of these are no predictions."""
    fits = sum(j.claim.fitted for j in group)
    return "" if fits == 0 else " (all fitted)" if fits == len(group) else f" ({fits} fitted)"


_STYLES = {"yes": "green", "no": "bold red", "absent": "bold red", "blind": "dim"}


def claims_table(judged: Sequence[Judged], tolerance: Tolerance) -> Table:
    """Claim | published | simulated | error | holds.

    An id that is broken cannot be copied; without its paper, as `--claim` takes it too, and without
    lines between the columns all have room in a terminal of 80.
    """
    ids = [j.claim.id.removeprefix(f"{j.claim.paper}/") for j in judged]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("claim", width=max(map(len, ids), default=0))
    for heading in ("published", "simulated", "error", "holds"):
        table.add_column(heading)
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
