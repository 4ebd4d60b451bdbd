"""Whether a run has warmed up for long enough."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from nic2core.explain.quantity import nanoseconds, size_bytes
from nic2core.explain.use import serves
from nic2core.words import time

if TYPE_CHECKING:
    from nic2core.record import Record

WARM_TURNS = 3
"""Turns of the receive rings that a warm-up should have, by rule of thumb: the first touches each
buffer, the second meets what the first left in the caches, and one more for what follows of that.
Of rings larger than the LLC as much as fills it so often: it remembers no more.
"""

SETTLE = 0.5
"""Share of the measured time for which a peak's probe settles at its own rate: `peak.rs`."""


def short_warmup(result: Record) -> str:
    """A warning if the warm-up turned the receive rings too few times; else nothing."""
    queues, packets = result.scenario["queues"], result.data.packets
    cores = sum(tenant["cores"]["count"] for tenant in result.scenario["tenants"] if serves(tenant))
    if packets.completed == 0 or cores == 0:
        return ""
    # Of a pool that is a ring every buffer takes its turn; of a stack those that the rings hold.
    in_turn = queues.get("pool_buffers") if queues.get("pool") == "ring" else None
    bytes_each = packets.completed_gbps / 8 / packets.completed_mpps * 1e3
    filling = size_bytes(result.scenario["machine"]["llc"]["size"]) / bytes_each
    wanted = WARM_TURNS * min(cores * int(in_turn or queues["rx_descriptors"]), ceil(filling))
    before = packets.completed_before
    if before >= wanted:
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
        f"Warning: the warm-up of {time(warmup_ns)} is short: {before} packets completed in it, "
        f"and the caches keep filling until about {wanted} have. Set run.warmup to "
        f"{enough_ms:g} ms or more."
    )
