"""What limits a run, in words: a stage, or something else if no stage is full."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from nic2core.describe import senders
from nic2core.describe.peaks import FAILED, failed
from nic2core.describe.pools import usable_credits, what_for
from nic2core.explain.asked import links_load, of_groups, thread_ns
from nic2core.explain.fluid import BEFORE_RINGS
from nic2core.explain.limit import IDLE, SHORT_BY_CHANCE, Limit, core_shares, one_core_is_full
from nic2core.explain.model import SAME
from nic2core.explain.overload import OVERLOADED, dropping, mean_wanted, overloaded, too_many
from nic2core.explain.use import DISPATCH, one, work
from nic2core.names import stage
from nic2core.results.peak_rate import wire_rate
from nic2core.scenario.closed_loop import controls, groups
from nic2core.scenario.quantity import nanoseconds, size_bytes
from nic2core.words import percent, several, three, time

if TYPE_CHECKING:
    from nic2core.explain.bursts import Burst, Overflow
    from nic2core.explain.model import Model
    from nic2core.run_record import Record


NAMES = {
    Limit.STAGE: "a stage",
    Limit.LINKS: "the senders' links",
    Limit.CONTROL: "the congestion control",
    Limit.OBJECTIVE: "the objective",
    Limit.NOTHING: "nothing",
    Limit.ALL_DROPPED: "drops",
    Limit.ONE_CORE: "one core",
    Limit.BURSTS: "bursts",
    Limit.DROPS: "drops",
    Limit.BACKLOG: FAILED["rate"][0],
    Limit.FULL: "a full stage",
    Limit.LOAD: "the offered load",
}
"""What sets the rate of a run, in words, where nothing more specific is known."""

UNEVEN = 0.005
"""Difference between the mean and the busiest core up to which only one number is shown."""

MOST = 0.5
"""Share of the time from which waiting is mentioned although nothing limits."""

MUCH = 0.2
"""Share of the mean latency from which the gathering of completions is mentioned."""

OF_SENDING = {"read-credits", "read-tags", "tx-descriptors", "tx-fetches"}
"""Domains that packets to be sent wait for, after their total latency."""

EMPTY = 0.02
"""Share of the NIC's SRAM in use up to which nothing waits in it."""

WORTH_TELLING = 0.05
"""Share of the time that a credit is held from which a wait for another domain is mentioned."""


def _is_a_stage(result: Record) -> bool:
    """Whether a stage sets the rate."""
    return result.limit in {Limit.STAGE, Limit.FULL} or _full_at_its_peak(result)


def limiter(result: Record) -> str:
    """What sets the rate of a run: a stage, or something else if no stage is full."""
    if _is_a_stage(result):
        return f"the {stage(result.model.cause)}"
    if result.limit is Limit.OBJECTIVE and result.peak:
        return failed(result.peak)[0]
    return NAMES[result.limit]


def limit(result: Record) -> str:
    """The same for a table, followed by the stage that would be next, if no stage limits."""
    name = limiter(result).removeprefix("the ").removeprefix("a ")
    if _is_a_stage(result) or result.limit in {Limit.ONE_CORE, *IDLE}:
        return name
    return f"{name} ({stage(result.model.cause)} next)"


def mark(result: Record) -> str:
    """The mark of the stage that the model names: it limits, or would be next."""
    return "" if result.limit in IDLE else "limits" if _is_a_stage(result) else "next"


def mark_of(result: Record, domain: str) -> str:
    """The mark of a domain: the one that the model names, or the one whose credits wait for it."""
    if domain == result.model.cause:
        return mark(result)
    return "waits" if domain == result.model.tightest and result.limit not in IDLE else ""


