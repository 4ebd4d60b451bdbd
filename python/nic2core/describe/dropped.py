"""Where, when and why packets are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.explain.limit import Limit, core_shares
from nic2core.explain.overload import OVERLOADED, dropping, mean_wanted, overloaded, too_many
from nic2core.names import stage
from nic2core.words import percent, several, three, time

if TYPE_CHECKING:
    from nic2core.explain.bursts import Burst, Overflow
    from nic2core.run_record import Record


def dropped_when(result: Record, by: Limit) -> str:
    """When or why packets are dropped."""
    more = overloaded(result.data)
    if by is Limit.ONE_CORE and more is not None:
        mean = percent(mean_wanted(result.data))
        return (
            f"because more comes to core {more.core} than it can do: without loss it would be busy "
            f"{percent(more.share)} of the time, and the mean of all {mean}"
        )
    if by is Limit.ONE_CORE:
        busiest, mean = (percent(s) for s in core_shares(result.data))
        return f"while one core is saturated ({busiest} busy; the mean of all is {mean})"
    if by is Limit.BURSTS:
        return f"during bursts, when {no_room(result)}{_overflows(result) or _too_many(result)}"
    return (
        f"because {no_room(result)}, which no counter explains: packets come evenly, and every "
        "stage has headroom"
    )


def by_whom(result: Record) -> str:
    """The core to whose queue most of the dropped packets came, if one stands out."""
    of = dropping(result.data)
    if of is None:
        return ""
    return f", {'all' if of.share == 1 else percent(of.share)} of them of core {of.core}'s queue,"


def _overflows(result: Record) -> str:
    """How much of a burst waits, and what drains it, if that is known."""
    of = result.overflow
    if of is None:
        return ""
    if of.burst is None:
        if of.enough is None or too_many(result.data):
            return ""
        if of.in_rings:
            return f"; a ring would need {of.enough:,} descriptors to lose none"
        return f"; the SRAM would need room for {of.enough:,} packets to lose none"
    name = stage(result.model.tightest)
    allow = "allow" if several(name) else "allows"
    return f":{comes(of, of.burst)}, and the {name} {allow} {three(of.drains)}"


def comes(of: Overflow, burst: Burst) -> str:
    """What comes in a burst, and how much of it can wait."""
    return (
        f" {three(burst.fastest)} Mpps come for {time(burst.lasts_us * 1e3)}, of which "
        f"{of.room:,.0f} packets can wait"
    )


def _too_many(result: Record) -> str:
    """That no ring would be long enough, if the cores cannot do all that comes."""
    mean = mean_wanted(result.data)
    if mean < OVERLOADED:
        return ""
    return (
        f"; no ring is long enough for what comes: without loss the cores would be busy "
        f"{percent(mean)} of the time"
    )


def no_room(result: Record) -> str:
    """What has no room for the packets that are dropped."""
    packets = result.data.packets
    if packets.dropped_sram >= packets.dropped_no_descriptor:
        return "the NIC input SRAM has no room"
    return "no receive descriptor is free"
