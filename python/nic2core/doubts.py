"""What makes the numbers of a run doubtful, a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.explain.quantity import nanoseconds
from nic2core.warmup import short_warmup
from nic2core.words import time

if TYPE_CHECKING:
    from nic2core.record import Record


def doubts(result: Record) -> list[str]:
    """The warnings that are due."""
    numbers = _no_arrival(result) or short_warmup(result)
    return [warning for warning in (numbers, _premature_reads(result)) if warning]


def _no_arrival(result: Record) -> str:
    """A warning if packets were to come and none came."""
    comes_ns = result.data.packets.next_arrival_ns
    if comes_ns is None:
        return ""
    end_ns = nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
    return (
        f"Warning: no packet arrived in the {time(result.data.measured_ns)} that were measured, "
        f"which end at {time(end_ns)}; the next comes at {time(comes_ns)}. Set run.duration so "
        "that it is measured."
    )


def _premature_reads(result: Record) -> str:
    """A warning if an application read what it had swept."""
    reads = result.data.reads_after_sweep
    if reads == 0:
        return ""
    return (
        f"Warning: an application has a bug: it relinquished data and read it afterwards, "
        f"{reads:,} time{'s' if reads > 1 else ''}. What it reads is old. It has to relinquish "
        "a buffer after its last read of it."
    )
