"""Warnings about a run that is too short: too few packets, or reads, completed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.describe import slowdowns
from nic2core.describe.doubts.warned import Warned
from nic2core.explain.asked import of_groups
from nic2core.scenario.closed_loop import groups, measured_there
from nic2core.scenario.quantity import size_text
from nic2core.settled.times import end_of
from nic2core.words import at_least, count, time

if TYPE_CHECKING:
    from nic2core.run_record import Record

ENOUGH_PACKETS = 10_000
"""For a peak's run: a hundred packets lie above the 99th percentile that decides the peak."""

FEW_PACKETS = 1000
"""For any other run: ten packets lie above the 99th percentile."""

FEW_READS = 100
"""Reads whose 99th percentile is their maximum."""


def no_arrival(result: Record) -> Warned | None:
    """A warning if traffic was configured but no packet arrived."""
    comes_ns = result.data.packets.next_arrival_ns
    if comes_ns is None:
        return None
    end_ns = end_of(result)
    # Long after the start, the two times may read the same.
    alike = time(comes_ns) == time(end_ns)
    comes = f"{time(comes_ns - end_ns)} later" if alike else f"at {time(comes_ns)}"
    text = (
        f"no packet arrived in the {time(result.data.measured_ns)} measured, which end at "
        f"{time(end_ns)}; the next comes {comes}. Increase run.duration to include it."
    )
    return Warned(text, comes_ns)


def no_completion(result: Record) -> Warned | None:
    """A warning if packets were on their way, but the measured time was too short for any."""
    packets = result.data.packets
    # Packets of closed-loop senders may not have reached the server.
    still = packets.in_flight_end
    if packets.completed or not (still or result.data.transport is not None):
        return None
    on_the_way = f", with {count(still, 'packet')} on the way at its end" if still else ""
    return Warned(
        f"no packet completed in the {time(result.data.measured_ns)} measured{on_the_way}. "
        "Increase run.duration."
    )


def long_pauses(result: Record) -> Warned | None:
    """A warning if few reads were completed because threads think for long."""
    transport = result.data.transport
    if transport is None:
        return None
    both = zip(groups(result.scenario["traffic"]), of_groups(transport), strict=True)
    of = [(group, results.read_latency) for group, results in both]
    few = [(group, reads.count) for group, reads in of if group.think_ns > reads.mean_ns]
    group, reads = min(few, key=lambda found: found[1], default=(None, 0))
    if group is None or reads >= FEW_READS:
        return None
    return Warned(
        f"only {count(reads, 'read')} of {group.senders:,} senders completed in the "
        f"{time(result.data.measured_ns)} measured, because threads think for "
        f"{time(group.think_ns)} before they ask for the next: rates and tails are largely chance. "
        "Increase run.duration, or reduce think.",
        -float(reads),
    )


def few_reads(result: Record) -> Warned | None:
    """A warning if the 99th percentile of whole reads comes from too few of them."""
    transport = result.data.transport
    # Where slowdowns are told, they are what counts.
    if transport is None or slowdowns.ends(result.data) is not None:
        return None
    if not result.data.packets.completed or long_pauses(result) is not None:
        return None
    both = zip(groups(result.scenario["traffic"]), of_groups(transport), strict=True)
    run = result.scenario["run"]
    of = [(group, results) for group, results in both if measured_there(group, run)]
    group, least = min(of, key=lambda found: found[1].read_latency.count, default=(None, None))
    if group is None or least is None or least.read_latency.count >= FEW_READS:
        return None
    reads, measured = least.read_latency.count, time(result.data.measured_ns)
    if not reads:
        return Warned(
            f"no whole read of {group.senders:,} senders was completed in the {measured} measured. "
            "Increase run.duration."
        )
    enough_ns = result.data.measured_ns * FEW_READS / reads
    return Warned(
        f"the 99th percentile of whole reads of {group.senders:,} senders is the largest of "
        f"{count(reads, 'read')}, which take {time(least.read_latency.mean_ns)} each: another seed "
        f"may move it. Set run.duration to {at_least(enough_ns)} or more, to get {FEW_READS} of "
        "them.",
        enough_ns,
    )


def few_of_a_size(result: Record) -> Warned | None:
    """A warning if a 99th percentile of the slowdown comes from too few reads of a size."""
    ends = slowdowns.ends(result.data)
    if ends is None:
        return None
    least = min((ends.shortest, ends.longest), key=lambda of: of.latency.count)
    reads = least.latency.count
    if reads >= FEW_READS:
        return None
    enough_ns = result.data.measured_ns * FEW_READS / reads
    return Warned(
        f"the 99th percentile of reads of {size_text(least.bytes)} is the largest of "
        f"{count(reads, 'read')}: another seed may move it. Set run.duration to "
        f"{at_least(enough_ns)} or more, to get {FEW_READS} of them.",
        enough_ns,
    )


def few_packets(result: Record) -> Warned | None:
    """A warning if the 99th percentile comes from too few packets."""
    spread = result.total_latency
    if spread is None or spread.count == 0:
        return None
    packets = spread.count
    whose, moves, enough = "the", "it", FEW_PACKETS
    if result.peak is not None:
        whose = "the peak's"
        moves = (
            "it, and the peak, by more than the search's resolution of "
            f"{_core.PEAK_RESOLUTION_PERCENT} %"
        )
        enough = ENOUGH_PACKETS
    if packets >= enough:
        return None
    enough_ns = result.data.measured_ns * enough / packets
    above = packets // 100
    are_above = {0: "none is", 1: "only one is"}.get(above, f"only {above} are")
    text = (
        f"{whose} 99th percentile comes from {packets:,} packets, of which {are_above} above it: "
        f"another seed may move {moves}. Set run.duration to {at_least(enough_ns)} or more, to get "
        f"{enough:,} packets."
    )
    return Warned(text, enough_ns)
