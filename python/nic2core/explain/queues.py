"""Domains in which each queue has its own credits: one may run short while others idle."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nic2core.results.models import Domain, QueueResults, Results


OF_QUEUES = ("descriptors", "tx-descriptors", "tx-fetches")
"""Domains in which each queue has its own credits."""

NOTICED = 0.1
"""Waits below this share of the time for which a credit is held do not limit."""


@dataclass(frozen=True)
class Queue:
    """One queue's part of a domain."""

    core: int
    credits: int
    uses: int
    """Credits taken."""
    busy_ps: int
    """Time integral of its credits in use, credit x ps."""
    own_ps: int
    """The same without waits for other domains, which more credits would only lengthen, but with
    the time for which a reposted descriptor cannot be used yet."""
    packets: int
    """Packets that went through it."""
    wanted: float
    """Packets that arrived for it, dropped or not; infinite if the traffic has no offered rate."""

    @property
    def full(self) -> float:
        """Share of its credits in use by its own work, x ps."""
        return self.own_ps / self.credits


def by_queue(data: Results, d: Domain) -> list[Queue]:
    """A domain's queues, if each has its own credits."""
    parts = dict(zip(OF_QUEUES, (_receives, _sends, _fetches), strict=True))
    if d.domain not in parts:
        return []
    credits_ = d.credits // max(1, len(data.queues))
    return [
        Queue(
            q.core,
            credits_,
            *parts[d.domain](q),
            packets=q.received,
            wanted=inf if data.demand_mpps is None else q.offered,
        )
        for q in data.queues
    ]


def _receives(q: QueueResults) -> tuple[int, int, int]:
    """Receive descriptors: with more of them, packets would only wait longer for their core.

    A reposted descriptor can be used once the NIC has read it, which takes the read in progress and
    the next one.
    """
    read_ps = _each(q.rx_fetching_ps, q.rx_fetches) * 2 * q.received
    held_ps = q.rx_busy_ps + min(q.rx_unfetched_ps, read_ps)
    waited_ps = q.rx_waited_ps if q.rx_waited_ps > NOTICED * held_ps else 0
    return q.received, q.rx_busy_ps, max(0, held_ps - waited_ps)


def _sends(q: QueueResults) -> tuple[int, int, int]:
    """Transmit descriptors: more of them would only wait longer for the NIC to request their data.

    If the NIC reads descriptors separately, one such read counts as their own time.
    """
    read_ps = _each(q.tx_fetching_ps, q.tx_fetches) * q.sent
    return q.sent, q.tx_busy_ps, q.tx_busy_ps - max(0, q.tx_unread_ps - read_ps)


def _fetches(q: QueueResults) -> tuple[int, int, int]:
    """Reads of transmit descriptors: the next starts when all packets of the last are requested."""
    return q.tx_fetches, q.tx_turn_ps, q.tx_turn_ps


def _each(time_ps: int, count: int) -> int:
    return time_ps // count if count else 0


def fullest(queues: list[Queue]) -> Queue:
    """The queue with the most credits in use, whatever holds them."""
    return max(queues, key=lambda q: q.busy_ps)


def shortest(queues: list[Queue]) -> Queue:
    """The queue that is shortest of credits for its own work: if a queue limits, it is this one."""
    return max(queues, key=lambda q: (q.full, q.busy_ps))


def more(queues: list[Queue], factor: float, span_ps: float) -> float:
    """By what factor the packets they carry grow with `factor` times the credits.

    The shortest queue is assumed to limit. Each queue carries what arrives for it, as far as its
    credits allow.
    """
    packets = sum(q.packets for q in queues)
    if packets == 0 or any(q.wanted == inf for q in queues):
        return factor
    carried = (min(q.wanted, factor * q.packets * span_ps / q.full) for q in queues if q.full > 0)
    return max(1.0, sum(carried) / packets)
