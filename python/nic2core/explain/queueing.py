"""For how long work waits before a server that is made faster, or gets other work."""

from __future__ import annotations

from math import erf, exp, inf, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FULLEST = 0.99
"""The highest load that is told apart from a full server."""

STEPS = 40
"""Doublings and halvings of an interval: far beyond and below what can be measured."""


SPANS = 2000
"""Spans of the integral for random choices: far more than its digits are worth."""


MANY = 200
"""Packets from which the Poisson distribution is taken as normal."""


def before_one_has_had(of_each: int, queues: int) -> float:
    """Mean number of packets that come before one for a queue that has had `of_each` already.

    Each packet chooses one of the queues at random (the birthday problem, for `of_each` of 1). If
    packets come at random times, those of each queue do so independently, and the mean number of
    packets is the integral over the time for which no queue has had more (Holst, "On birthday,
    collectors', occupancy and other classical urn problems", 1986).
    """

    def none_has_more(packets: float) -> float:
        mean = packets / queues
        if of_each > MANY:
            return ((1 + erf((of_each + 0.5 - mean) / sqrt(2 * mean))) / 2) ** queues
        term = within = exp(-mean)
        for number in range(1, of_each + 1):
            term *= mean / number
            within += term
        return within**queues

    # By then, every queue has had more, in all likelihood.
    end = queues * (of_each + 10 * sqrt(of_each) + 10)
    span = end / SPANS
    return span * (0.5 + sum(none_has_more(n * span) for n in range(1, SPANS))) - 1


def settled(load: float, new_load: Callable[[float], float], faster: float) -> float:
    """Relative time that work waits, once it agrees with the load that it lets come.

    Work waits s * u / (1 - u) for what is ahead of it, u being the load, as before any server with
    random arrivals; s, the time that one piece takes, shrinks if the server is `faster`. Users that
    wait less ask for more: `new_load` of the relative wait (a closed network: Denning and Buzen,
    "The operational analysis of queueing network models", 1978). If no wait keeps enough of it
    away, others decide what comes: 1.
    """
    if load <= 0:
        return 1.0

    def too_long(waits: float) -> bool:
        return waits > _odds(new_load(waits)) / _odds(load) / faster

    low, high = 0.0, 1.0
    for _ in range(STEPS):
        if too_long(high):
            break
        low, high = high, 2 * high
    else:
        return 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if too_long(middle) else (middle, high)
    return high


def least(enough: Callable[[float], bool]) -> float:
    """The least share that is enough, if a larger one always is; 1 if none is."""
    if enough(0.0):
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _odds(load: float) -> float:
    return load / (1 - load) if load < 1 else inf


def at_twice_the_rate(spent_ns: float, service_ns: float, load: float) -> float:
    """Relative time spent at and before a server that becomes twice as fast.

    What comes at random waits by the load (M/D/1). The rest waits because it comes in bunches, of
    which each piece then takes half of the time.
    """
    if spent_ns <= 0:
        return 1.0
    now, then = _at_random(service_ns, load), _at_random(service_ns / 2, load / 2)
    random_ns = min(spent_ns, now)
    at_random_ns = random_ns * then / now if now > 0 else 0.0
    return ((spent_ns - random_ns) / 2 + at_random_ns) / spent_ns


def _at_random(service_ns: float, load: float) -> float:
    """Mean time at an M/D/1 server."""
    load = min(load, FULLEST)
    return service_ns * (1 + load / (1 - load) / 2)
