"""The rows of the table that shows what limits, one for each domain of the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core import names, words
from nic2core.describe import pools
from nic2core.describe.hints import at_ease
from nic2core.describe.limiter import mark_of
from nic2core.explain.use import work

if TYPE_CHECKING:
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
    of: str
    """What is in use of it: its credits, or for the I/O ways the writes, of which some leak."""
    tip: str
    """Why not all credits count; empty if they all do."""
    load: float
    """Share of its credits in use, 0 to 1; for the I/O ways, the share of writes that leak."""
    severity: str
    held: str
    uses: str
    """How often a piece of work uses it."""
    allows: str
    share: float | None
    """The run's rate / the rate that the domain allows; absent if there is no such rate."""
    changes: list[tuple[str, str, str]]
    """Each change to it, what it takes, and how much it helps."""


def limits_of(result: Record) -> list[Row]:
    """The rows of a run, in path order."""
    # If no change can help, none are shown.
    helps = [] if at_ease(result) else result.helps
    stages = {stage.stage: stage for stage in result.stages}
    rate, _ = work(result.data)
    rows = []
    for use in result.model.used:
        allowed = result.model.allowed_by(use)
        load = stages[use.name].load
        in_use, of = words.three(use.occupancy), f"{use.credits:,} {pools.what_for(use)}"
        if use.name == "io-ways":
            # How full the I/O ways are says nothing; how much leaks from them does.
            in_use, of = words.percent(load), "writes leak"
        rows.append(
            Row(
                domain=use.name,
                name=names.stage(use.name),
                badge=mark_of(result, use.name),
                in_use=in_use,
                of=of,
                tip=_usable(result, use),
                load=load,
                severity=words.severity(load).name,
                held=pools.held(use),
                uses=words.three(use.uses_per_work),
                allows=pools.allowed(result.model, use),
                share=None if allowed is None else min(1.0, rate / allowed),
                changes=[
                    (h.change.what, names.TAKES[h.change.takes.name], words.gain(h.predicted))
                    for h in helps
                    if h.change.domain == use.name
                ],
            )
        )
    return rows


def _usable(result: Record, use: Use) -> str:
    usable = pools.usable_credits(result.model, use)
    if usable >= use.credits:
        return ""
    if use.name == "tx-descriptors":
        return (
            f"{use.credits - usable} of the {use.credits} are always held by packets that have "
            "been sent and wait for others of their completion."
        )
    of = "read request" if use.name == "read-credits" else "write"
    return (
        f"{usable} of the {use.credits} are usable: a PCIe {of} takes the credits of all its "
        f"lines at once, and the rest are too few for another {of}."
    )
