"""Whether the queues of a server were still filling while it was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core.scenario.queues import room_to_send
from nic2core.settled.times import end_of

if TYPE_CHECKING:
    from nic2core.run_record import Record

GROWTH = 0.02
"""Growth of the packets in the server during the measurement, as a share of those offered, that is
still normal; bursts alone may cause more."""

GROWTH_AT_PEAK = 0.005
"""The same for a peak, whose rate is known to 1 %."""


@dataclass(frozen=True)
class Filling:
    """Queues that held more packets at the end of the measurement than at its begin."""

    begin: int
    end: int
    full_ns: float
    """When all of them will be full if this goes on, from the start of the run."""


def rings_fill(result: Record) -> Filling | None:
    """The packets in the server, if they became more: its rings were filling."""
    packets = result.data.packets
    room = int(result.scenario["queues"]["rx_descriptors"])
    return _filling(result, packets.in_flight_begin, packets.in_flight_end, room)


def send_queues_fill(result: Record) -> Filling | None:
    """The packets that wait to be sent, if they became more."""
    packets = result.data.packets
    room = room_to_send(result.scenario["queues"])
    return _filling(result, packets.unsent_begin, packets.unsent_end, room)


def _filling(result: Record, begin: int, end: int, room: int) -> Filling | None:
    """Queues with room for so many packets each, if they hold more than is normal in the end."""
    if result.data.transport is not None:
        return None
    share = GROWTH if result.peak is None else GROWTH_AT_PEAK
    queues = len(result.data.queues)
    bursts = int(result.scenario["queues"]["burst"]) * queues
    if end - begin <= max(share * result.data.packets.offered, bursts):
        return None
    left = max(0, room * queues - end)
    more_ns = left / (end - begin) * result.data.measured_ns
    return Filling(begin, end, end_of(result) + more_ns)
