"""What makes the numbers of a run doubtful, a sentence each."""

from __future__ import annotations

from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.describe import senders
from nic2core.describe.warmup import short_warmup
from nic2core.scenario.quantity import gigabits, is_bit_rate, nanoseconds
from nic2core.words import percent, three, time

if TYPE_CHECKING:
    from nic2core.results.traffic import Packets
    from nic2core.run_record import Record

FULL = 0.998
"""Share of the time for which a link is busy that counts as full."""

SMOOTHED = 10
"""Frames for which packets wait before a link in the mean, from which on it makes other traffic of
theirs: bursts of twenty that come at once."""

ENOUGH_PACKETS = 10_000
"""Of a peak's run: a hundred of them lie above the 99th percentile, by which it is found."""

FEW_PACKETS = 1000
"""Of any other run: ten of them lie above the 99th percentile."""

SAMPLES = 30
"""Of a time series, from which on its thirds are means worth comparing."""

UNSETTLED = 0.25
"""Difference between the first and the last third of a run, of the larger, that is no chance."""

FILLING = 0.02
"""Share of the packets offered by which those in the server may grow while it is measured, and more
than come and go by bursts."""

MARKED = 0.9
"""Share of the packets that are marked, from which on a mark tells a sender nothing."""

LEAST = 1.5
"""Times the least window up to which the mean one is near it: some have just grown."""

KEPT = 0.8
"""Share of the depth of a backlog that is there in the mean where it is kept."""


def doubts(result: Record) -> list[str]:
    """The warnings that are due."""
    numbers = _no_arrival(result) or short_warmup(result)
    found = (
        numbers,
        _unsettled(result),
        _filling(result),
        _small_pool(result),
        _short_backlog(result),
        _unmarked(result),
        _unheard(result),
        _all_marked(result),
        _few_packets(result),
        _full_link(result) or _smoothed(result),
        _other_sizes(result),
        _premature_reads(result),
    )
    return [warning for warning in found if warning]


def _no_arrival(result: Record) -> str:
    """A warning if packets were to come and none came."""
    comes_ns = result.data.packets.next_arrival_ns
    if comes_ns is None:
        return ""
    end_ns = nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
    return (
        f"no packet arrived in the {time(result.data.measured_ns)} that were measured, "
        f"which end at {time(end_ns)}; the next comes at {time(comes_ns)}. Set run.duration so "
        "that it is measured."
    )


def _full_link(result: Record) -> str:
    """A warning if open-loop traffic leaves the link no time in which a queue could drain."""
    data, link = result.data, result.scenario["machine"]["nic"].get("link")
    demand = data.demand_mpps
    if link is None or demand is None or data.transport is not None:
        return ""
    wire = next((d for d in data.domains if d.domain == "wire"), None)
    if wire is None or wire.busy_ps < FULL * 1e3 * data.measured_ns:
        return ""
    if result.peak is not None:
        waits_ns = data.packets.link_wait_ns or 0.0
        return (
            f"the link of {link} is full at this peak: packets wait {time(waits_ns)} before it in "
            "the mean, and ever longer, which is in no latency and no objective. For latencies run "
            "the scenario at 99 % of the link."
        )
    offered = data.packets.offered_mpps
    beyond = (
        f"the traffic wants {demand:.3g} Mpps, and a link of {link} brings "
        f"{offered:.3g}: the rest waits at the senders and is counted nowhere"
        if demand > 1.01 * offered
        else f"the link of {link} is full"
    )
    return (
        f"{beyond}. A queue that has once formed never drains then, so latencies are "
        "those of the first microseconds. For latencies set traffic.rate to 99 % of the link at "
        "most."
    )


