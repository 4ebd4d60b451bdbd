"""A sentence about a capture: what is in it, and how much of it a run replays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nic2core._core import WIRE_OVERHEAD_BYTES
from nic2core.explain.use import link_is_full
from nic2core.words import count, percent, three, time

if TYPE_CHECKING:
    from nic2core.results.models import CaptureFacts
    from nic2core.run_record import Record


MOST = 0.5
"""Share of a capture above which a gap without packets makes up most of it."""


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
        f"{_own_rate(facts)}"
    )
    # A peak search tries rates of its own.
    if result.data.demand_mpps and result.peak is None:
        asked_ns = facts.packets / result.data.demand_mpps * 1e3
        round_ns = round_ns_of(result, facts)
        rate = traffic.get("rate")
        said += f"; {'at its own timing' if rate is None else f'at {rate}'} one round takes "
        said += time(asked_ns)
        if round_ns > asked_ns:
            said += f", of which the {result.scenario['machine']['nic']['link']} link makes "
            said += time(round_ns)
        rounds = result.data.measured_ns / round_ns
        said += f"; {three(rounds)} {'of a round is' if rounds < 1 else 'rounds are'} measured"
    if facts.ipv6_packets:
        are = "is" if facts.ipv6_packets == 1 else "are"
        six = count(facts.ipv6_packets, "packet")
        said += f"; {six} {are} IPv6, which applications handle like IPv4"
    return said + "".join(f"; {odd}" for odd in _oddities(facts)) + "."


def _own_rate(facts: CaptureFacts) -> str:
    """The mean rate at which the capture was taken, in both forms that `traffic.rate` has."""
    if facts.span_ps == 0:
        return ""
    bits = 8 * (facts.bytes + WIRE_OVERHEAD_BYTES * facts.packets)
    gbps, mpps = bits / facts.span_ps * 1e3, facts.packets / facts.span_ps * 1e6
    return f" ({three(gbps)} Gbps, {three(mpps)} Mpps)"


def round_ns_of(result: Record, facts: CaptureFacts) -> float:
    """How long one round of a capture takes to arrive."""
    asked, carried = result.data.demand_mpps or 0.0, result.data.packets.offered_mpps
    rate = min(asked, carried) if link_is_full(result.data) else asked
    return facts.packets / rate * 1e3


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
            "before: how they were spaced is not known, and they arrive together (`tcpdump "
            "--time-stamp-precision=nano` captures nanoseconds)"
        )
    gap = facts.largest_gap
    # Between two packets the only gap is the whole capture.
    if gap is not None and facts.packets > 2 and gap.ps > MOST * facts.span_ps:
        found.append(
            f"one gap of {time(gap.ps / 1e3)}, before packet {gap.before_packet:,}, is "
            f"{percent(gap.ps / facts.span_ps)} of the capture"
        )
    return found
