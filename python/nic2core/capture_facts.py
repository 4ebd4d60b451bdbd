"""What was understood of a capture, and how often a run plays it, in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nic2core.explain.quantity import gigabits, nanoseconds
from nic2core.results_model import Plain
from nic2core.words import three, time

if TYPE_CHECKING:
    from collections.abc import Mapping

WIRE_OVERHEAD = 24
"""Bytes of preamble, start of frame, FCS and gap, beside the frame as it lies in memory."""


class CaptureFacts(Plain):
    """What the engine read."""

    packets: int
    flows: int
    bytes: int
    span_ps: int
    ipv6_packets: int


def told(facts: CaptureFacts, scenario: Mapping[str, Any]) -> str:
    """The sentence."""
    traffic, run = scenario["traffic"], scenario["run"]
    mean = facts.bytes / facts.packets
    rate = traffic.get("rate")
    if rate is None:
        round_ns = facts.span_ps / 1e3 * facts.packets / max(facts.packets - 1, 1)
        at = "at its own times"
    else:
        bits = 8 * (facts.bytes + WIRE_OVERHEAD * facts.packets)
        round_ns = bits / gigabits(rate)
        at = f"at {rate}"
    times = (nanoseconds(run["warmup"]) + nanoseconds(run["duration"])) / max(round_ns, 1e-3)
    played = (
        f"played {three(times)} times"
        if times > 1
        else f"of which {three(100 * times)} % is played"
    )
    ipv6 = (
        f"; {facts.ipv6_packets:,} packets are IPv6, which applications handle like IPv4"
        if facts.ipv6_packets
        else ""
    )
    return (
        f"{Path(traffic['file']).name}: {facts.packets:,} packets of {facts.flows:,} flows, "
        f"{three(mean)} B in the mean, over {time(facts.span_ps / 1e3)}; {at} a round takes "
        f"{time(round_ns)}, {played}{ipv6}."
    )
