"""Warnings about traffic that is not offered as the scenario says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.describe.doubts.warned import Warned
from nic2core.explain.use import COMES_IN_BURSTS, link_is_full, link_of_arrivals
from nic2core.scenario.quantity import gigabits, is_bit_rate, nanoseconds
from nic2core.words import at_least, percent, three, time

if TYPE_CHECKING:
    from nic2core.results.models import Packets
    from nic2core.run_record import Record

SMOOTHED = 10
"""Mean wait before a link, in frames, from which the link reshapes the traffic: that of bursts of
twenty packets arriving at once."""

ASKED = 0.995
"""Share of what a link carries up to which what is asked for leaves it time to drain a queue."""

KEPT = 0.8
"""Mean depth of a backlog, as a share of the requested depth, from which it counts as kept."""


def full_link(result: Record) -> Warned | None:
    """A warning if open-loop traffic leaves the link no time to drain a queue."""
    data, link = result.data, result.scenario["machine"]["nic"].get("link")
    demand = data.demand_mpps
    if link is None or demand is None or data.transport is not None:
        return None
    # A search calls it full somewhat sooner.
    ends_search = result.peak is not None and result.peak.failed_by == "link"
    if not (ends_search or link_is_full(data)):
        return None
    if result.peak is not None:
        waits_ns = data.packets.link_wait_ns or 0.0
        text = (
            f"the {link} link is full at this peak. The search found that by offering more, so "
            f"packets waited {time(waits_ns)} before the link on average, and ever longer. Neither "
            "latencies nor the objective include this wait. For latencies with it, run the "
            "scenario at 99 % of the link rate."
        )
        return Warned(text, waits_ns)
    offered = data.packets.offered_mpps
    wire = data.by_domain["wire"]
    carries = 1e6 * wire.uses / wire.busy_ps
    sends = link_of_arrivals(data) is None
    if sends and data.packets.drop_share == 0 and demand < ASKED * carries:
        return _draining(result, demand, carries)
    beyond = (
        f"the traffic asks for {three(demand)} Mpps, but the {link} link delivers only "
        f"{three(offered)}: the rest waits at the senders and is not counted"
        if demand > 1.01 * offered
        else f"the {link} link is full"
    )
    latencies = (
        "Packets are dropped, so latencies are those of full buffers."
        if data.packets.drop_share > 0
        else "On a full link, a queue never drains once it has formed, so latencies are those of "
        "the first microseconds."
    )
    text = (
        f"{beyond}. {latencies} For meaningful latencies, set traffic.rate to at most "
        "99 % of the link rate."
    )
    return Warned(text, demand - offered)


def _draining(result: Record, demand: float, carries: float) -> Warned:
    """A warning that a link with room is full of what had queued before: the warm-up is short."""
    data, link = result.data, result.scenario["machine"]["nic"]["link"]
    queued = sum(q.tx_busy_ps for q in data.queues) / (data.measured_ns * 1e3)
    drains_ns = queued / (carries - demand) * 1e3
    enough_ns = nanoseconds(result.scenario["run"]["warmup"]) + drains_ns
    text = (
        f"the {link} link is full although the traffic asks for {percent(demand / carries)} of it: "
        f"{queued:,.0f} packets on average wait to be sent that had queued before, and latencies "
        f"are those of that queue. It takes some {time(drains_ns)} to drain: set run.warmup to "
        f"{at_least(enough_ns)} or more."
    )
    return Warned(text, drains_ns)


def smoothed(result: Record) -> Warned | None:
    """A warning if a link spreads out bursts: latencies do not include the wait before it."""
    traffic, packets = result.scenario.get("traffic") or {}, result.data.packets
    if (
        traffic.get("kind") not in COMES_IN_BURSTS
        or packets.link_wait_ns is None
        or packets.offered == 0
    ):
        return None
    link, wait_ns = result.scenario["machine"]["nic"]["link"], packets.link_wait_ns
    wire_bits = _wire_bits(packets)
    if wait_ns < SMOOTHED * wire_bits / gigabits(link):
        return None
    busy = _busy_in_bursts(result, wire_bits / gigabits(link))
    faster = (
        f"bursts come faster than the {link} link can carry them"
        if busy is None or busy > 1
        else f"the {link} link is {percent(busy)} busy while a burst lasts, and packets of several "
        "sizes come unevenly"
    )
    text = (
        f"{faster}: packets wait {time(wait_ns)} before it on average and reach the server one "
        "after the other. Neither latencies nor the objective include this wait, and latencies are "
        f"those of the smoothed traffic.{_to_keep_bursts(result)}"
    )
    return Warned(text, wait_ns)


def _busy_in_bursts(result: Record, frame_ns: float) -> float | None:
    """Share of the time that on/off bursts would keep the link busy while they last."""
    traffic, demand = result.scenario["traffic"], result.data.demand_mpps
    if traffic["kind"] != "bursts" or demand is None:
        return None
    on, off = (nanoseconds(traffic[key]) for key in ("on", "off"))
    return demand * (on + off) / on * frame_ns / 1e3


def _to_keep_bursts(result: Record) -> str:
    """How traffic would reach the server as it is described."""
    if result.scenario["traffic"]["kind"] == "bursts":
        return " A lower traffic.rate leaves bursts as they are."
    return (
        " To keep a capture's own bursts, lower traffic.rate; without that key in the scenario "
        "file, the capture's own timing is replayed."
    )


def _wire_bits(packets: Packets) -> float:
    """Mean bits on the wire per packet that arrived."""
    return packets.offered_gbps * 1e3 / packets.offered_mpps + 8 * _core.WIRE_OVERHEAD_BYTES


def other_sizes(result: Record) -> Warned | None:
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
        f'have the sizes of drawn requests (app.requests = "drawn"), which carry {three(carried)} '
        'Gbps. Set tenants.N.app.requests to "from-size" to use the capture\'s sizes.'
    )
    return Warned(text, abs(carried / gigabits(rate) - 1))


def short_backlog(result: Record) -> Warned | None:
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
