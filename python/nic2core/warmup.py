"""Whether a run has warmed up for long enough."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from nic2core.explain.quantity import nanoseconds
from nic2core.explain.use import serves
from nic2core.words import three, time

if TYPE_CHECKING:
    from nic2core.record import Record

WARM_TURNS = 3
"""Turns of the receive rings that a warm-up should have, by rule of thumb: the first touches each
buffer, the second meets what the first left in the caches, and one more for what follows of that.
"""

SETTLE = 0.5
"""Share of the measured time for which a peak's probe settles at its own rate: `peak.rs`."""


def short_warmup(result: Record) -> str:
    """A warning if the warm-up turned the receive rings too few times; else nothing."""
    cores = sum(tenant["cores"]["count"] for tenant in result.scenario["tenants"] if serves(tenant))
    ring = cores * int(result.scenario["queues"]["rx_descriptors"])
    packets = result.data.packets
    before, wanted = packets.completed_before, WARM_TURNS * ring
    if packets.completed == 0 or before >= wanted:
        return ""
    warmup_ns = nanoseconds(result.scenario["run"]["warmup"])
    settled = 0.0 if result.peak is None else min(before, SETTLE * packets.completed)
    # What each ns of run.warmup completed; of none the measured rate tells.
    per_ns = packets.completed_mpps / 1e3
    if warmup_ns > 0 and before > settled:
        per_ns = (before - settled) / warmup_ns
    # Rounded up, so that the time it names is enough.
    enough_ms = ceil((wanted - settled) / per_ns / 1e5) / 10
    return (
        f"Warning: the warm-up of {time(warmup_ns)} is short. The receive rings turned "
        f"{three(before / ring)} times before measuring began; the caches keep filling until "
        f"about {WARM_TURNS} turns. Set run.warmup to {enough_ms:g} ms or more."
    )
