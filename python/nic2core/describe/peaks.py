"""What a search for a peak found, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nic2core._core import PEAK_RESOLUTION_PERCENT
from nic2core.results.peak_rate import rate_to_set, wire_rate
from nic2core.words import distinct, three, time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nic2core.results.models import Peak


FAILED = {
    "p99": ("the p99 objective", "the 99th percentile of latency exceeds the objective"),
    "drops": ("the drop objective", "more packets are dropped than the objective allows"),
    "rate": ("a growing backlog", "completions fall behind arrivals"),
    "link": ("the link rate", "the network link is full"),
}
"""What fails above a peak, in short and in full."""


def failed(found: Peak) -> tuple[str, str]:
    """What fails above a peak, in short and in full."""
    return FAILED.get(found.failed_by, (found.failed_by, found.failed_by))


SEEN = 0.005
"""Share of dropped packets above which three significant figures show the difference."""


def peak(found: Peak, traffic: Mapping[str, Any]) -> str:
    """A peak, the rate that fails above it, and how many packets its p99 comes from."""
    differs = wire_rate(found, traffic) or traffic["kind"] == "bursts"
    wire = f' (traffic.rate = "{rate_to_set(found, traffic)}")' if differs else ""
    fails, packets = found.fails_at_mpps, found.results.packets
    # If the objective allows drops, the offered rate is higher than the completed one; so it is
    # where queues were longer in the end, by no more than chance.
    apart = max(packets.drop_share, 1 - found.peak_mpps / packets.offered_mpps) > SEEN
    others = "seeds (compare --peak --vary run.seed=1,2,3)"
    if traffic["kind"] == "replay":
        others = "values of run.warmup (a capture comes at the same times with any seed)"
    tried = packets.offered_mpps if apart else found.peak_mpps
    holds, above = three(tried), "at the line rate"
    if fails is not None and fails > tried:
        holds, short = distinct(tried, fails)
        above = f"{short} Mpps does not"
    elif fails is not None:
        # By chance fewer packets came at the higher rate.
        above = f"{PEAK_RESOLUTION_PERCENT} % more does not"
    rate = f"{three(found.peak_mpps)} Mpps of {holds} offered" if apart else f"{holds} Mpps"
    return (
        f"Peak: {rate}{wire} holds, {above} ({failed(found)[1]}); "
        f"{len(found.probes)} rates tried. The p99 comes from {behind_p99(found):,} packets; to "
        f"see how much of it is chance, try other {others}."
    )


FAR = 100
"""Times a p99 from which an objective says nothing beside it: it was set to play no part."""


def objective_ns(found: Peak) -> float | None:
    """The p99 objective at a peak, ns."""
    at_peak = (p.p99_limit_ns for p in found.probes if p.completed_mpps == found.peak_mpps)
    return next(at_peak, None)


def objective(found: Peak, slo: Mapping[str, Any]) -> str:
    """Where a peak's p99 objective comes from, if none was set."""
    held_ns = objective_ns(found)
    if held_ns is None or slo.get("p99") is not None:
        return ""
    services: int = slo["p99_service_times"]
    return (
        f"The p99 objective was {time(held_ns)}: {services} times the mean service time of "
        f"{time(held_ns / services)} at the first rate tried, because slo.p99 is not set."
    )


def behind_p99(found: Peak) -> int:
    """The number of packets that a peak's 99th percentile comes from."""
    return next(s.distribution.count for s in found.results.latency if s.stage == "total")
