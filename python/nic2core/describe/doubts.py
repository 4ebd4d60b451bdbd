"""Warnings about a run whose numbers may mislead: a sentence or two each."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.describe import senders
from nic2core.describe.drift import drifting
from nic2core.describe.seeds import Repeated, repeated
from nic2core.describe.warmup import growing_dirty_lines, short_warmup
from nic2core.describe.warned import Warned
from nic2core.explain.asked import of_groups
from nic2core.scenario.closed_loop import groups, most_kept
from nic2core.scenario.quantity import gigabits, is_bit_rate, nanoseconds
from nic2core.words import count, percent, sentence, three, time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nic2core.results.models import Packets
    from nic2core.run_record import Record

    Kind = Callable[[Record], Warned | None]

FULL = 0.998
"""Share of time busy from which a link counts as full."""

SMOOTHED = 10
"""Mean wait before a link, in frames, from which the link reshapes the traffic: that of bursts of
twenty packets arriving at once."""

ENOUGH_PACKETS = 10_000
"""For a peak's run: a hundred packets lie above the 99th percentile that decides the peak."""

FEW_PACKETS = 1000
"""For any other run: ten packets lie above the 99th percentile."""

FEW_READS = 100
"""Reads whose 99th percentile is their maximum."""

SAMPLES = 30
"""Samples of a time series from which the means of its thirds are worth comparing."""

UNSETTLED = 0.25
"""Difference between the first and last third of a run, relative to the larger, above chance."""

GROWING = 0.1
"""The same for the mean window of all connections, which chance moves less than their goodput."""

FILLING = 0.02
"""Growth of the packets in the server during the measurement, as a share of those offered, that is
still normal; bursts alone may cause more."""

MARKED = 0.9
"""Share of marked packets from which a mark no longer tells a sender anything."""

NEEDLESS = 0.03
"""Share of the packets that senders take for lost although they arrive, from which that shapes what
the congestion control does. Where a round trip is near the timeout, 1 % is usual."""

LEAST = 1.5
"""Multiple of the minimum window up to which the mean is close to it: some have just grown."""

NAMED = 4
"""The most runs, or scenarios, that a warning shared by several names."""

KEPT = 0.8
"""Mean depth of a backlog, as a share of the requested depth, from which it counts as kept."""


def doubts(result: Record) -> list[str]:
    """The warnings that apply to a run."""
    return [warned.text for warned in _by_kind(result).values()]


def _by_kind(result: Record) -> dict[Kind, Warned]:
    """The warnings that apply to a run, by the function that found them."""
    found: dict[Kind, Warned] = {}
    for several in (
        (_other_version,),
        (_no_arrival, _long_pauses, _no_completion, short_warmup, growing_dirty_lines, drifting),
        (_unsettled,),
        (_filling,),
        (_small_pool,),
        (_short_backlog,),
        (_unmarked,),
        (_unheard,),
        (_all_marked,),
        (_needless,),
        (_few_packets,),
        (_full_link, _smoothed),
        (_other_sizes,),
        (_premature_reads,),
    ):
        for kind in several:
            warned = kind(result)
            if warned is not None:
                found[kind] = warned
                # It explains those after it.
                break
    return found


@dataclass(frozen=True)
class Doubt:
    """A warning, and the runs that it applies to."""

    of: str
    """The runs in words, followed by a colon; empty for a single run."""
    warning: str


def all_doubts(results: Sequence[Record]) -> list[Doubt]:
    """The warnings of several runs; the same one of several runs is told once.

    Runs that differ in nothing but their seed have the same warnings with other numbers: those of
    the worst are told.
    """
    groups = repeated(results) or [Repeated(result, [result]) for result in results]
    found: dict[str, list[_Seeds]] = {}
    for group in groups:
        by_kind: dict[Kind, dict[int, Warned]] = {}
        for run in group.runs:
            for kind, warned in _by_kind(run).items():
                by_kind.setdefault(kind, {})[run.data.seed] = warned
        for by_seed in by_kind.values():
            seeds = _Seeds(group, by_seed)
            found.setdefault(by_seed[seeds.worst].text, []).append(seeds)
    return [Doubt(_who(of, groups, len(results)), text) for text, of in found.items()]


