"""What was understood of a capture, and how much of it a run plays, in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nic2core.scenario.quantity import nanoseconds
from nic2core.words import count, percent, three, time

if TYPE_CHECKING:
    from nic2core.results.traffic import CaptureFacts
    from nic2core.run_record import Record


MOST = 0.5
"""Share of a capture from which on a time without packets is most of it."""


def capture_facts(result: Record) -> str:
    """What was understood of the capture that a run replayed; nothing without one."""
    facts = result.data.capture
    if facts is None:
        return ""
    traffic, run = result.scenario["traffic"], result.scenario["run"]
    packets, flows = count(facts.packets, "packet"), count(facts.flows, "flow")
    said = (
        f"{Path(traffic['file']).name}: {packets} of {flows}, "
        f"{three(facts.bytes / facts.packets)} B in the mean, over {time(facts.span_ps / 1e3)}"
    )
    # A search tries rates of its own.
    if result.data.demand_mpps and result.peak is None:
        round_ns = facts.packets / result.data.demand_mpps * 1e3
        times = (nanoseconds(run["warmup"]) + nanoseconds(run["duration"])) / round_ns
        rate = traffic.get("rate")
        said += f"; {'at its own times' if rate is None else f'at {rate}'} a round takes "
        said += f"{time(round_ns)}, {three(times)} rounds are played"
    if facts.ipv6_packets:
        said += f"; {facts.ipv6_packets:,} packets are IPv6, which applications handle like IPv4"
    return said + "".join(f"; {odd}" for odd in _oddities(facts)) + "."


def _oddities(facts: CaptureFacts) -> list[str]:
    """What is unusual about a capture, and is handled without a word otherwise."""
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
    gap = facts.largest_gap
    # Of two packets the one gap is the whole.
    if gap is not None and facts.packets > 2 and gap.ps > MOST * facts.span_ps:
        found.append(
            f"one gap of {time(gap.ps / 1e3)}, before packet {gap.before_packet:,}, is "
            f"{percent(gap.ps / facts.span_ps)} of the capture"
        )
    return found
