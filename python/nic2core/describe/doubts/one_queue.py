"""Whether a peak is one that the fullest queue can keep up."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.describe.doubts.warned import Warned
from nic2core.explain.use import one_gets_more
from nic2core.words import three

if TYPE_CHECKING:
    from nic2core.run_record import Record

ANSWERED = 0.98
"""Packets sent for each completed, from which a queue's sent packets are those that it has done."""


def one_queue_grows(result: Record) -> Warned | None:
    """A warning if the queue that gets most falls behind at a peak.

    It is judged as the search judges all queues together. Of those that get the same, one or
    another falls behind by chance.
    """
    data, packets = result.data, result.data.packets
    if result.peak is None or not one_gets_more(data):
        return None
    if packets.transmitted < ANSWERED * packets.completed:
        return None
    queue = max(data.queues, key=lambda queue: queue.offered)
    behind = queue.offered - queue.sent
    chance = _core.PEAK_CHANCE_DEVIATIONS * sqrt(queue.offered)
    if behind <= max(chance, _core.PEAK_BEHIND_PERCENT / 100 * queue.offered):
        return None
    kept = packets.completed_mpps * queue.sent / queue.offered
    text = (
        f"of {queue.offered:,} packets that came for core {queue.core} at this peak, "
        f"{queue.sent:,} were done: its queue grows, which the others hide from the search. About "
        f"{three(kept)} Mpps can be kept up. A search with a longer run.duration comes closer."
    )
    return Warned(text, behind / queue.offered)