def verdict(result: Record) -> str:
    """What limits this run, in one sentence, plus drops and waits worth knowing."""
    packets, by, name = result.data.packets, result.limit, stage(result.model.cause)
    share, outside = percent(packets.drop_share), _dropped_outside(result)
    dropped = f" {share} of the packets are dropped." if packets.drop_share > 0 else ""
    if by is Limit.STAGE:
        verb = "limit" if several(name) else "limits"
        text = f"the {name} {verb} this run: {_arithmetic(result)}.{_less(result)}{dropped}"
    elif by is Limit.NOTHING and packets.next_arrival_ns is not None:
        text = f"no packet arrives; the next comes at {time(packets.next_arrival_ns)}.{dropped}"
    elif by is Limit.NOTHING:
        text = f"the run does no work.{dropped}"
    elif by is Limit.ALL_DROPPED:
        text = f"no packet completes: {share} are dropped because {_no_room(result)}."
    elif result.peak is not None and _full_at_its_peak(result):
        text = f"{_sets_peak(result)} at a higher rate {failed(result.peak)[1]}."
    elif by is Limit.FULL:
        text = f"{_full(result)}: there is no headroom left{_awaited(result)}."
    else:
        more = _blocks(result) if by in {Limit.LOAD, Limit.CONTROL} else ""
        more += _awaited(result) if by is Limit.LOAD else ""
        # What drains a burst is said; how full stages are on average says nothing then.
        nearest = "" if result.overflow is not None else f"; {_nearest(result)}"
        text = f"{_why(result, by)}{nearest}{more}."
        text += dropped if by is Limit.CONTROL else ""
    return text + senders.lost_unheard(result) + outside


def _sets_peak(result: Record) -> str:
    """A clause naming the stage that sets a peak, and how close it is to the rate it allows."""
    model = result.model
    name, tight = stage(model.cause), stage(model.tightest)
    sets = f"{'set' if several(name) else 'sets'} this peak{_of_bits(result)}"
    if model.cause == model.tightest:
        return f"the {name}, {_at(result)}, {sets}:"
    wait, it = "wait" if several(tight) else "waits", "them" if several(name) else "it"
    return f"the {name} {sets}: the {tight}, {_at(result)}, {wait} for {it}, and"


def _of_bits(result: Record) -> str:
    """A peak's rate on the wire, if its traffic is given in bits."""
    assert result.peak is not None  # noqa: S101 - asked of peaks alone
    bits = wire_rate(result.peak, result.scenario["traffic"])
    return f" of {bits} on the wire" if bits else ""


def _full(result: Record) -> str:
    """A clause saying that the tightest stage is full, and what its credits wait for."""
    model = result.model
    tight = stage(model.tightest)
    full = f"the {tight} {'are' if several(tight) else 'is'} full, {_at(result)}"
    if model.cause == model.tightest:
        return full
    wait = "wait" if several(tight) else "waits"
    return f"{full}, and {wait} for the {stage(model.cause)}"


def _nearest(result: Record) -> str:
    """How close the tightest stage is to the rate it allows, and what its credits wait for."""
    model = result.model
    share = percent(_share_of_limit(result))
    nearest = (
        f"the stage closest to its limit, the {stage(model.tightest)}, is at {share} of the rate "
        "it allows"
    )
    if model.tightest == "cores" and int(result.scenario["queues"]["burst"]) > 1:
        # What a burst costs once is shared by the packets that are there.
        nearest += " at this load (busier cores take larger bursts, and less time for a packet)"
    if model.cause == model.tightest:
        return nearest
    return f"{nearest} and waits for the {stage(model.cause)}"


def _at(result: Record) -> str:
    """The run's rate as a share of what the tightest stage allows."""
    it = "they allow" if several(stage(result.model.tightest)) else "it allows"
    return f"at {percent(_share_of_limit(result))} of the rate {it}"


def _why(result: Record, by: Limit) -> str:
    """Why a run does not achieve more although every stage has headroom."""
    match by:
        case Limit.LINKS:
            full = percent(links_load(result.data, result.scenario))
            return f"the senders' links limit this run: they are busy {full} of the time"
        case Limit.CONTROL:
            return _control(result)
        case Limit.OBJECTIVE:
            assert result.peak is not None  # noqa: S101 - only a peak has an objective
            short, full = failed(result.peak)
            return f"{short} sets this peak{_of_bits(result)}: at a higher rate {full}"
        case Limit.BACKLOG:
            return FAILED["rate"][1]
        case Limit.LOAD:
            return "the offered load limits this run"
        case _:
            share = percent(result.data.packets.drop_share)
            return (
                f"{share} of the packets are dropped{_by_whom(result)} {_dropped_when(result, by)}"
            )


