"""Warnings about a warm-up in which the caches did not fill."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from nic2core import settled
from nic2core.describe.doubts.warned import Warned
from nic2core.scenario.quantity import LINE_BYTES, nanoseconds, size_bytes
from nic2core.words import at_least, time

if TYPE_CHECKING:
    from nic2core.run_record import Record

UNSETTLED = 0.02
"""Tolerated growth of the dirty lines in caches, as a share of the lines that memory transfers."""

NOISE = 0.01
"""Tolerated growth as a share of the LLC's lines: packets that wait come and go."""


def short_warmup(result: Record) -> Warned | None:
    """A warning if the warm-up was shorter than the caches take to fill, by rules of thumb."""
    short = settled.short_warmup(result)
    if short is None:
        return None
    return Warned(_text(result, short.enough_ns, short.why), short.enough_ns)


def growing_dirty_lines(result: Record) -> Warned | None:
    """A warning if dirty lines accumulated in the caches.

    In a steady state as many are written back as become dirty. No rule says how long it takes to
    get there: cores that seldom miss, or wait for a saturated memory, fill the caches slowly.
    Buffers of packets of which more wait than before are dirty too, however warm the caches are.
    """
    memory = result.data.memory
    lines = sum(cause.lines for cause in memory.causes)
    more = memory.dirty_end - memory.dirty_begin
    llc = size_bytes(result.scenario["machine"]["llc"]["size"]) / LINE_BYTES
    if more - _lines_of_more_waiting(result) <= max(UNSETTLED * lines, NOISE * llc):
        return None
    warmup_ns = nanoseconds(result.scenario["run"]["warmup"])
    why = (
        f"of the lines that became dirty in the caches during the measurement, {more:,} were not "
        f"written back, compared with {lines:,} lines of memory traffic"
    )
    enough_ns = max(2 * warmup_ns, warmup_ns + 2 * result.data.measured_ns)
    return Warned(_text(result, enough_ns, why), more)


def _lines_of_more_waiting(result: Record) -> int:
    """The most lines that can be dirty because more packets wait at the end than at the beginning.

    A stack's buffers that had not been in use hold what earlier packets, of any size, left there.
    """
    packets, queues = result.data.packets, result.scenario["queues"]
    more = packets.in_flight_end + packets.unsent_end
    more -= packets.in_flight_begin + packets.unsent_begin
    buffer = sum(size_bytes(queues.get(part, "0 B")) for part in ("buffer_size", "metadata"))
    return max(0, more) * ceil(buffer / LINE_BYTES)


def _text(result: Record, enough_ns: float, why: str) -> str:
    warmup_ns = nanoseconds(result.scenario["run"]["warmup"])
    # Rounded up, so that the suggested time is enough.
    return (
        f"the warm-up of {time(warmup_ns)} is too short: {why}. Set run.warmup to "
        f"{at_least(enough_ns)} or more."
    )
