"""What closed-loop senders see and do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.words import DELAYS, percent, three

if TYPE_CHECKING:
    from nic2core.results.models import Distribution, Results, TransportResults

TITLE = "What closed-loop senders see"
"""Title of the table of delays."""


def delays(data: Results) -> dict[str, Distribution]:
    """The delays that senders see, by name; without those that never ended, such as a long read."""
    if data.transport is None:
        return {}
    spreads = {name: getattr(data.transport, delay) for delay, name in DELAYS.items()}
    return {name: spread for name, spread in spreads.items() if spread.count}


def p99_ns(data: Results, delay: str) -> float | None:
    """The 99th percentile of a delay, given its key in `DELAYS`, in ns; `None` if there is none."""
    spread = delays(data).get(DELAYS[delay])
    return None if spread is None else spread.percentile(99.0)


def done(transport: TransportResults) -> str:
    """What happened to the packets that senders sent, and how they recovered, in two sentences."""
    again, marked = (percent(share) for share in (sent_again(transport), marked_share(transport)))
    by_nic = transport.marked_server
    whose = f", {percent(share(by_nic, transport))} by the server's NIC" if by_nic else ""
    recovered = _count(transport.fast_recoveries, "fast recovery", "fast recoveries")
    timeouts = _count(transport.timeouts, "timeout", "timeouts")
    wrongly = taken_for_lost(transport)
    arrived = f" ({wrongly:,} declared lost had arrived)" if wrongly else ""
    return (
        f"Of {transport.sent:,} packets sent, {again} were retransmissions and {marked} were "
        f"marked (ECN{whose}); {recovered}, {timeouts}{arrived}. Jain's fairness over "
        f"{len(transport.connections):,} connections is {three(transport.fairness)}."
    )


def share(packets: int, transport: TransportResults) -> float:
    """A number of packets as a share of those sent, 0 to 1; 0 if none were sent."""
    return packets / transport.sent if transport.sent else 0.0


def sent_again(transport: TransportResults) -> float:
    """Share of the packets sent that were retransmissions, 0 to 1."""
    return share(transport.sent_again, transport)


def taken_for_lost(transport: TransportResults) -> int:
    """Packets that were declared lost but had arrived."""
    return transport.not_lost + transport.duplicates


def marked_share(transport: TransportResults) -> float:
    """Share of the packets sent that the switch or the NIC marked, 0 to 1."""
    return share(transport.marked + transport.marked_server, transport)


def in_flight(data: Results) -> float:
    """Mean number of packets, or their acknowledgements, in flight, by Little's law."""
    assert data.transport is not None  # noqa: S101 - only of closed-loop senders
    return data.transport.acknowledged / data.measured_ns * data.transport.rtt.mean_ns


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"
