"""Whether the throughput of a run was still changing while it was measured."""

from __future__ import annotations

from math import sqrt
from statistics import fmean, variance
from typing import TYPE_CHECKING

from nic2core.describe.doubts.warned import Warned
from nic2core.settled.times import end_of
from nic2core.words import at_least, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.run_record import Record

CHANGE = 0.05
"""Change between the halves of the measurement, relative to the larger mean, that still does not
matter."""

BATCHES = 10
"""Batches of samples in each half, whose means say how far a half's mean is chance."""

ERRORS = 3.0
"""Standard errors up to which a change may be chance. They are those of the second half for both,
as what settles in the first half spreads its means: with its own error, no change that ends in the
first quarter would count. A steady drift over the whole measurement is seven of them."""


def drifting(result: Record) -> Warned | None:
    """A warning if the throughput changed during the measurement, but arrivals did not.

    Bursts with a period that is not short against the measurement are no reason: either the halves
    hold different shares of it, so arrivals differ, or the means of the batches vary as it does.
    """
    completed = _halves(result, "completed")
    # Closed-loop senders settle more slowly; a doubt of their own looks at the goodput.
    if completed is None or result.data.transport is not None:
        return None
    error = sqrt(2 * variance(completed[1]) / BATCHES)
    before, after = (fmean(half) for half in completed)
    if not _differ(before, after) or abs(after - before) <= ERRORS * error:
        return None
    offered = _halves(result, "offered")
    # A backlog is refilled as packets complete, so its arrivals are no cause.
    backlog = result.scenario["traffic"]["kind"] == "backlog"
    if offered is not None and not backlog and _differ(*map(fmean, offered)):
        return None
    first, second = distinct(before, after)
    text = (
        f"the throughput was {first} Mpps in the first half of the measurement and {second} Mpps "
        "in the second, more than chance or arrivals explain: the run had not settled, and all "
        f"numbers average over the change. Set run.warmup to {at_least(end_of(result))} "
        "or more."
    )
    return Warned(text, abs(after - before) / max(before, after))


def _differ(before: float, after: float) -> bool:
    return abs(after - before) > CHANGE * max(before, after)


def _halves(result: Record, name: str) -> tuple[Sequence[float], Sequence[float]] | None:
    """The batch means of a time series in each half of the measurement; none if it is too short."""
    samples = next((c.values for c in result.data.series.columns if c.name == name), ())
    values = [value for value in samples if value is not None]
    size = len(values) // (2 * BATCHES)
    if size == 0:
        return None
    means = [fmean(values[at : at + size]) for at in range(0, 2 * BATCHES * size, size)]
    return means[:BATCHES], means[BATCHES:]
