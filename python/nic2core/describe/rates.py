"""What runs achieve, lose and are asked for, and how that is told of several."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from nic2core.explain.limit import CARRIED, SHORT_BY_CHANCE
from nic2core.explain.use import work
from nic2core.scenario.quantity import share
from nic2core.words import percent, three

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.run_record import Record

SAME_RATE = 0.01
"""Relative difference below which two rates are about the same."""

SAME_SIZE = 0.05
"""Relative difference up to which mean sizes of packets are about the same: it may be chance."""

DIFFERENCE_FELT = 0.1
"""Relative difference above which users notice a number other than the rate."""

DROPS_FELT = 0.01
"""Difference between two drop shares above which it is told."""

TIMES = 20
"""From this many times a number on, its change is not told in percent."""

BYTES = "Gbit/s"
"""Unit of what runs achieve whose packets differ in size."""


def achieved(results: Sequence[Record]) -> tuple[list[float], str]:
    """What each run achieves, and the unit.

    For closed-loop senders it is goodput: some of the packets that are completed are sent again.
    Packets of different sizes are compared by their bytes.
    """
    sent = [r.data.transport for r in results]
    goodput = [transport.goodput_gbps for transport in sent if transport is not None]
    if len(goodput) == len(results):
        return goodput, "Gbit/s of goodput"
    what, packets = work(results[0].data)[1], [r.data.packets for r in results]
    if what == "packets" and all(p.offered for p in packets):
        sizes = [p.offered_gbps / p.offered_mpps for p in packets]
        if max(sizes) > (1 + SAME_SIZE) * min(sizes):
            return [p.completed_gbps for p in packets], BYTES
    return [r.rate_mps for r in results], f"M {what}/s"


def times_of(high: float, low: float) -> str:
    """How much more a rate is than another, to be followed by that one."""
    times = high / low
    return f"{100 * (times - 1):.0f} % more than" if times < TIMES else f"{times:.0f} times"


def ends(labels: Sequence[str], rates: Sequence[float]) -> tuple[str, str, str]:
    """The fastest runs, the verb that agrees with them in number, and the slowest runs.

    What is about as fast as one of the two ends counts with it, and with the nearer one. The run at
    the end itself comes first.
    """
    high, low = max(rates), min(rates)
    fastest: list[str] = []
    slowest: list[str] = []
    for label, rate in sorted(zip(labels, rates, strict=True), key=lambda of: -of[1]):
        if rate * rate > high * low:
            if high / rate - 1 < SAME_RATE:
                fastest.append(label)
        elif rate / low - 1 < SAME_RATE:
            slowest.insert(0, label)
    return _named(fastest), "is" if len(fastest) == 1 else "are", _named(slowest)


def _named(labels: Sequence[str]) -> str:
    match labels:
        case [one]:
            return one
        case [one, other]:
            return f"{one} and {other}"
        case [one, *others]:
            return f"{one} and {len(others)} more"
        case _:
            raise AssertionError("a run is close to itself")


def lost(result: Record) -> float:
    """Share of the packets that are lost, 0 to 1: of closed-loop senders, also on their way."""
    transport = result.data.transport
    return result.data.packets.drop_share if transport is None else transport.lost_share


def lost_by_the_fastest(
    labels: Sequence[str], losses: Sequence[float], rates: Sequence[float]
) -> str:
    """What the fastest run loses, if it is clearly more than another does: empty otherwise."""
    fastest, least = rates.index(max(rates)), losses.index(min(losses))
    if losses[fastest] - losses[least] < DROPS_FELT:
        return ""
    return (
        f"; {labels[fastest]} loses {percent(losses[fastest])} of the packets, {labels[least]} "
        f"{percent(losses[least])}"
    )


def carried(
    labels: Sequence[str],
    cases: Sequence[Sequence[Record]],
    unit: str,
    apart: Callable[[], str],
) -> str:
    """How much of different loads is carried; empty for other comparisons.

    Runs that are offered more are no faster for it: of what completes most, some may be lost while
    a lower load is carried. `apart` says in what the cases differ if all is carried.
    """
    runs = [run for case in cases for run in case]
    if any(r.peak or r.data.transport or r.data.demand_mpps is None for r in runs):
        return ""
    loads = [fmean(_asked(run, unit) for run in case) for case in cases]
    low, high = min(loads), max(loads)
    whole = [all(_carries(run) for run in case) for case in cases]
    if low <= 0 or high <= (1 + SAME_RATE) * low or not any(whole):
        return ""
    drops = any(run.drop_share > 0 for n, case in enumerate(cases) if whole[n] for run in case)
    but = "but for the drops that slo.drops allows, " if drops else ""
    far = high > (1 + DIFFERENCE_FELT) * low
    if all(whole):
        span = f"{three(low)} to {three(high)} {unit}"
        return f"{but}what is offered is carried, {span}{apart()}" if far else ""
    order = sorted(range(len(cases)), key=lambda n: loads[n])
    short = [n for n in order if not whole[n]]
    last = next(n for n in reversed(order) if whole[n])
    highest = f"{labels[last]} ({three(loads[last])} {unit})"
    rates = [fmean(_completed(run, unit) for run in case) for case in cases]
    fastest = rates.index(max(rates))
    # Otherwise, what is lost has another cause than the load.
    rises = loads[short[0]] > (1 + SAME_RATE) * loads[last]
    if rises and (far or not whole[fastest]):
        most = short[-1]
        return (
            f"{but}what is offered is carried up to {highest}; {labels[most]} completes "
            f"{_part(cases[most])} of it"
        )
    if whole[fastest]:
        return ""
    return (
        f"{but}the highest load that is carried is that of {highest}; {labels[fastest]} completes "
        f"{_part(cases[fastest])} of what it is offered"
    )


def all_carry_the_same(results: Sequence[Record], unit: str) -> bool:
    """Whether all runs carry what is offered, and their traffic offers the same.

    By chance some packets more or fewer came in the time of one: that makes no run faster.
    """
    if any(r.peak or r.data.transport or r.data.demand_mpps is None for r in results):
        return False
    loads = [_asked(run, unit) for run in results]
    same = 0 < max(loads) <= (1 + SAME_RATE) * min(loads)
    rates = [_completed(run, unit) for run in results]
    near = max(rates) <= (1 + 2 * SHORT_BY_CHANCE) * min(rates)
    return same and near and all(_carries(run) for run in results)


def _asked(result: Record, unit: str) -> float:
    """The load that a run's traffic asks for."""
    packets = result.data.packets
    of = packets.offered_gbps / packets.offered_mpps if unit == BYTES else 1.0
    return result.model.demand * of


def _completed(result: Record, unit: str) -> float:
    """What a run completes of it."""
    packets = result.data.packets
    return packets.completed_gbps if unit == BYTES else packets.completed_mpps


def _part(case: Sequence[Record]) -> str:
    """How much of what it is asked for a case completes."""
    return percent(fmean(r.data.packets.completed_mpps / r.model.demand for r in case))


def _carries(result: Record) -> bool:
    """Whether a run carries its load, but for as many drops as its objective allows."""
    if result.limit in CARRIED:
        return True
    keeps_up = result.data.packets.completed_mpps >= (1 - SHORT_BY_CHANCE) * result.model.demand
    return keeps_up and 0 < result.drop_share <= share(result.scenario["slo"]["drops"])
