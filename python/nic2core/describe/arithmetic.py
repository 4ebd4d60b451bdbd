"""Why a full stage allows what it does: Little's law with the numbers of a run."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from nic2core.describe.pools import usable_credits, what_for
from nic2core.explain.limit import SHORT_BY_CHANCE, core_shares, one_core_is_full
from nic2core.explain.use import DISPATCH, one, work
from nic2core.names import stage
from nic2core.words import percent, several, three, time

if TYPE_CHECKING:
    from nic2core.explain.model import Model
    from nic2core.run_record import Record

UNEVEN = 0.005
"""Difference between the mean and the busiest core up to which only one number is shown."""

WORTH_TELLING = 0.05
"""Share of the time that a credit is held from which a wait for another domain is mentioned."""


def arithmetic(result: Record) -> str:
    """Why the full domain allows what it does."""
    return _uneven(result) if result.model.full == DISPATCH else _law(result)


def _law(result: Record) -> str:
    """Little's law with the numbers of the full domain, and what it waits for."""
    model = result.model
    full = next(u for u in model.used if u.name == model.full)
    per, (rate, what) = what_for(full), work(result.data)
    if full.name == "cores" and one_core_is_full(result.data):
        busiest, mean = (percent(s) for s in core_shares(result.data))
        it = "" if model.cause == full.name else " cores"
        text = (
            f"the busiest of {full.credits}{it} is busy {busiest} of the time and the mean {mean}; "
            f"as RSS spreads the flows, they allow {three(model.allows[full.name])} M {what}/s"
        )
        return text + _awaits(model, full.name, f"a core's time for each {one(what)}")
    allowed = model.allows.get(full.name, full.allows_mps)
    if full.name == "rx-fetches" and allowed < (1 - SHORT_BY_CHANCE) * full.allows_mps:
        return (
            f"the NIC's next packet waits for one {percent(full.starved)} of the time, and so do "
            f"all behind it, including those of other queues: {three(allowed)} M {what}/s"
        )
    if full.name == "iommu" and allowed < (1 - SHORT_BY_CHANCE) * full.allows_mps:
        queue = result.scenario["machine"]["iommu"]["posted_queue"]
        return (
            f"its queue of {queue} writes is {percent(rate / allowed)} full of those that wait for "
            f"page walks: {three(allowed)} M {what}/s"
        )
    pool = model.pools.get(full.name)
    usable = usable_credits(model, full)
    if usable < full.credits:
        per = f"usable {per}"
    there_are = f"{usable} {per}"
    if full.short_core is not None:
        there_are = f"{there_are} of core {full.short_core}'s queue"
    if full.name == "cores" and pool is not None and pool.credits < (1 - UNEVEN) * full.credits:
        there_are = f"{three(pool.credits)} of {there_are} (the busiest saturates first)"
    text = (
        f"{there_are} / ({three(full.uses_per_work)} per {one(what)} x "
        f"{time(full.own_ns)}) = {three(allowed)} M {what}/s"
    )
    if pool is None:
        return text
    if model.cause == full.name:
        return text + _waits_elsewhere(model, full.name)
    return f"{text} allowed by the {stage(full.name)}" + _awaits(model, full.name, "that time")


def _uneven(result: Record) -> str:
    """Which core RSS gives most, and what all would carry if that were to lose nothing."""
    data = result.data
    most = max(data.queues, key=lambda queue: queue.offered)
    share = most.offered / sum(queue.offered for queue in data.queues)
    busiest, mean = core_shares(data)
    kept = most.received / data.measured_ns * 1e3 / busiest / share
    return (
        f"core {most.core} gets {percent(share)} of the packets and is busy {percent(busiest)} of "
        f"the time, and the mean of all {len(data.queues)} is {percent(mean)}; without loss they "
        f"would carry {three(kept)} M packets/s"
    )


def _awaits(model: Model, full: str, of: str) -> str:
    """How much of a full domain's time is spent waiting on the way to the domain that is named."""
    _, *way = model.way_to_cause(full)
    if not way:
        return ""
    waits = time(model.waits(model.pools[full])[way[0]])
    text = f"; waiting for the {stage(way[0])} takes {waits} of {of}"
    for waits_for, name in pairwise(way):
        it = "these wait" if several(stage(waits_for)) else "that waits"
        text += f", and {it} for the {stage(name)}"
    return text + _held_trackers(model)


def _waits_elsewhere(model: Model, full: str) -> str:
    """How much of the full domain's time is spent waiting for others, if none of them is named.

    Not for cores, whose time per piece of work always includes waits for memory.
    """
    if full == "cores":
        return ""
    spent_ns = model.waits(model.pools[full])
    least = WORTH_TELLING * sum(spent_ns.values())
    waits = sorted(
        ((ns, n) for n, ns in spent_ns.items() if n != full and ns >= least), reverse=True
    )
    if not waits:
        return ""
    (longest, name), *others = waits
    parts = [f"{time(longest)} of waiting for the {stage(name)}"]
    parts += [f"{time(ns)} for the {stage(name)}" for ns, name in others]
    return f"; that time includes {' and '.join(parts)}"


def _held_trackers(model: Model) -> str:
    """What holds the home trackers, if these are named while the memory has headroom."""
    if model.cause != "home-trackers" or not model.too_few_trackers:
        return ""
    trackers, bus = model.use("home-trackers"), model.use("dram")
    return (
        f". All {trackers.credits} are in use, each for {time(trackers.latency_ns)}: a memory read "
        f"waits {time(model.memory.waits_ns)} for other requests, although the bus is "
        f"{percent(bus.load)} busy"
    )
