"""Whether what was measured of a capture stands for all of it."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from nic2core.describe.capture_facts import round_ns_of
from nic2core.describe.doubts.warned import Warned
from nic2core.words import at_least, three

if TYPE_CHECKING:
    from nic2core.run_record import Record

MANY = 1000
"""Packets of a capture from which hundredths of its time are worth comparing."""

UNEVEN = 2
"""Packets in a hundredth of a capture's time, relative to the mean, from which it is uneven."""

CHANCE = 5
"""Standard deviations of Poisson arrivals from which they are no chance."""

WHOLE = 0.99
"""Rounds from which all of a capture was measured."""


def part_of_a_round(result: Record) -> Warned | None:
    """A warning if a part of an uneven capture was measured: seeds do not move it."""
    facts = result.data.capture
    if facts is None or not facts.fullest_hundredth or not result.data.demand_mpps:
        return None
    mean = facts.packets / 100
    uneven = facts.packets >= MANY and facts.fullest_hundredth > max(
        UNEVEN * mean, mean + CHANCE * sqrt(mean)
    )
    round_ns, measured_ns = round_ns_of(result, facts), result.data.measured_ns
    if not uneven or measured_ns >= WHOLE * round_ns:
        return None
    text = (
        f"{three(measured_ns / round_ns)} of a round of the capture was measured, and a hundredth "
        f"of its time has {three(facts.fullest_hundredth / mean)} times as many packets as the "
        f"mean one: which part is measured decides {_decided(result)}, and other seeds do not move "
        f"it. Set run.duration to {at_least(round_ns)} for a whole round{_at(result)}."
    )
    return Warned(text, -measured_ns)


def _decided(result: Record) -> str:
    return "drops and tails" if result.peak is None else "the peak"


def _at(result: Record) -> str:
    return "" if result.peak is None else " at this rate"