def _smoothed(result: Record) -> str:
    """A warning if a link spreads the bursts of the traffic: the wait is in no latency."""
    traffic, packets = result.scenario.get("traffic") or {}, result.data.packets
    bursts = traffic.get("kind") in {"bursts", "replay"}
    if not bursts or packets.link_wait_ns is None or packets.offered == 0:
        return ""
    link, wait_ns = result.scenario["machine"]["nic"]["link"], packets.link_wait_ns
    frame_ns = _wire_bits(packets) / gigabits(link)
    if wait_ns < SMOOTHED * frame_ns:
        return ""
    return (
        f"bursts come faster than the link of {link} carries them: packets wait "
        f"{time(wait_ns)} before it in the mean, which is in no latency and no objective, and "
        "reach the server one after the other. Latencies are those of such smoothed traffic; a "
        "capture whose own bursts shall come needs a lower traffic.rate, or its own times."
    )


def _wire_bits(packets: Packets) -> float:
    """Bits of the mean packet on the wire, of those that came."""
    return packets.offered_gbps * 1e3 / packets.offered_mpps + 8 * _core.WIRE_OVERHEAD_BYTES


def _other_sizes(result: Record) -> str:
    """A warning if a capture is to fill so much of a link and its packets come in other sizes."""
    traffic, packets = result.scenario["traffic"], result.data.packets
    rate = (traffic or {}).get("rate")
    drawn = any(t["app"].get("requests") == "drawn" for t in result.scenario["tenants"])
    # The rate of a peak is that which the search has found.
    if rate is None or result.peak is not None or traffic["kind"] != "replay" or not drawn:
        return ""
    if not is_bit_rate(rate) or packets.offered == 0:
        return ""
    carried = packets.offered_mpps * _wire_bits(packets) / 1e3
    return (
        f"the capture's times are stretched so that its own packets would be {rate}, and "
        f"the packets come in the sizes of drawn requests, {carried:.3g} Gbps (app.requests = "
        '"drawn"). Set tenants.N.app.requests to "from-size" for the sizes of the capture.'
    )


def _unsettled(result: Record) -> str:
    """A warning if the goodput of closed-loop senders was still rising or falling."""
    column = next((c for c in result.data.series.columns if c.name == "goodput"), None)
    if column is None or len(column.values) < SAMPLES:
        return ""
    third = len(column.values) // 3
    first, last = fmean(column.values[:third]), fmean(column.values[-third:])
    if abs(last - first) <= UNSETTLED * max(first, last):
        return ""
    end_ns = nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
    return (
        f"the goodput went from {three(first)} to {three(last)} {column.unit} while it "
        "was measured: the senders' windows had not settled, and all numbers are means of that. "
        f"Set run.warmup to {ceil(end_ns / 1e5) / 10:g} ms or more."
    )


def _filling(result: Record) -> str:
    """A warning if ever more packets were in the server: its rings were filling."""
    packets = result.data.packets
    begin, end = packets.in_flight_begin, packets.in_flight_end
    bursts = int(result.scenario["queues"]["burst"]) * len(result.data.queues)
    few = max(FILLING * packets.offered, bursts)
    if result.data.transport is not None or end - begin <= few:
        return ""
    full_ns = nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
    room = int(result.scenario["queues"]["rx_descriptors"]) * len(result.data.queues) - end
    full_ns += max(0.0, room) / (end - begin) * result.data.measured_ns
    return (
        f"the packets in the server grew from {begin:,} to {end:,} of {packets.offered:,} "
        "that came: its rings were filling, and drops and latencies were not yet those of full "
        f"ones. Set run.warmup to {ceil(full_ns / 1e5) / 10:g} ms or more."
    )


def _small_pool(result: Record) -> str:
    """A warning if packets that are being sent take the buffers that a full receive ring needs."""
    queues, tenants = result.scenario["queues"], result.scenario["tenants"]
    # What an l2fwd sends is what it has received.
    in_place = [t for t in tenants if t["app"]["kind"] == "l2fwd"]
    in_place += [t for t in tenants if t["app"].get("transmit") == "zero-copy"]
    receive, transmit = int(queues["rx_descriptors"]), int(queues["tx_descriptors"])
    buffers = int(queues.get("pool_buffers") or receive)
    if not in_place or not result.scenario.get("traffic") or buffers >= receive + transmit:
        return ""
    return (
        f"the pool of a core has {buffers:,} buffers, and the rings need {receive + transmit:,} "
        f"({receive:,} receive and {transmit:,} transmit descriptors): packets are sent from the "
        "buffer that they came in, so that the receive ring cannot stay full while they are. Set "
        f"queues.pool_buffers to {receive + transmit:,} or more, unless your pool is as small."
    )


