"""What limits a run, in words: a stage, or what else does where none is full."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from nic2core.describe import senders
from nic2core.explain.model import SAME
from nic2core.explain.use import one, work
from nic2core.scenario.quantity import nanoseconds
from nic2core.words import (
    FAILED,
    failed,
    percent,
    stage,
    three,
    time,
    usable_credits,
    what_for,
    wire_rate,
)

if TYPE_CHECKING:
    from nic2core.explain.model import Model
    from nic2core.run_record import Record


class Limit(Enum):
    """What sets the rate of a run; the value is said of it, where more than that is not known."""

    STAGE = "a stage"
    CONTROL = "the congestion control"
    OBJECTIVE = "the objective"
    """Of a peak; or the link, or a backlog, if that fails above it."""
    NOTHING = "nothing"
    """No work is done, and no packet dropped."""
    ONE_CORE = "one core"
    """One is full and drops packets, others have room."""
    BURSTS = "bursts"
    DROPS = "drops"
    """Nothing that is counted explains them; or all packets are dropped."""
    BACKLOG = FAILED["rate"][0]
    FULL = "a full stage"
    """It does all that it allows, and nothing is lost: more would come to nothing."""
    LOAD = "the offered load"


UNEVEN = 0.005
"""Share by which the mean core may have less to do than the fullest, and the two be told as one."""

MOST = 0.5
"""Share of the time from which on it is told that something waits, though nothing limits."""

FULL_CORE = 0.95
"""Share of time for which a core is busy that has no room for more: packets come in bunches."""


def _limit(result: Record) -> Limit:
    """What sets the rate of a run."""
    drops = result.data.packets.drop_share > 0
    if idle(result):
        return Limit.DROPS if drops else Limit.NOTHING
    if result.limited:
        return Limit.STAGE
    if result.window_limited:
        return Limit.CONTROL
    if result.peak is not None:
        return Limit.OBJECTIVE
    if drops:
        return _of_drops(result)
    return Limit.BACKLOG if result.behind else Limit.FULL if result.full else Limit.LOAD


def _is_a_stage(result: Record) -> bool:
    """Whether it is a stage that sets the rate."""
    return _limit(result) in {Limit.STAGE, Limit.FULL} or _full_at_its_peak(result)


def _of_drops(result: Record) -> Limit:
    """What drops packets though no stage is full on average."""
    if _core_is_full(result):
        return Limit.ONE_CORE
    return Limit.BURSTS if _bursty(result) else Limit.DROPS


def limiter(result: Record) -> str:
    """What sets the rate of a run: a stage, or what else does where none is full."""
    by = _limit(result)
    if _is_a_stage(result):
        return f"the {stage(result.model.cause)}"
    return failed(result.peak)[0] if by is Limit.OBJECTIVE and result.peak else by.value


def limit(result: Record) -> str:
    """The same for a table, and the stage that is next."""
    name = limiter(result).removeprefix("the ").removeprefix("a ")
    if _is_a_stage(result) or _limit(result) is Limit.ONE_CORE or idle(result):
        return name
    return f"{name} ({stage(result.model.cause)} next)"


def mark(result: Record) -> str:
    """What is said of the stage that the model names: that it limits, or would be next."""
    return "" if idle(result) else "limits" if _is_a_stage(result) else "next"


def mark_of(result: Record, domain: str) -> str:
    """The mark of a domain: the one that is named, and the one whose credits wait for it."""
    if domain == result.model.cause:
        return mark(result)
    return "waits" if domain == result.model.tightest and not idle(result) else ""


def idle(result: Record) -> bool:
    """Whether the run has done no work of which a model could be made.

    Nor can it of benchmarks beside traffic that does not come: its cores are those that wait.
    """
    rate, _ = work(result.data)
    return rate <= 0 or result.data.packets.next_arrival_ns is not None


def verdict(result: Record) -> str:
    """What limits this run, in one sentence, and what more there is to say."""
    packets, by, name = result.data.packets, _limit(result), stage(result.model.cause)
    share, outside = percent(packets.drop_share), _dropped_outside(result)
    dropped = f" {share} of the packets are dropped." if packets.drop_share > 0 else ""
    if by is Limit.STAGE:
        verb = "limit" if _several(name) else "limits"
        text = f"the {name} {verb} this run: {_arithmetic(result)}.{_less(result)}{dropped}"
    elif by is Limit.NOTHING and packets.next_arrival_ns is not None:
        text = f"no packet arrives; the next comes at {time(packets.next_arrival_ns)}."
    elif by is Limit.NOTHING:
        text = "the run does no work."
    elif idle(result):
        text = f"no packet completes: {share} are dropped because {_no_room(result)}."
    elif result.peak is not None and _full_at_its_peak(result):
        text = f"{_sets_peak(result)} at a higher rate {failed(result.peak)[1]}."
    elif by is Limit.FULL:
        text = f"{_full(result)}: no more rate to gain{_awaited(result)}."
    else:
        awaited = _awaited(result) if by is Limit.LOAD else ""
        text = f"{_why(result, by)}; {_nearest(result)}{awaited}."
        text += dropped if by is Limit.CONTROL else ""
    return text + outside


def _several(name: str) -> bool:
    return name.endswith("s") and not name.endswith("bus")


def _sets_peak(result: Record) -> str:
    """That a stage sets a peak, and how much of what is allowed it does."""
    model = result.model
    name, tight = stage(model.cause), stage(model.tightest)
    sets = f"{'set' if _several(name) else 'sets'} this peak{_of_bits(result)}"
    if model.cause == model.tightest:
        return f"the {name}, {_at(result)}, {sets}:"
    wait, it = "wait" if _several(tight) else "waits", "them" if _several(name) else "it"
    return f"the {name} {sets}: the {tight}, {_at(result)}, {wait} most for {it}, and"


def _of_bits(result: Record) -> str:
    """How much a peak is on the wire, of traffic that is given so."""
    assert result.peak is not None  # noqa: S101 - asked of peaks alone
    bits = wire_rate(result.peak, result.scenario["traffic"])
    return f" of {bits} on the wire" if bits else ""


def _full(result: Record) -> str:
    """That the tightest stage is full, and what its credits wait for."""
    model = result.model
    tight = stage(model.tightest)
    full = f"the {tight} {'are' if _several(tight) else 'is'} full, {_at(result)}"
    if model.cause == model.tightest:
        return full
    wait = "wait" if _several(tight) else "waits"
    return f"{full}, and {wait} most for the {stage(model.cause)}"


def _nearest(result: Record) -> str:
    """How near the tightest stage is to what it allows, and what its credits wait for."""
    model = result.model
    share = percent(_share_of_limit(result))
    nearest = f"the nearest stage, the {stage(model.tightest)}, is at {share} of what it allows"
    if model.cause == model.tightest:
        return nearest
    return f"{nearest} and waits most for the {stage(model.cause)}"


def _at(result: Record) -> str:
    """The share that the run does of what the tightest stage allows."""
    it = "they allow" if _several(stage(result.model.tightest)) else "it allows"
    return f"at {percent(_share_of_limit(result))} of what {it}"


def _why(result: Record, by: Limit) -> str:
    """Why a run in which every stage has room does not do more."""
    match by:
        case Limit.CONTROL:
            return _control(result)
        case Limit.OBJECTIVE:
            assert result.peak is not None  # noqa: S101 - only a peak has an objective
            short, full = failed(result.peak)
            return f"{short} sets this peak{_of_bits(result)}: at a higher rate {full}"
        case Limit.BACKLOG:
            return FAILED["rate"][1]
        case Limit.LOAD:
            return "the offered load is the limit of this run"
        case _:
            share = percent(result.data.packets.drop_share)
            return f"{share} of the packets are dropped {_dropped_when(result, by)}"


def _dropped_when(result: Record, by: Limit) -> str:
    """When packets are dropped, or for want of what."""
    if by is Limit.ONE_CORE:
        busiest, mean = (percent(s) for s in _core_shares(result))
        return f"while one core is full ({busiest} busy; the mean of all is {mean})"
    if by is Limit.BURSTS:
        return f"in bursts, when {_no_room(result)}"
    return (
        f"because {_no_room(result)}, which nothing that is counted explains: they come evenly, "
        "and every stage has room"
    )


def _awaited(result: Record) -> str:
    """What something waits for most of the time though all that is offered gets through."""
    found = [use for use in result.model.used if use.starved > MOST]
    if not found:
        return ""
    names = ", the ".join(f"{stage(use.name)} {percent(use.starved)} of the time" for use in found)
    return f". Awaited, which costs latency and not throughput: the {names}"


def _less(result: Record) -> str:
    """What the run does, where that is clearly less than what the domain that limits it allows.

    So it is where it limits for some of the time only, as with closed-loop senders, and something
    else for the rest.
    """
    rate, what = work(result.data)
    if rate > SAME * result.model.rate:
        return ""
    return f" The run does {three(rate)} M {what}/s."


def _dropped_outside(result: Record) -> str:
    """What of the closed-loop senders' packets never came to the server."""
    transport = result.data.transport
    if transport is None or transport.dropped_switch == 0:
        return ""
    dropped = percent(senders.share(transport.dropped_switch, transport))
    return f" {dropped} are dropped by the switch."


