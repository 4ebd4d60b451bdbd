"""A sentence about a capture: what is in it, and how much of it a run replays."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from nic2core.describe.doubts.warned import Warned
from nic2core.explain.use import link_is_full
from nic2core.words import at_least, count, percent, three, time

if TYPE_CHECKING:
    from nic2core.results.models import CaptureFacts
    from nic2core.run_record import Record


MOST = 0.5
"""Share of a capture above which a gap without packets makes up most of it."""


UNEVEN = 2
"""Packets in a hundredth of a capture's time, relative to the mean, from which it is uneven."""


CHANCE = 5
"""Standard deviations of Poisson arrivals from which they are no chance."""


WHOLE = 0.99
"""Rounds from which all of a capture was measured."""


COARSE = 0.01
"""Share of packets with the time of the one before, from which it is mentioned."""


def capture_facts(result: Record) -> str:
    """A sentence about the capture that a run replayed; empty without one."""
    facts = result.data.capture
    if facts is None:
        return ""
    traffic = result.scenario["traffic"]
    packets, flows = count(facts.packets, "packet"), count(facts.flows, "flow")
    said = (
        f"{Path(traffic['file']).name}: {packets} of {flows}, "
        f"{three(facts.bytes / facts.packets)} B on average, over {time(facts.span_ps / 1e3)}"
    )
    # A peak search tries rates of its own.
    if result.data.demand_mpps and result.peak is None:
        asked_ns, round_ns = facts.packets / result.data.demand_mpps * 1e3, _round_ns(result, facts)
        rate = traffic.get("rate")
        said += f"; {'at its own timing' if rate is None else f'at {rate}'} one round takes "
        said += time(asked_ns)
        if round_ns > asked_ns:
            said += f", of which the {result.scenario['machine']['nic']['link']} link makes "
            said += time(round_ns)
        said += f"; {three(result.data.measured_ns / round_ns)} rounds are measured"
    if facts.ipv6_packets:
        said += f"; {facts.ipv6_packets:,} packets are IPv6, which applications handle like IPv4"
    return said + "".join(f"; {odd}" for odd in _oddities(facts)) + "."


def _round_ns(result: Record, facts: CaptureFacts) -> float:
    """How long one round of a capture takes to arrive."""
    asked, carried = result.data.demand_mpps or 0.0, result.data.packets.offered_mpps
    rate = min(asked, carried) if link_is_full(result.data) else asked
    return facts.packets / rate * 1e3


def part_of_a_round(result: Record) -> Warned | None:
    """A warning if a part of an uneven capture was measured: seeds do not move it."""
    facts = result.data.capture
    if facts is None or not facts.fullest_hundredth or not result.data.demand_mpps:
        return None
    mean = facts.packets / 100
    uneven = facts.fullest_hundredth > max(UNEVEN * mean, mean + CHANCE * sqrt(mean))
    round_ns, measured_ns = _round_ns(result, facts), result.data.measured_ns
    if not uneven or measured_ns >= WHOLE * round_ns:
        return None
    text = (
        f"{three(measured_ns / round_ns)} of a round of the capture was measured, and a hundredth "
        f"of its time has {three(facts.fullest_hundredth / mean)} times as many packets as the "
        f"mean one: which part is measured decides {_decided(result)}, and other seeds do not move "
        f"it. Set run.duration to {at_least(round_ns)} for a whole round."
    )
    return Warned(text, -measured_ns)


def _decided(result: Record) -> str:
    return "drops and tails" if result.peak is None else "the peak"


def _oddities(facts: CaptureFacts) -> list[str]:
    """What is unusual about a capture and would otherwise be handled silently."""
    found = []
    if facts.reordered:
        were, are = ("was", "is") if facts.reordered == 1 else ("were", "are")
        found.append(
            f"{count(facts.reordered, 'packet')} {were} out of order and {are} sorted by time"
        )
    if facts.vlan_packets:
        have = "has" if facts.vlan_packets == 1 else "have"
        found.append(
            f"{count(facts.vlan_packets, 'packet')} {have} VLAN tags, which count as bytes only"
        )
    if facts.same_time > COARSE * facts.packets:
        found.append(
            f"{percent(facts.same_time / facts.packets)} of the packets have the time of the one "
            "before: how they were spaced is not known, and they arrive together"
        )
    gap = facts.largest_gap
    # Between two packets the only gap is the whole capture.
    if gap is not None and facts.packets > 2 and gap.ps > MOST * facts.span_ps:
        found.append(
            f"one gap of {time(gap.ps / 1e3)}, before packet {gap.before_packet:,}, is "
            f"{percent(gap.ps / facts.span_ps)} of the capture"
        )
    return found