def _short_backlog(result: Record) -> str:
    """A warning if a backlog is not as deep as it should be: the NIC does not bring enough."""
    traffic, spread = result.scenario.get("traffic") or {}, result.total_latency
    if traffic.get("kind") != "backlog" or spread is None:
        return ""
    wanted = int(traffic["depth"]) * len(result.data.queues)
    # Little's law.
    there_are = result.data.packets.completed_mpps * spread.mean_ns / 1e3
    if there_are >= KEPT * wanted:
        return ""
    return (
        f"{three(there_are)} packets are waiting or in service in the mean, and the "
        f"backlog is to be {wanted:,}: the NIC, or the descriptors that are posted, bring no more. "
        "Latencies are of what is there."
    )


def _unmarked(result: Record) -> str:
    """A warning if DCTCP hears of no queue: it then answers to losses alone."""
    traffic = result.scenario.get("traffic") or {}
    if traffic.get("control", {}).get("kind") != "dctcp":
        return ""
    marks = (traffic["network"], result.scenario["machine"]["nic"])
    if any(place.get("ecn_threshold") is not None for place in marks):
        return ""
    return (
        "neither the switch nor the NIC marks packets, so DCTCP hears of losses alone. Set "
        "traffic.network.ecn_threshold or machine.nic.ecn_threshold."
    )


def _unheard(result: Record) -> str:
    """A warning if the NIC marks packets for a control that does not hear of marks."""
    traffic = result.scenario.get("traffic") or {}
    if traffic.get("control", {}).get("kind") != "swift":
        return ""
    if result.scenario["machine"]["nic"].get("ecn_threshold") is None:
        return ""
    return (
        "Swift goes by delays and losses and does not hear of marks, so that "
        "machine.nic.ecn_threshold changes nothing but their count."
    )


def _all_marked(result: Record) -> str:
    """A warning if DCTCP's windows are at their least and nearly all packets are still marked."""
    transport, traffic = result.data.transport, result.scenario.get("traffic") or {}
    control = traffic.get("control", {})
    if transport is None or control.get("kind") != "dctcp":
        return ""
    share = senders.marked_share(transport)
    if share < MARKED or transport.mean_window > LEAST * control["min_cwnd"]:
        return ""
    by_nic = transport.marked_server > transport.marked
    who, what = ("the NIC", "its SRAM") if by_nic else ("the switch", "its queue")
    return (
        f"{who} marks {percent(share)} of the packets: {len(transport.connections):,} "
        f"connections with windows of {control['min_cwnd']:g} packets at least hold {what} "
        "above the threshold, and DCTCP can slow down no further. Fewer senders or threads, or a "
        "smaller traffic.control.min_cwnd, let it control the queue."
    )


def _few_packets(result: Record) -> str:
    """A warning if the 99th percentile rests on few packets."""
    spread = result.total_latency
    if spread is None or spread.count == 0:
        return ""
    packets = spread.count
    whose, moves, enough = "the", "it", FEW_PACKETS
    if result.peak is not None:
        whose = "the peak's"
        moves = f"it, and the peak, by more than the search's {_core.PEAK_RESOLUTION_PERCENT} %"
        enough = ENOUGH_PACKETS
    if packets >= enough:
        return ""
    enough_ns = result.data.measured_ns * enough / packets
    return (
        f"{whose} 99th percentile is of {packets:,} packets, of which only "
        f"{packets // 100} are above it: another seed may move {moves}. Set run.duration to "
        f"{ceil(enough_ns / 1e5) / 10:g} ms or more, for {enough:,}."
    )


def _premature_reads(result: Record) -> str:
    """A warning if an application read what it had swept."""
    reads = result.data.reads_after_sweep
    if reads == 0:
        return ""
    return (
        f"an application has a bug: it relinquished data and read it afterwards, "
        f"{reads:,} time{'s' if reads > 1 else ''}. What it reads is old. It has to relinquish "
        "a buffer after its last read of it."
    )