def _dropped_when(result: Record, by: Limit) -> str:
    """When or why packets are dropped."""
    more = overloaded(result.data)
    if by is Limit.ONE_CORE and more is not None:
        mean = percent(mean_wanted(result.data))
        return (
            f"because more comes to core {more.core} than it can do: without loss it would be busy "
            f"{percent(more.share)} of the time, and the mean of all {mean}"
        )
    if by is Limit.ONE_CORE:
        busiest, mean = (percent(s) for s in core_shares(result.data))
        return f"while one core is saturated ({busiest} busy; the mean of all is {mean})"
    if by is Limit.BURSTS:
        return f"during bursts, when {_no_room(result)}{_overflows(result) or _too_many(result)}"
    return (
        f"because {_no_room(result)}, which no counter explains: packets come evenly, and every "
        "stage has headroom"
    )


def _by_whom(result: Record) -> str:
    """The core to whose queue most of the dropped packets came, if one stands out."""
    of = dropping(result.data)
    if of is None:
        return ""
    return f", {'all' if of.share == 1 else percent(of.share)} of them of core {of.core}'s queue,"


def _overflows(result: Record) -> str:
    """How much of a burst waits, and what drains it, if that is known."""
    of = result.overflow
    if of is None:
        return ""
    if of.burst is None:
        if of.enough is None or too_many(result.data):
            return ""
        if of.in_rings:
            return f"; a ring would need {of.enough:,} descriptors to lose none"
        return f"; the SRAM would need room for {of.enough:,} packets to lose none"
    name = stage(result.model.tightest)
    allow = "allow" if several(name) else "allows"
    return f":{_comes(of, of.burst)}, and the {name} {allow} {three(of.drains)}"


def _comes(of: Overflow, burst: Burst) -> str:
    """What comes in a burst, and how much of it can wait."""
    return (
        f" {three(burst.fastest)} Mpps come for {time(burst.lasts_us * 1e3)}, of which "
        f"{of.room:,.0f} packets can wait"
    )


def _too_many(result: Record) -> str:
    """That no ring would be long enough, if the cores cannot do all that comes."""
    mean = mean_wanted(result.data)
    if mean < OVERLOADED:
        return ""
    return (
        f"; no ring is long enough for what comes: without loss the cores would be busy "
        f"{percent(mean)} of the time"
    )


def _awaited(result: Record) -> str:
    """What is waited for most of the time although all of the offered load gets through."""
    found = [use for use in result.model.used if use.starved > MOST]
    if not found:
        return _gathered(result)
    names = ", the ".join(
        f"{stage(use.name)}{' (packets to be sent)' if use.name in OF_SENDING else ''} "
        f"{percent(use.starved)} of the time"
        for use in found
    )
    return f". What waits, though throughput does not suffer: for the {names}{_gathered(result)}"


def _gathered(result: Record) -> str:
    """How long packets wait for the completions that are written with theirs, if that is much."""
    gathering_ns, total = result.data.packets.gathering_ns, result.total_latency
    if gathering_ns is None or total is None or gathering_ns < MUCH * total.mean_ns:
        return ""
    together = result.scenario["machine"]["nic"]["completions_per_write"]
    return (
        f". Of a mean latency of {time(total.mean_ns)}, a packet's completion waits "
        f"{time(gathering_ns)} for others of its queue: the NIC, while busy, writes up to "
        f"{together} together (machine.nic.completions_per_write)"
    )


