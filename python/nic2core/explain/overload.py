"""Which queue drops packets, and whether its core could do all that arrives, whatever its ring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nic2core.results.models import Results

OVERLOADED = 1.02
"""Share of a core's time from which what arrives is more than it can do: one and what chance does
to a short run."""

MOST, MORE = 0.5, 1.5
"""Share of the drops, and the same relative to an even share, from which the queue that has them is
named."""


@dataclass(frozen=True)
class Wanted:
    """How busy a core would be if nothing that arrives for it were dropped."""

    core: int
    share: float
    """Of the time; more than 1 if it cannot do all of it."""


def wanted(data: Results) -> list[Wanted]:
    """What each core would do without loss, if every packet took as long as those that it did.

    With as many packets as come on average: a burst may bring more in the measured time. Empty for
    closed-loop senders, which send what was lost again.
    """
    offered = data.packets.offered_mpps
    if data.transport is not None or data.demand_mpps is None or not offered:
        return []
    # Of a load that a link does not carry, no more comes.
    each = min(1.0, data.demand_mpps / offered) / (data.measured_ns * 1e3)
    return [
        Wanted(q.core, each * q.core_busy_ps * (1 + q.dropped / q.received))
        for q in data.queues
        if q.core_busy_ps is not None and q.dropped is not None and q.received
    ]


def mean_wanted(data: Results) -> float:
    """The mean of `wanted` over the cores; 0 if it is not known."""
    found = wanted(data)
    return sum(of.share for of in found) / len(found) if found else 0.0


def overloaded(data: Results) -> Wanted | None:
    """The core that more comes to than it can do while all together could do it, if there is one.

    No longer ring helps it.
    """
    most = max(wanted(data), key=lambda of: of.share, default=None)
    if most is None or most.share < OVERLOADED or mean_wanted(data) >= 1:
        return None
    return most


def too_many(data: Results) -> bool:
    """Whether more comes to some core than it can do, so that no ring is long enough."""
    return overloaded(data) is not None or mean_wanted(data) >= OVERLOADED


def most_to_gain(data: Results) -> float:
    """Gain in throughput if nothing were dropped and all of it completed."""
    return 1 / (1 - data.packets.drop_share) - 1 if data.packets.drop_share < 1 else 0.0


@dataclass(frozen=True)
class Dropping:
    """The queue that drops most."""

    core: int
    share: float
    """Of all drops."""


def dropping(data: Results) -> Dropping | None:
    """The queue that has most of the drops; `None` if no queue of several stands out."""
    dropped = {q.core: q.dropped or 0 for q in data.queues}
    every = sum(dropped.values())
    if len(dropped) < 2 or not every:
        return None
    core = max(dropped, key=lambda core: dropped[core])
    share = dropped[core] / every
    return Dropping(core, share) if share >= max(MOST, MORE / len(dropped)) else None
