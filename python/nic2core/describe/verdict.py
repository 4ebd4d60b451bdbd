"""What limits a run, in a sentence: a stage, or something else if no stage is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.describe import senders
from nic2core.describe.arithmetic import arithmetic
from nic2core.describe.dropped import by_whom, comes, dropped_when, no_room
from nic2core.describe.limiter import full_at_its_peak, share_of_limit
from nic2core.describe.peaks import FAILED, failed
from nic2core.explain.asked import links_load, of_groups, thread_ns
from nic2core.explain.fluid import BEFORE_RINGS
from nic2core.explain.limit import Limit
from nic2core.explain.model import SAME
from nic2core.explain.use import work
from nic2core.names import stage
from nic2core.results.peak_rate import wire_rate
from nic2core.scenario.closed_loop import controls, groups
from nic2core.scenario.quantity import nanoseconds, size_bytes
from nic2core.words import percent, several, three, time

if TYPE_CHECKING:
    from nic2core.run_record import Record

MOST = 0.5
"""Share of the time from which waiting is mentioned although nothing limits."""

MUCH = 0.2
"""Share of the mean latency from which the gathering of completions is mentioned."""

OF_SENDING = {"read-credits", "read-tags", "tx-descriptors", "tx-fetches"}
"""Domains that packets to be sent wait for, after their total latency."""

EMPTY = 0.02
"""Share of the NIC's SRAM in use up to which nothing waits in it."""


def verdict(result: Record) -> str:
    """What limits this run, in one sentence, plus drops and waits worth knowing."""
    packets, by, name = result.data.packets, result.limit, stage(result.model.cause)
    share, outside = percent(packets.drop_share), _dropped_outside(result)
    dropped = f" {share} of the packets are dropped." if packets.drop_share > 0 else ""
    if by is Limit.STAGE:
        verb = "limit" if several(name) else "limits"
        text = f"the {name} {verb} this run: {arithmetic(result)}.{_less(result)}{dropped}"
    elif by is Limit.NOTHING and packets.next_arrival_ns is not None:
        text = f"no packet arrives; the next comes at {time(packets.next_arrival_ns)}.{dropped}"
    elif by is Limit.NOTHING:
        text = f"the run does no work.{dropped}"
    elif by is Limit.ALL_DROPPED:
        text = f"no packet completes: {share} are dropped because {no_room(result)}."
    elif result.peak is not None and full_at_its_peak(result):
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
    share = percent(share_of_limit(result))
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
    return f"at {percent(share_of_limit(result))} of the rate {it}"


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
            return f"{share} of the packets are dropped{by_whom(result)} {dropped_when(result, by)}"


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
        why = f", because it waits between bursts:{comes(of, of.burst)}"
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