@dataclass(frozen=True)
class _Seeds:
    """The runs of a scenario to which one kind of warning applies."""

    group: Repeated
    by_seed: Mapping[int, Warned]

    @property
    def worst(self) -> int:
        """The seed whose numbers are told."""
        return max(self.by_seed, key=lambda seed: self.by_seed[seed].worse)

    @property
    def is_same_in_all(self) -> bool:
        """Whether it applies to every seed, with the same numbers."""
        texts = {warned.text for warned in self.by_seed.values()}
        return len(self.by_seed) == len(self.group.runs) and len(texts) == 1

    def __str__(self) -> str:
        """How many of the seeds, and whose numbers are told."""
        some, of = len(self.by_seed), len(self.group.runs)
        many = f"{some} of {of} seeds" if some < of else _all(of, "seeds")
        return f"{many} ({'worst: ' if some > 1 else ''}seed {self.worst})"


def _who(found: Sequence[_Seeds], groups: Sequence[Repeated], runs: int) -> str:
    if runs == 1:
        return ""
    if len(found) == len(groups) and all(of.is_same_in_all for of in found):
        return f"{sentence(_all(runs, 'runs'))}: "
    if len(groups) == 1:
        return f"{sentence(str(found[0]))}: "
    # Labels have commas of their own.
    labels = [f"{of.group.case.label}{'' if of.is_same_in_all else f', {of}'}" for of in found]
    more = f"; and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f"{'; '.join(labels[:NAMED])}{more}: "


def _all(number: int, what: str) -> str:
    return f"both {what}" if number == 2 else f"all {number} {what}"


def _other_version(result: Record) -> Warned | None:
    """A warning if the result was saved by another version of nic2core."""
    made, here = result.data.engine_version, _core.__version__
    if made == here:
        return None
    return Warned(
        f"nic2core {made} simulated this run, and {here} may simulate it differently. To compare "
        f"it with runs of {here}, run it again."
    )


def _no_arrival(result: Record) -> Warned | None:
    """A warning if traffic was configured but no packet arrived."""
    comes_ns = result.data.packets.next_arrival_ns
    if comes_ns is None:
        return None
    end_ns = nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
    # Long after the start, the two times may read the same.
    alike = time(comes_ns) == time(end_ns)
    comes = f"{time(comes_ns - end_ns)} later" if alike else f"at {time(comes_ns)}"
    text = (
        f"no packet arrived in the {time(result.data.measured_ns)} measured, which end at "
        f"{time(end_ns)}; the next comes {comes}. Increase run.duration to include it."
    )
    return Warned(text, comes_ns)


def _no_completion(result: Record) -> Warned | None:
    """A warning if packets were on their way, but the measured time was too short for any."""
    packets = result.data.packets
    # Packets of closed-loop senders may not have reached the server.
    on_the_way = packets.in_flight_end or result.data.transport is not None
    if packets.completed or not on_the_way:
        return None
    return Warned(
        f"no packet completed in the {time(result.data.measured_ns)} measured, because a packet "
        "takes longer than that. Increase run.duration."
    )


def _long_pauses(result: Record) -> Warned | None:
    """A warning if few reads were completed because threads think for long."""
    transport = result.data.transport
    if transport is None:
        return None
    both = zip(groups(result.scenario["traffic"]), of_groups(transport), strict=True)
    of = [(group, results.read_latency) for group, results in both]
    few = [(group, reads.count) for group, reads in of if group.think_ns > reads.mean_ns]
    group, reads = min(few, key=lambda found: found[1], default=(None, 0))
    if group is None or reads >= FEW_READS:
        return None
    return Warned(
        f"only {count(reads, 'read')} of {group.senders:,} senders completed in the "
        f"{time(result.data.measured_ns)} measured, because threads think for "
        f"{time(group.think_ns)} before they ask for the next: rates and tails are largely chance. "
        "Increase run.duration, or reduce think.",
        -float(reads),
    )


