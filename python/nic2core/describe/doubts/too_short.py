"""Warnings about a run that is too short, or measured before it had settled."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.describe import senders, slowdowns
from nic2core.describe.doubts.times import end_of
from nic2core.describe.doubts.warned import Warned
from nic2core.explain.asked import of_groups
from nic2core.scenario.closed_loop import groups, measured_there
from nic2core.scenario.quantity import nanoseconds, size_text
from nic2core.scenario.queues import room_to_send
from nic2core.words import at_least, count, three, time

if TYPE_CHECKING:
    from nic2core.run_record import Record

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

ONLY_GROWING = 0.02
"""The same where no window was cut, so that it is no part of a sawtooth."""

FILLING = 0.02
"""Growth of the packets in the server during the measurement, as a share of those offered, that is
still normal; bursts alone may cause more."""

FILLING_AT_PEAK = 0.005
"""The same for a peak, whose rate is known to 1 %."""


def no_arrival(result: Record) -> Warned | None:
    """A warning if traffic was configured but no packet arrived."""
    comes_ns = result.data.packets.next_arrival_ns
    if comes_ns is None:
        return None
    end_ns = end_of(result)
    # Long after the start, the two times may read the same.
    alike = time(comes_ns) == time(end_ns)
    comes = f"{time(comes_ns - end_ns)} later" if alike else f"at {time(comes_ns)}"
    text = (
        f"no packet arrived in the {time(result.data.measured_ns)} measured, which end at "
        f"{time(end_ns)}; the next comes {comes}. Increase run.duration to include it."
    )
    return Warned(text, comes_ns)


def no_completion(result: Record) -> Warned | None:
    """A warning if packets were on their way, but the measured time was too short for any."""
    packets = result.data.packets
    # Packets of closed-loop senders may not have reached the server.
    still = packets.in_flight_end
    if packets.completed or not (still or result.data.transport is not None):
        return None
    on_the_way = f", with {count(still, 'packet')} on the way at its end" if still else ""
    return Warned(
        f"no packet completed in the {time(result.data.measured_ns)} measured{on_the_way}. "
        "Increase run.duration."
    )


def long_pauses(result: Record) -> Warned | None:
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


def few_reads(result: Record) -> Warned | None:
    """A warning if the 99th percentile of whole reads comes from too few of them."""
    transport = result.data.transport
    # Where slowdowns are told, they are what counts.
    if transport is None or slowdowns.ends(result.data) is not None:
        return None
    if not result.data.packets.completed or long_pauses(result) is not None:
        return None
    both = zip(groups(result.scenario["traffic"]), of_groups(transport), strict=True)
    run = result.scenario["run"]
    of = [(group, results) for group, results in both if measured_there(group, run)]
    group, least = min(of, key=lambda found: found[1].read_latency.count, default=(None, None))
    if group is None or least is None or least.read_latency.count >= FEW_READS:
        return None
    reads, measured = least.read_latency.count, time(result.data.measured_ns)
    if not reads:
        return Warned(
            f"no whole read of {group.senders:,} senders was completed in the {measured} measured. "
            "Increase run.duration."
        )
    enough_ns = result.data.measured_ns * FEW_READS / reads
    return Warned(
        f"the 99th percentile of whole reads of {group.senders:,} senders is the largest of "
        f"{count(reads, 'read')}, which take {time(least.read_latency.mean_ns)} each: another seed "
        f"may move it. Set run.duration to {at_least(enough_ns)} or more, to get {FEW_READS} of "
        "them.",
        enough_ns,
    )


def never_there(result: Record) -> Warned | None:
    """A warning if rivals begin only after the run has ended."""
    transport, run = result.data.transport, result.scenario["run"]
    if transport is None:
        return None
    end_ns = nanoseconds(run["warmup"]) + nanoseconds(run["duration"])
    late = [of for of in groups(result.scenario["traffic"]) if of.start_ns >= end_ns]
    if not late:
        return None
    return Warned(
        f"the rivals never send: traffic.rivals.start is {time(late[0].start_ns)}, and the run "
        f"ends at {time(end_ns)}. Mean windows are over them as well."
    )


def few_of_a_size(result: Record) -> Warned | None:
    """A warning if a 99th percentile of the slowdown comes from too few reads of a size."""
    ends = slowdowns.ends(result.data)
    if ends is None:
        return None
    least = min((ends.shortest, ends.longest), key=lambda of: of.latency.count)
    reads = least.latency.count
    if reads >= FEW_READS:
        return None
    enough_ns = result.data.measured_ns * FEW_READS / reads
    return Warned(
        f"the 99th percentile of reads of {size_text(least.bytes)} is the largest of "
        f"{count(reads, 'read')}: another seed may move it. Set run.duration to "
        f"{at_least(enough_ns)} or more, to get {FEW_READS} of them.",
        enough_ns,
    )


def unsettled(result: Record) -> Warned | None:
    """A warning if goodput or windows of closed-loop senders were still rising or falling."""
    transport = result.data.transport
    # Where a stage is full, windows and queues may change while the goodput does not.
    means = {"goodput": ("goodput", UNSETTLED), "window": ("mean window", UNSETTLED)}
    asked = groups(result.scenario["traffic"]) if transport is not None else []
    run = result.scenario["run"]
    if any(0 < measured_there(group, run) < 1 for group in asked):
        # Rivals that come or go are meant to change it.
        return None
    if any(group.load_gbps is not None for group in asked):
        # Goodput is what was wanted, and most windows belong to connections that wait for a read.
        return None
    if any(group.think_ns for group in asked):
        # Pauses may set the goodput while windows still grow, and reads become faster.
        means["window"] = ("mean window", GROWING)
    for column in (c for c in result.data.series.columns if c.name in means):
        name, allowed = means[column.name]
        values = [value for value in column.values if value is not None]
        if len(values) < SAMPLES:
            continue
        third = len(values) // 3
        first, last = fmean(values[:third]), fmean(values[-third:])
        if abs(last - first) <= allowed * max(first, last):
            continue
        text = (
            f"the {name} went from {three(first)} to {three(last)} {column.unit} during the "
            "measurement: the senders' windows had not settled, and all numbers average over the "
            f"change. Set run.warmup to {at_least(end_of(result))} or more."
        )
        return Warned(text, abs(last - first) / max(first, last))
    return None


def windows_grow(result: Record) -> Warned | None:
    """A warning if the windows of closed-loop senders only grew: nothing has stopped them yet."""
    transport = result.data.transport
    if transport is None or any(senders.cut_packets(transport).values()):
        return None
    column = next((c for c in result.data.series.columns if c.name == "window"), None)
    values = [v for v in (column.values if column is not None else []) if v is not None]
    if len(values) < 2 or values[-1] <= (1 + ONLY_GROWING) * values[0]:
        return None
    text = (
        f"no window was cut in the {time(result.data.measured_ns)} measured, and the mean window "
        f"grew from {three(values[0])} to {three(values[-1])} packets: what it will come to is not "
        f"seen yet, nor are the delays and drops there. Set run.warmup to "
        f"{at_least(end_of(result))} or more."
    )
    return Warned(text, values[-1] / values[0])


def filling(result: Record) -> Warned | None:
    """A warning if the number of packets in the server kept growing: its rings were filling."""
    packets = result.data.packets
    begin, end = packets.in_flight_begin, packets.in_flight_end
    if result.data.transport is not None or not _grew(result, begin, end):
        return None
    grew = (
        f"the number of packets in the server grew from {begin:,} to {end:,} while "
        f"{packets.offered:,} arrived"
    )
    if result.peak is not None:
        text = (
            f"{grew}: the server may not keep up with this rate for long. Increase run.duration "
            "for a peak that it can sustain."
        )
        return Warned(text, end - begin)
    full_ns = _full_ns(result, begin, end, int(result.scenario["queues"]["rx_descriptors"]))
    text = (
        f"{grew}: its rings were still filling, so drops and latencies are not yet those of full "
        f"rings. Set run.warmup to {at_least(full_ns)} or more."
    )
    return Warned(text, full_ns)


def sending_queue_fills(result: Record) -> Warned | None:
    """A warning if cores give the NIC more packets to send than it sends."""
    packets = result.data.packets
    begin, end = packets.unsent_begin, packets.unsent_end
    if result.data.transport is not None or not _grew(result, begin, end):
        return None
    full_ns = _full_ns(result, begin, end, room_to_send(result.scenario["queues"]))
    text = (
        f"the number of packets that wait to be sent grew from {begin:,} to {end:,}: the NIC sends "
        "fewer than the cores complete, which they can do until transmit queues are full. Set "
        f"run.warmup to {at_least(full_ns)} or more."
    )
    return Warned(text, full_ns)


def _grew(result: Record, begin: int, end: int) -> bool:
    """Whether a number of packets in the server grew by more than is normal."""
    share = FILLING if result.peak is None else FILLING_AT_PEAK
    bursts = int(result.scenario["queues"]["burst"]) * len(result.data.queues)
    return end - begin > max(share * result.data.packets.offered, bursts)


def _full_ns(result: Record, begin: int, end: int, room: int) -> float:
    """When all queues that have room for so many packets will be full if this goes on."""
    left = room * len(result.data.queues) - end
    return end_of(result) + max(0.0, left) / (end - begin) * result.data.measured_ns


def few_packets(result: Record) -> Warned | None:
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
    above = packets // 100
    are_above = {0: "none is", 1: "only one is"}.get(above, f"only {above} are")
    text = (
        f"{whose} 99th percentile comes from {packets:,} packets, of which {are_above} above it: "
        f"another seed may move {moves}. Set run.duration to {at_least(enough_ns)} or more, to get "
        f"{enough:,} packets."
    )
    return Warned(text, enough_ns)
