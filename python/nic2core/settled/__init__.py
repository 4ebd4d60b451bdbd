"""Whether a run measured what it would go on doing: facts, for those who judge by them."""

from nic2core.settled.filling import Filling, rings_fill, send_queues_fill
from nic2core.settled.warmup import Short, short_warmup

__all__ = ["Filling", "Short", "rings_fill", "send_queues_fill", "short_warmup"]