def _full_link(result: Record) -> Warned | None:
    """A warning if open-loop traffic leaves the link no time to drain a queue."""
    data, link = result.data, result.scenario["machine"]["nic"].get("link")
    demand = data.demand_mpps
    if link is None or demand is None or data.transport is not None:
        return None
    wire = next((d for d in data.domains if d.domain == "wire"), None)
    if wire is None or wire.busy_ps < FULL * 1e3 * data.measured_ns:
        return None
    if result.peak is not None:
        waits_ns = data.packets.link_wait_ns or 0.0
        text = (
            f"the {link} link is full at this peak: packets wait {time(waits_ns)} before it on "
            "average, and the wait keeps growing. Neither latencies nor the objective include this "
            "wait. For meaningful latencies, run the scenario at 99 % of the link rate."
        )
        return Warned(text, waits_ns)
    offered = data.packets.offered_mpps
    beyond = (
        f"the traffic asks for {demand:.3g} Mpps, but the {link} link delivers only "
        f"{offered:.3g}: the rest waits at the senders and is not counted"
        if demand > 1.01 * offered
        else f"the {link} link is full"
    )
    text = (
        f"{beyond}. On a full link, a queue never drains once it has formed, so latencies are "
        "those of the first microseconds. For meaningful latencies, set traffic.rate to at most "
        "99 % of the link rate."
    )
    return Warned(text, demand - offered)


def _smoothed(result: Record) -> Warned | None:
    """A warning if a link spreads out bursts: latencies do not include the wait before it."""
    traffic, packets = result.scenario.get("traffic") or {}, result.data.packets
    bursts = traffic.get("kind") in {"bursts", "replay"}
    if not bursts or packets.link_wait_ns is None or packets.offered == 0:
        return None
    link, wait_ns = result.scenario["machine"]["nic"]["link"], packets.link_wait_ns
    frame_ns = _wire_bits(packets) / gigabits(link)
    if wait_ns < SMOOTHED * frame_ns:
        return None
    text = (
        f"bursts come faster than the {link} link can carry them: packets wait {time(wait_ns)} "
        "before it on average and reach the server one after the other. Neither latencies nor the "
        "objective include this wait, and latencies are those of the smoothed traffic. To keep a "
        "capture's own bursts, lower traffic.rate, or unset it to replay the capture's own timing."
    )
    return Warned(text, wait_ns)


def _wire_bits(packets: Packets) -> float:
    """Mean bits on the wire per packet that arrived."""
    return packets.offered_gbps * 1e3 / packets.offered_mpps + 8 * _core.WIRE_OVERHEAD_BYTES


def _other_sizes(result: Record) -> Warned | None:
    """A warning if a capture is scaled to a bit rate but its packets are given other sizes."""
    traffic, packets = result.scenario["traffic"], result.data.packets
    rate = (traffic or {}).get("rate")
    drawn = any(t["app"].get("requests") == "drawn" for t in result.scenario["tenants"])
    # A peak's rate is the one that the search found.
    if rate is None or result.peak is not None or traffic["kind"] != "replay" or not drawn:
        return None
    if not is_bit_rate(rate) or packets.offered == 0:
        return None
    carried = packets.offered_mpps * _wire_bits(packets) / 1e3
    text = (
        f"the capture's timing is scaled so that its own packets would carry {rate}, but packets "
        f'have the sizes of drawn requests (app.requests = "drawn"), which carry {carried:.3g} '
        'Gbps. Set tenants.N.app.requests to "from-size" to use the capture\'s sizes.'
    )
    return Warned(text, abs(carried / gigabits(rate) - 1))