def _control(result: Record) -> str:
    """What is known of a congestion control that holds its senders back."""
    transport = result.data.transport
    assert transport is not None  # noqa: S101 - only such senders are held back
    control = result.scenario["traffic"]["control"]
    delays = f"packets are {time(transport.host_delay.mean_ns)} in the server"
    target = control.get("endpoint_target")
    if target is not None:
        delays += f", its target there is {target}"
    target = control.get("fabric_target")
    if target is not None and transport.fabric_delay.mean_ns > nanoseconds(target):
        outside = time(transport.fabric_delay.mean_ns)
        delays += (
            f", and {outside} outside, where its target is {target} and what it scales that by"
        )
    if transport.sent_again:
        delays += f", {percent(senders.sent_again(transport))} are sent again"
    flying = senders.in_flight(result.data) / len(transport.connections)
    return (
        "the senders' congestion control holds the load back: its windows are "
        f"{three(transport.mean_window)} packets, with {three(flying)} a connection in flight, "
        f"{delays}"
    )


def _core_shares(result: Record) -> tuple[float, float]:
    """The share of time for which the busiest core is busy, and the mean of all."""
    time, span_ps = result.data.core_time, result.data.measured_ns * 1e3
    cores = next((d.credits for d in result.data.domains if d.domain == "cores"), 1)
    return time.busiest_ps / span_ps, time.busy_ps / span_ps / cores


