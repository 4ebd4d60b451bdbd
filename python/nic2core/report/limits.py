"""The panel that shows what limits: a bar for each domain of the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core import words
from nic2core.describe.verdict import mark_of
from nic2core.explain.hints import at_ease
from nic2core.explain.use import work

if TYPE_CHECKING:
    from nic2core.explain.stages import Stage
    from nic2core.explain.use import Use
    from nic2core.run_record import Record


@dataclass(frozen=True)
class Row:
    """One domain."""

    domain: str
    name: str
    badge: str
    """`limits`, `next` or `waits`, as returned by `mark_of`; empty for other domains."""
    in_use: str
    tip: str
    """Why not all credits count; empty if they all do."""
    load: float
    """Share of its credits in use, 0 to 1; for the I/O ways, the share of writes that leak."""
    severity: str
    held: str
    allows: str
    share: float | None
    """The run's rate / the rate that the domain allows; absent if there is no such rate."""
    changes: list[tuple[str, str]]
    """Each change to it, and how much that helps."""


def limits_of(result: Record) -> list[Row]:
    """The rows of a run, in path order."""
    # If no change can help, none are shown.
    helps = [] if at_ease(result) else result.helps
    stages = {stage.stage: stage for stage in result.stages}
    rate, _ = work(result.data)
    rows = []
    for use in result.model.used:
        allows = words.allowed(result.model, use)
        load = stages[use.name].load
        rows.append(
            Row(
                domain=use.name,
                name=words.stage(use.name),
                badge=mark_of(result, use.name),
                in_use=_in_use(stages[use.name], use),
                tip=_usable(result, use),
                load=load,
                severity=words.severity(load).name,
                held=words.held(use),
                allows=allows,
                share=None
                if allows == words.NOTHING
                else min(1.0, rate / result.model.allows.get(use.name, use.allows_mps)),
                changes=[
                    (h.change.what, words.gain(h.predicted))
                    for h in helps
                    if h.change.domain == use.name
                ],
            )
        )
    return rows


def _in_use(stage: Stage, use: Use) -> str:
    if use.name == "io-ways":
        # How full the I/O ways are says nothing; how much leaks from them does.
        return stage.detail
    return f"{words.three(use.occupancy)} of {use.credits:,} {words.what_for(use)}"


def _usable(result: Record, use: Use) -> str:
    usable = words.usable_credits(result.model, use)
    if usable >= use.credits:
        return ""
    return (
        f"{usable} of the {use.credits} are usable: a PCIe write takes the credits of all its "
        "lines at once, and the rest are too few for another write."
    )