def _unsettled(result: Record) -> Warned | None:
    """A warning if goodput or windows of closed-loop senders were still rising or falling."""
    transport = result.data.transport
    means = {"goodput": ("goodput", UNSETTLED)}
    if transport is not None and any(g.think_ns for g in groups(result.scenario["traffic"])):
        # Pauses may set the goodput while windows still grow, and reads become faster.
        means["window"] = ("mean window", GROWING)
    for column in (c for c in result.data.series.columns if c.name in means):
        name, allowed = means[column.name]
        if len(column.values) < SAMPLES:
            continue
        third = len(column.values) // 3
        first, last = fmean(column.values[:third]), fmean(column.values[-third:])
        if abs(last - first) <= allowed * max(first, last):
            continue
        end_ns = nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
        text = (
            f"the {name} went from {three(first)} to {three(last)} {column.unit} during the "
            "measurement: the senders' windows had not settled, and all numbers average over the "
            f"change. Set run.warmup to {ceil(end_ns / 1e5) / 10:g} ms or more."
        )
        return Warned(text, abs(last - first) / max(first, last))
    return None


def _filling(result: Record) -> Warned | None:
    """A warning if the number of packets in the server kept growing: its rings were filling."""
    packets = result.data.packets
    begin, end = packets.in_flight_begin, packets.in_flight_end
    bursts = int(result.scenario["queues"]["burst"]) * len(result.data.queues)
    few = max(FILLING * packets.offered, bursts)
    if result.data.transport is not None or end - begin <= few:
        return None
    full_ns = nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
    room = int(result.scenario["queues"]["rx_descriptors"]) * len(result.data.queues) - end
    full_ns += max(0.0, room) / (end - begin) * result.data.measured_ns
    text = (
        f"the number of packets in the server grew from {begin:,} to {end:,} while "
        f"{packets.offered:,} arrived: its rings were still filling, so drops and latencies are "
        "not yet those of full rings. Set run.warmup to "
        f"{ceil(full_ns / 1e5) / 10:g} ms or more."
    )
    return Warned(text, full_ns)


def _small_pool(result: Record) -> Warned | None:
    """A warning if packets being sent occupy the buffers that a full receive ring needs."""
    queues = result.scenario["queues"]
    in_place = any(tenant.sends_in_place for tenant in result.data.tenants)
    receive, transmit = int(queues["rx_descriptors"]), int(queues["tx_descriptors"])
    buffers = int(queues.get("pool_buffers") or receive)
    kept = most_kept(result.scenario)
    if kept and buffers < receive + kept:
        return Warned(
            f"each core's pool has {buffers:,} buffers, but the receive ring needs {receive:,}, "
            f"and up to {kept:,} packets wait in theirs until their read is complete (copied = "
            f'"on-completion"). Set queues.pool_buffers to {receive + kept:,} or more, unless your '
            "real pool is this small."
        )
    if not in_place or not result.scenario.get("traffic") or buffers >= receive + transmit:
        return None
    return Warned(
        f"each core's pool has {buffers:,} buffers, but the rings need {receive + transmit:,} "
        f"({receive:,} receive and {transmit:,} transmit descriptors): packets are sent from the "
        "buffer they arrived in, so the receive ring cannot stay full while they are being sent. "
        f"Set queues.pool_buffers to {receive + transmit:,} or more, unless your real pool is this "
        "small."
    )


def _short_backlog(result: Record) -> Warned | None:
    """A warning if a backlog is shallower than requested: the NIC does not deliver enough."""
    traffic, spread = result.scenario.get("traffic") or {}, result.total_latency
    if traffic.get("kind") != "backlog" or spread is None:
        return None
    wanted = int(traffic["depth"]) * len(result.data.queues)
    # Little's law.
    there_are = result.data.packets.completed_mpps * spread.mean_ns / 1e3
    if there_are >= KEPT * wanted:
        return None
    text = (
        f"{three(there_are)} packets are waiting or in service on average, but the backlog should "
        f"be {wanted:,}: the NIC or the posted descriptors cannot keep up. Latencies are those of "
        "the shallower backlog."
    )
    return Warned(text, -there_are)


def _needless(result: Record) -> Warned | None:
    """A warning if senders send much again that has arrived, because they wait for too short."""
    transport = result.data.transport
    if transport is None or result.p99_rtt_ns is None:
        return None
    wrongly = senders.share(senders.taken_for_lost(transport), transport)
    if wrongly < NEEDLESS:
        return None
    least = result.scenario["traffic"]["recovery"]["min_timeout"]
    if result.p99_rtt_ns < nanoseconds(least):
        return None
    text = (
        f"{percent(wrongly)} of the packets were declared lost, but arrived: the p99 round trip is "
        f"{time(result.p99_rtt_ns)}, and a sender may wait for as little as "
        f"traffic.recovery.min_timeout = {least}. Its congestion control reacts to losses that are "
        "none. Set it to a longer time."
    )
    return Warned(text, wrongly)


