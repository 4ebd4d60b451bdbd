"""Warnings about closed-loop senders: marks, losses that are none, and connections that starve."""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING, Any

from nic2core.describe import senders
from nic2core.describe.doubts.warned import Warned
from nic2core.explain.asked import of_groups
from nic2core.scenario import closed_loop
from nic2core.scenario.quantity import nanoseconds, size_bytes
from nic2core.words import percent, three, time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nic2core.run_record import Record

MARKED = 0.9
"""Share of marked packets from which a mark no longer tells a sender anything."""

NEEDLESS = 0.03
"""Share of the packets that senders take for lost although they arrive, from which that shapes what
the congestion control does. Where a round trip is near the timeout, 1 % is usual."""

SEEN = 1e-4
"""Share of such packets below which they are too few to be told."""

DECIDES = 0.1
"""Share of losses in what windows are cut by, from which these shape what the control does."""

LEAST = 1.5
"""Multiple of the minimum window up to which the mean is close to it: some have just grown."""

STARVED = 20
"""Packets that connections deliver on average, from which it is no chance if one delivers none."""

BEHIND = 0.05
"""Share of what is wanted that is not delivered, from which more and more waits, if it is also more
than one standard deviation of what is wanted."""

CHANCE = 3
"""Standard deviations that what is wanted may be from its mean by chance."""

MANY = 2
"""Multiple of the connections that deliver nothing by chance, from which it is no chance."""


def unmarked(result: Record) -> Warned | None:
    """A warning if nothing marks packets for a control that waits for marks."""
    transport = result.data.transport
    if transport is None or not transport.hears_marks:
        return None
    marks = (result.scenario["traffic"]["network"], result.scenario["machine"]["nic"])
    if any(place.get("ecn_threshold") is not None for place in marks):
        return None
    return Warned(
        f"neither the switch nor the NIC marks packets, so {_control(result, hears=True)} reacts "
        "only to losses. Set traffic.network.ecn_threshold or machine.nic.ecn_threshold."
    )


def unheard(result: Record) -> Warned | None:
    """A warning if the NIC marks packets for a congestion control that ignores marks."""
    transport = result.data.transport
    if transport is None or transport.hears_marks is not False:
        return None
    if result.scenario["machine"]["nic"].get("ecn_threshold") is None:
        return None
    return Warned(
        f"{_control(result, hears=False)} ignores ECN marks, so machine.nic.ecn_threshold changes "
        "nothing but the number of marks."
    )


def _control(result: Record, *, hears: bool) -> str:
    """The congestion control that reacts to marks or does not, as the scenario names it."""
    kinds = (
        table["kind"] for table, of in senders.with_controls(result) if of.hears_marks is hears
    )
    return f'the control "{next(kinds)}"'


def all_marked(result: Record) -> Warned | None:
    """A warning if windows are near the minimum and nearly all packets are still marked."""
    transport = result.data.transport
    if transport is None or not transport.hears_marks:
        return None
    table, hearing = next(group for group in senders.with_controls(result) if group[1].hears_marks)
    least = table.get("min_cwnd")
    share = senders.marked_share(transport)
    if share < MARKED or least is None or hearing.mean_window > LEAST * least:
        return None
    rivals = sum(group.count for group in transport.by_group if group.hears_marks)
    many = rivals * len(result.data.queues) or len(transport.connections)
    by_nic = transport.marked_server > transport.marked
    what = "the NIC's SRAM" if by_nic else "the queue of the switch"
    text = (
        f"{percent(share)} of the packets are marked: {many:,} "
        f"connections near the minimum window of {least:g} packets keep {what} above the "
        f"threshold, and {_control(result, hears=True)} can slow down no further. To let it "
        "control the queue, use fewer senders or threads."
    )
    return Warned(text, share)


def needless(result: Record) -> Warned | None:
    """A warning if senders send much again that has arrived, because they wait for too short."""
    transport = result.data.transport
    if transport is None or result.p99_rtt_ns is None:
        return None
    wrongly = senders.share(senders.taken_for_lost(transport), transport)
    by_losses = senders.cuts(transport).get(senders.LOSSES, 0.0)
    # Where nothing was lost, all that was done about losses was needless.
    decides = by_losses >= DECIDES and transport.lost_share == 0 and wrongly >= SEEN
    if wrongly < NEEDLESS and not decides:
        return None
    least = result.scenario["traffic"]["recovery"]["min_timeout"]
    if result.p99_rtt_ns < nanoseconds(least):
        return None
    and_so = f" {percent(by_losses)} of what windows were cut by is due to that." if decides else ""
    text = (
        f"{percent(wrongly)} of the packets were declared lost, but arrived: the p99 round trip is "
        f"{time(result.p99_rtt_ns)}, and a sender may wait for as little as "
        f"traffic.recovery.min_timeout = {least}. Its congestion control reacts to losses that are "
        f"none.{and_so} Set it to a longer time."
    )
    return Warned(text, wrongly)


