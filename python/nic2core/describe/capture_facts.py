"""What was understood of a capture, and how much of it a run plays, in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.results.model import Plain
from nic2core.scenario.quantity import nanoseconds
from nic2core.words import three, time

if TYPE_CHECKING:
    from nic2core.record import Record


class CaptureFacts(Plain):
    """What the engine read."""

    packets: int
    flows: int
    bytes: int
    span_ps: int
    ipv6_packets: int


def facts_of(result: Record) -> str:
    """What was understood of the capture that a run replayed; nothing without one."""
    read = _core.capture_facts(json.dumps(result.scenario))
    return "" if read is None else told(CaptureFacts.model_validate_json(read), result)


def told(facts: CaptureFacts, result: Record) -> str:
    """The same in a sentence."""
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