def _blocks(result: Record) -> str:
    """How long striped blocks take, and how much of that is their thread's work."""
    transport = result.data.transport
    if transport is None:
        return ""
    of = zip(groups(result.scenario["traffic"]), of_groups(transport), strict=True)
    found = ""
    for group, results in of:
        blocks = results.block_latency
        if group.striped and blocks is not None and blocks.count:
            work = time(group.senders * group.mean_packets * thread_ns(result.data))
            found += f". A block takes {time(blocks.mean_ns)}, its thread's work {work}"
            if transport.timeouts:
                least = result.scenario["traffic"]["recovery"]["min_timeout"]
                found += f", and a retransmission timeout {least} or more"
    return found


def _less(result: Record) -> str:
    """The run's rate, if it is clearly below what the domain that limits it allows.

    That happens if the domain limits only part of the time, as with closed-loop senders, and
    something else the rest of the time.
    """
    rate, what = work(result.data)
    if rate > SAME * result.model.rate:
        return ""
    of = result.overflow
    why = ""
    if of is not None and of.burst is not None:
        why = f", because it waits between bursts:{_comes(of, of.burst)}"
    elif empty := _sram_empty(result):
        why = f", because the NIC's SRAM is nearly empty in {percent(empty)} of the samples"
    return f" The run achieves {three(rate)} M {what}/s{why}."


def _sram_empty(result: Record) -> float:
    """The share of samples in which closed-loop senders leave next to nothing in the NIC's SRAM.

    0 where nothing would wait there for what limits.
    """
    if result.data.transport is None or result.model.tightest not in BEFORE_RINGS:
        return 0.0
    column = next((c for c in result.data.series.columns if c.name == "nic-sram"), None)
    seen = [value for value in (column.values if column is not None else []) if value is not None]
    size_kib = size_bytes(result.scenario["machine"]["nic"]["sram"]) / 1024
    return sum(value < EMPTY * size_kib for value in seen) / (len(seen) or 1)


def _dropped_outside(result: Record) -> str:
    """The share of the closed-loop senders' packets that never reached the server."""
    transport = result.data.transport
    if transport is None or transport.dropped_switch == 0:
        return ""
    dropped = percent(senders.share(transport.dropped_switch, transport))
    return f" {dropped} are dropped by the switch."


def _control(result: Record) -> str:
    """The state of a congestion control that holds its senders back."""
    transport = result.data.transport
    assert transport is not None  # noqa: S101 - only such senders are held back
    # With rivals, which of the targets counts is not known.
    tables = controls(result.scenario["traffic"]).values()
    control = next(iter(tables)) if len(tables) == 1 else {}
    delays = f"packets spend {time(transport.host_delay.mean_ns)} in the server"
    target = control.get("endpoint_target")
    if target is not None:
        delays += f" (target {target})"
    target = control.get("fabric_target")
    if target is not None and transport.fabric_delay.mean_ns > nanoseconds(target):
        outside = time(transport.fabric_delay.mean_ns)
        delays += f" and {outside} outside (target {target} before scaling)"
    if transport.sent_again:
        delays += f", and {percent(senders.sent_again(transport))} are retransmissions"
    flying = senders.in_flight(result.data) / len(transport.connections)
    return (
        "the senders' congestion control holds the load back: the mean window is "
        f"{three(transport.mean_window)} packets ({three(flying)} in flight per connection), "
        f"{delays}"
    )


def _no_room(result: Record) -> str:
    """What has no room for the packets that are dropped."""
    packets = result.data.packets
    if packets.dropped_sram >= packets.dropped_no_descriptor:
        return "the NIC input SRAM has no room"
    return "no receive descriptor is free"


def _full_at_its_peak(result: Record) -> bool:
    """Whether a stage works at the rate it allows at the highest rate that meets the objective."""
    return result.limit is Limit.OBJECTIVE and _share_of_limit(result) >= SAME


def _share_of_limit(result: Record) -> float:
    rate, _ = work(result.data)
    allowed = result.model.allows[result.model.tightest]
    return rate / allowed if allowed > 0 else 0.0


def _arithmetic(result: Record) -> str:
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
