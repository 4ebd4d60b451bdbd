"""What closed-loop senders would send if nothing on the path limited them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core.scenario.closed_loop import groups, measured_there
from nic2core.scenario.quantity import size_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.results.models import Results, SendersResults, TransportResults
    from nic2core.scenario.closed_loop import Group


@dataclass(frozen=True)
class Asked:
    """What a group of senders would send."""

    mpps: float
    """Millions of packets a second, no more than their links carry: a mean over the measured time,
    of which they may be there for a part."""
    closed: bool
    """Whether their mean window is clearly below what it may be."""


def asked(data: Results, scenario: dict[str, Any]) -> list[Asked]:
    """What each group would send with all windows open and no waits on the path."""
    assert data.transport is not None  # noqa: S101 - only of closed-loop senders
    traffic = scenario["traffic"]
    # Even the shortest time in the server may have waits in it, if queues never empty.
    moved = [s.distribution.cdf for s in data.latency if s.stage in {"dma", "service"}]
    server_ns = sum(cdf[0][0] for cdf in moved if cdf)
    packet_ns = max(thread_ns(data), _wire_ns(data))
    found = []
    for group, of in zip(groups(traffic), of_groups(data.transport), strict=True):
        trip_ns = 2 * group.delay_ns + server_ns
        each = _of_a_thread(group, of.mean_window, trip_ns, packet_ns)
        mpps = min(len(data.queues) * each * 1e3, group.senders * group.link_mpps)
        mpps *= measured_there(group, scenario["run"])
        if of.wanted_gbps is not None:
            mpps = min(mpps, of.wanted_gbps * 1e3 / (8 * size_bytes(traffic["payload"])))
        found.append(Asked(mpps, of.mean_window < largest_window(group, of.mean_window) / 2))
    return found


def links_mpps(scenario: dict[str, Any]) -> float:
    """What the links of all senders that are there carry, millions of packets a second."""
    return sum(
        group.senders * group.link_mpps * measured_there(group, scenario["run"])
        for group in groups(scenario["traffic"])
    )


def links_load(data: Results, scenario: dict[str, Any]) -> float:
    """The share of the time, 0 to 1, that the links of the senders carry packets; 0 without any."""
    if data.transport is None:
        return 0.0
    return data.transport.sent * 1e3 / data.measured_ns / links_mpps(scenario)


def of_groups(transport: TransportResults) -> Sequence[SendersResults | TransportResults]:
    """The results of each group of senders."""
    return transport.by_group or [transport]


def largest_window(group: Group, mean: float) -> float:
    """Packets that a connection of closed-loop senders may have in flight.

    Open reads bound it: a control without a maximum window may open it that far. `mean` is their
    mean window, packets.
    """
    most = float(group.open_packets)
    return min(most, max(mean, float(group.control.get("max_cwnd") or most)))


def thread_ns(data: Results) -> float:
    """Mean time that a thread works on a packet, ns."""
    return next((s.distribution.mean_ns for s in data.latency if s.stage == "service"), 0.0)


def _wire_ns(data: Results) -> float:
    """Time of a frame on the server's link, ns."""
    wire = data.by_domain.get("wire")
    return wire.busy_ps / wire.uses / 1e3 if wire and wire.uses else 0.0


def _of_a_thread(group: Group, mean: float, trip_ns: float, packet_ns: float) -> float:
    """Packets that one thread asks of a group, per nanosecond.

    Windows limit a connection to one of them in a round trip. And each of the open reads, or
    blocks, is in turn open and thought about.
    """
    window = largest_window(group, mean)
    packets = group.mean_packets
    # The first window comes at once, and the rest as acknowledgements open it.
    first = min(window, packets)
    pace_ns = max(trip_ns / window, packet_ns)
    open_ns = trip_ns + (first - 1) * packet_ns + (packets - first) * pace_ns
    if group.striped:
        # One thread takes all packets of a block.
        open_ns = max(open_ns, trip_ns + (group.senders * packets - 1) * packet_ns)
    each = group.open_reads * packets / (open_ns + group.think_ns)
    return group.senders * min(window / trip_ns, each)