def _unmarked(result: Record) -> Warned | None:
    """A warning if nothing marks packets for a control that waits for marks."""
    transport = result.data.transport
    if transport is None or not transport.hears_marks:
        return None
    marks = (result.scenario["traffic"]["network"], result.scenario["machine"]["nic"])
    if any(place.get("ecn_threshold") is not None for place in marks):
        return None
    return Warned(
        f"neither the switch nor the NIC marks packets, so {_control(result, hears=True)} reacts "
        "only to losses. Set traffic.network.ecn_threshold or machine.nic.ecn_threshold."
    )


def _unheard(result: Record) -> Warned | None:
    """A warning if the NIC marks packets for a congestion control that ignores marks."""
    transport = result.data.transport
    if transport is None or transport.hears_marks is not False:
        return None
    if result.scenario["machine"]["nic"].get("ecn_threshold") is None:
        return None
    return Warned(
        f"{_control(result, hears=False)} ignores ECN marks, so machine.nic.ecn_threshold changes "
        "nothing but the number of marks."
    )


def _control(result: Record, *, hears: bool) -> str:
    """The congestion control that reacts to marks or does not, as the scenario names it."""
    kinds = (
        table["kind"] for table, of in senders.with_controls(result) if of.hears_marks is hears
    )
    return f'the control "{next(kinds)}"'


def _all_marked(result: Record) -> Warned | None:
    """A warning if windows are near the minimum and nearly all packets are still marked."""
    transport = result.data.transport
    if transport is None or not transport.hears_marks:
        return None
    table, hearing = next(group for group in senders.with_controls(result) if group[1].hears_marks)
    least = table.get("min_cwnd")
    share = senders.marked_share(transport)
    if share < MARKED or least is None or hearing.mean_window > LEAST * least:
        return None
    rivals = sum(group.count for group in transport.by_group if group.hears_marks)
    many = rivals * len(result.data.queues) or len(transport.connections)
    by_nic = transport.marked_server > transport.marked
    what = "the NIC's SRAM" if by_nic else "the queue of the switch"
    text = (
        f"{percent(share)} of the packets are marked: {many:,} "
        f"connections near the minimum window of {least:g} packets keep {what} above the "
        f"threshold, and {_control(result, hears=True)} can slow down no further. To let it "
        "control the queue, use fewer senders or threads."
    )
    return Warned(text, share)


def _few_packets(result: Record) -> Warned | None:
    """A warning if the 99th percentile comes from too few packets."""
    spread = result.total_latency
    if spread is None or spread.count == 0:
        return None
    packets = spread.count
    whose, moves, enough = "the", "it", FEW_PACKETS
    if result.peak is not None:
        whose = "the peak's"
        moves = (
            "it, and the peak, by more than the search's resolution of "
            f"{_core.PEAK_RESOLUTION_PERCENT} %"
        )
        enough = ENOUGH_PACKETS
    if packets >= enough:
        return None
    enough_ns = result.data.measured_ns * enough / packets
    text = (
        f"{whose} 99th percentile comes from {packets:,} packets, of which only "
        f"{packets // 100} are above it: another seed may move {moves}. Set run.duration to "
        f"{ceil(enough_ns / 1e5) / 10:g} ms or more, to get {enough:,} packets."
    )
    return Warned(text, enough_ns)


def _premature_reads(result: Record) -> Warned | None:
    """A warning if an application read data that it had swept."""
    reads = result.data.reads_after_sweep
    if reads == 0:
        return None
    text = (
        f"an application has a bug: it relinquished data and read it afterwards, "
        f"{reads:,} time{'s' if reads > 1 else ''}. Such a read returns stale data. Relinquish a "
        "buffer only after the last read of it."
    )
    return Warned(text, reads)