def _core_is_full(result: Record) -> bool:
    """Whether one core is, while others have room."""
    busiest, mean = _core_shares(result)
    return busiest >= FULL_CORE > mean


def _bursty(result: Record) -> bool:
    """Whether packets may come in bunches: `constant` and `backlog` keep them even."""
    return (result.scenario.get("traffic") or {}).get("kind") not in {"constant", "backlog"}


def _no_room(result: Record) -> str:
    """For want of what packets are dropped."""
    packets = result.data.packets
    if packets.dropped_sram >= packets.dropped_no_descriptor:
        return "the NIC input SRAM has no room"
    return "no receive descriptor is free"


def _full_at_its_peak(result: Record) -> bool:
    """Whether a stage does all that it allows at the highest rate that keeps the objective."""
    return _limit(result) is Limit.OBJECTIVE and _share_of_limit(result) >= SAME


def _share_of_limit(result: Record) -> float:
    rate, _ = work(result.data)
    allowed = result.model.allows[result.model.tightest]
    return rate / allowed if allowed > 0 else 0.0


def _arithmetic(result: Record) -> str:
    """Little's law with the numbers of the domain that is full, and what it waits for."""
    model = result.model
    full = next(u for u in model.used if u.name == model.full)
    per, (_, what) = what_for(full), work(result.data)
    if full.name == "cores" and _core_is_full(result):
        busiest, mean = (percent(s) for s in _core_shares(result))
        it = "" if model.cause == full.name else " cores"
        text = (
            f"the fullest of {full.credits}{it} is busy {busiest} of the time and the mean {mean}; "
            f"as RSS deals the flows they do {three(model.allows[full.name])} M {what}/s"
        )
        return text + _awaits(model, full.name, f"a core's time for each {one(what)}")
    allowed = model.allows.get(full.name, full.allows_mps)
    if full.name == "rx-fetches" and allowed < 0.98 * full.allows_mps:
        return (
            f"the NIC's next packet waits for one {percent(full.starved)} of the time, and all "
            f"behind it, also those of other queues: {three(allowed)} M {what}/s"
        )
    pool = model.pools.get(full.name)
    usable = usable_credits(model, full)
    if usable < full.credits:
        per = f"usable {per}"
    there_are = f"{usable} {per}"
    if full.short_core is not None:
        there_are = f"{there_are} of core {full.short_core}'s queue"
    if full.name == "cores" and pool is not None and pool.credits < (1 - UNEVEN) * full.credits:
        there_are = f"{three(pool.credits)} of {there_are}, as the fullest is full first,"
    text = (
        f"{there_are} / ({three(full.uses_per_work)} per {one(what)} x "
        f"{time(full.own_ns)}) = {three(allowed)} M {what}/s"
    )
    if pool is None or model.cause == full.name:
        return text
    return f"{text} allowed by the {stage(full.name)}" + _awaits(model, full.name, "that time")


def _awaits(model: Model, full: str, of: str) -> str:
    """How much of the time of a full domain goes into waiting for the one that is named."""
    if full not in model.pools or model.cause == full:
        return ""
    waits = time(model.waits(model.pools[full])[model.cause])
    return f"; waiting for the {stage(model.cause)} takes {waits} of {of}{_held_trackers(model)}"


def _held_trackers(model: Model) -> str:
    """What holds the home trackers, where these are named beside a memory with room."""
    if model.cause != "home-trackers" or not model.too_few_trackers:
        return ""
    trackers, bus = model.use("home-trackers"), model.use("dram")
    return (
        f". All {trackers.credits} are in use, each for {time(trackers.latency_ns)}: a read of "
        f"memory waits there for {time(model.memory.waits_ns)} beside others, though the bus is "
        f"{percent(bus.load)} used"
    )