def short_timeout(result: Record) -> Warned | None:
    """A warning if a timeout may be shorter than the way there and back."""
    transport, traffic = result.data.transport, result.scenario["traffic"]
    if transport is None:
        return None
    least = traffic["recovery"]["min_timeout"]
    delay_ns = max(group.delay_ns for group in closed_loop.groups(traffic))
    if nanoseconds(least) >= 2 * delay_ns:
        return None
    return Warned(
        f"traffic.recovery.min_timeout = {least} is shorter than the network's delay there and "
        f"back (twice {time(delay_ns)}), so senders may give up packets that are on "
        "their way. Set it to several times as long."
    )


def unreachable(result: Record) -> Warned | None:
    """A warning if even the empty network takes longer than a target, so that windows only fall."""
    transport, traffic = result.data.transport, result.scenario["traffic"]
    if transport is None:
        return None
    for group in closed_loop.groups(traffic):
        # There and back, and a frame on the sender's link.
        table, empty_ns = group.control, 2 * group.delay_ns + 1e3 / group.link_mpps
        most_ns, keys = highest_target(table)
        if 0 < most_ns <= empty_ns:
            return Warned(
                f"the network alone takes {time(empty_ns)} there and back (twice its "
                f"delay, and {time(1e3 / group.link_mpps)} for a frame on a sender's link), "
                f'and the control "{table["kind"]}" slows down above '
                f"{time(most_ns)} ({keys}), whatever the load: it can only slow down. Set "
                f"{keys.split(' ', maxsplit=1)[0]} to more than that."
            )
    return None


def highest_target(table: Mapping[str, Any]) -> tuple[float, str]:
    """The longest round trip, ns, at which a control does not slow down, and its keys; 0 for none.

    A fabric target is for the time outside the server, of which the network is a part. Swift's is
    longer the more hops there are, and the smaller the window is.
    """
    if "fabric_target" in table:
        target_ns, keys = nanoseconds(table["fabric_target"]), "fabric_target"
        if "hop_target" in table:
            target_ns += table["hops"] * nanoseconds(table["hop_target"])
            keys += " + hops x hop_target"
        if "flow_range" in table:
            target_ns += nanoseconds(table["flow_range"])
            keys += " + flow_range"
        return target_ns, keys
    if "high_threshold" in table:
        return nanoseconds(table["high_threshold"]), "high_threshold"
    return 0.0, ""


def behind(result: Record) -> Warned | None:
    """A warning if fewer reads are completed than are wanted, so that ever more wait."""
    transport, traffic = result.data.transport, result.scenario["traffic"]
    if transport is None:
        return None
    packet_gbps = 8 * size_bytes(traffic["payload"]) / result.data.measured_ns
    found = []
    asked = closed_loop.groups(traffic)
    both = zip(asked, of_groups(transport), strict=True)
    for number, (group, of) in enumerate(both):
        if of.wanted_gbps is None or group.load_gbps is None:
            continue
        wanted, left = (
            gbps / packet_gbps for gbps in (of.wanted_gbps, of.wanted_gbps - of.goodput_gbps)
        )
        # Reads are wanted as a Poisson process, and each brings its packets.
        squares = sum(share * packets**2 for packets, share in group.sizes)
        if left > max(BEHIND * wanted, sqrt(wanted / group.mean_packets * squares)):
            found.append((left, of.wanted_gbps, of.goodput_gbps, number))
    if not found:
        return None
    left, wants, gets, number = max(found)
    own = number > 0 and (traffic["rivals"].get("load") is not None)
    table = "traffic.rivals" if own else "traffic"
    return Warned(
        f"of the {three(wants)} Gbit/s that is wanted, {three(gets)} arrive: ever more reads wait, "
        f"and latencies grow with run.duration. Reduce {table}.load, which is wanted of each "
        f"sender ({asked[number].senders:,} of them), or raise open_reads if connections have "
        "fewer reads open than their windows could carry.",
        left,
    )


def starved(result: Record) -> Warned | None:
    """A warning if some connections delivered nothing while others did."""
    transport = result.data.transport
    if transport is None:
        return None
    scenario = result.scenario
    # Who comes later, or has gone, delivers nothing for that reason.
    there = [
        of
        for of in closed_loop.groups(scenario["traffic"])
        if closed_loop.measured_there(of, scenario["run"]) == 1
    ]
    senders_there = sum(of.senders for of in there)
    delivered = [c.delivered for c in transport.connections if c.sender < senders_there]
    connections = len(delivered)
    if not connections:
        return None
    none, each = delivered.count(0), sum(delivered) / connections
    # As many as have no event of a Poisson process: packets come by whole reads. Of a load, so do
    # those that are wanted, however many.
    loaded = any(of.load_gbps is not None for of in there)
    at_a_time = max(of.mean_packets if loaded else of.packets_per_read for of in there)
    by_chance = connections * exp(-each / at_a_time)
    if loaded:
        silent = none > by_chance + CHANCE * sqrt(by_chance)
    else:
        silent = none > 0 and (each >= STARVED or none >= MANY * by_chance)
    if not silent:
        return None
    text = (
        f"{none:,} of {connections:,} connections delivered nothing in the "
        f"{time(result.data.measured_ns)} measured, so what all do together is what the others do. "
        "A connection whose packets were lost is silent until its retransmission timeout, which "
        "doubles each time."
    )
    return Warned(text, none)
