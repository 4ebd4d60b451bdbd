"""What was understood of a capture, and how much of it a run plays, in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nic2core.scenario.quantity import nanoseconds
from nic2core.words import three, time

if TYPE_CHECKING:
    from nic2core.run_record import Record


def capture_facts(result: Record) -> str:
    """What was understood of the capture that a run replayed; nothing without one."""
    facts = result.data.capture
    if facts is None:
        return ""
    traffic, run = result.scenario["traffic"], result.scenario["run"]
    said = (
        f"{Path(traffic['file']).name}: {facts.packets:,} packets of {facts.flows:,} flows, "
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
    return f"{said}."
