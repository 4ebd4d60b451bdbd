"""How each domain of the path was used: credits, occupancy, latency, and the rate it allows."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core.explain.queues import NOTICED, by_queue, fullest, shortest
from nic2core.scenario.quantity import LINE_BYTES

if TYPE_CHECKING:
    from nic2core.results.models import Domain, Results, TenantResults

ONLY_INFORMS = ("io-ways", "home-trackers", "read-queue", "write-queue", "dram", "socket-link")
"""Domains whose use alone does not show a limit: the I/O ways evict; home trackers go to whoever
asks first, and limit those who wait for one; for memory, only the fullest part counts, as `dram`;
and the inter-socket link may be used by others."""


BEHIND = 0.5
"""Share of a receive ring filled with packets that wait for their core, from which the core is the
cause of the queue."""

MEMORY = ("dram", "read-queue")
"""What can be full of the memory. With random rows, the queues are long before the bus."""

COMES_IN_BURSTS = frozenset({"bursts", "replay"})
"""Traffic whose rate in a span of time may be far from its mean."""

FULL_LINK = 0.998
"""Share of time busy from which a link counts as full."""

DISPATCH = "dispatch"
"""The domain of what gives packets to cores: RSS. Its credits are the cores, all of which count as
busy while the busiest is."""

EVEN = 0.8
"""Mean busy time of the cores over that of the busiest, and the same of the packets that come for
them, up to which the dispatch is the cause."""

MORE = 1.1
"""A core's packets over the mean, from which it gets clearly more."""

WRITE_CREDITS = ("posted-credits", "io-credits")
"""Domains of which each DMA write holds credits: TLPs and lines."""


@dataclass(frozen=True)
class Use:
    """One domain, in the terms of Little's law: rate = credits in use / latency."""

    name: str
    unit: str
    credits: int
    occupancy: float
    """Mean number of credits in use."""
    latency_ns: float
    """Mean time for which a credit is held."""
    uses_per_us: float
    """Credits taken, in millions per second."""
    uses_per_work: float
    """Credits taken for each piece of work."""
    starved: float
    """Share of time in which something waited and no credit was free, 0 to 1."""
    own_ns: float
    """`latency_ns` without waits for others, where these are known, and of transmit descriptors
    without the wait for others of a completion. Longer for credits of DMA writes: data that waits
    for PCIe could hold them, and would if the link were faster."""
    allows_mps: float
    """Work that all credits would carry if each were held for `own_ns`, millions per second."""
    load: float
    """Load, 0 to 1: for cores that of the busiest unless the dispatch is the cause of it, for reads
    of descriptors by what they return."""
    shared: bool = False
    """Whether cores that work on something else hold some credits, so `allows_mps` is no rate."""
    core: int | None = None
    """The core with the fullest queue, if each queue has its own credits."""
    short_core: int | None = None
    """The core whose queue allows the lowest rate, to which `own_ns` and `uses_per_work` refer:
    usually the same, but the fullest queue may be full of packets that wait for its core."""


def work(data: Results) -> tuple[float, str]:
    """The rate that measures the run, in millions per second, and its unit."""
    if data.packets.offered > 0:
        return data.packets.completed_mpps, "packets"
    if data.dma is not None:
        return data.dma.transactions / data.measured_ns * 1e3, "transactions"
    return sum(_accesses(t) for t in data.tenants), "accesses"


def _accesses(tenant: TenantResults) -> float:
    """Accesses of a memory benchmark, millions per second; STREAM's bytes count in whole lines."""
    streams = tenant.stream_gbytes_per_s_by_core is not None
    return tenant.progress_mps / (LINE_BYTES if streams else 1)


def link_of_arrivals(data: Results) -> Domain | None:
    """The network link, if what arrives keeps it as busy as what is sent, or busier."""
    wire = data.by_domain.get("wire")
    return wire if wire is not None and wire.uses == data.packets.offered else None


def link_is_full(data: Results) -> bool:
    """Whether the network link is busy all the time."""
    wire = data.by_domain.get("wire")
    return wire is not None and wire.busy_ps >= FULL_LINK * 1e3 * data.measured_ns


def read_back(data: Results) -> int:
    """Lines of received packets that cores had to read from memory."""
    return next((c.lines for c in data.memory.causes if c.cause == "cpu-rx-rd"), 0)


def serves(data: Results, tenant: dict[str, Any]) -> bool:
    """Whether a tenant of the scenario serves packets: its cores have queues."""
    cores = tenant["cores"]
    return cores["count"] > 0 and any(q.core == cores["first"] for q in data.queues)


def buffers_are_remote(scenario: dict[str, Any]) -> bool:
    """Whether packets lie in the other socket's memory; a DMA benchmark's window never does."""
    remote: bool = scenario["queues"].get("memory") == "remote"
    return remote and scenario.get("dma_bench") is None


def neighbours(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether there are cores that work on something other than packets."""
    return any(t["cores"]["count"] > 0 and not serves(data, t) for t in scenario["tenants"])


def one(what: str) -> str:
    """The singular of the unit that `work` returns."""
    return "access" if what == "accesses" else what.removesuffix("s")


def uneven(data: Results) -> bool:
    """Whether RSS gives some cores much more packets than others, and these are much fuller.

    Where the application of some takes longer, that is not because of RSS. Connections do not come
    by it.
    """
    time, came = data.core_time, [queue.offered for queue in data.queues]
    if data.transport is not None or not came:
        return False
    most = EVEN * len(came)
    return 0 < time.busy_ps <= most * time.busiest_ps and sum(came) <= most * max(came)


def busiest_share(data: Results) -> float:
    """The most packets that RSS gives a core, over the mean; 1 if none came."""
    came = [queue.offered for queue in data.queues]
    return max(came) * len(came) / sum(came) if any(came) else 1.0


def one_gets_more(data: Results) -> bool:
    """Whether RSS gives some core clearly more packets than the mean."""
    return busiest_share(data) > MORE


def uses(data: Results, scenario: dict[str, Any]) -> list[Use]:
    """Every domain of a run of this scenario, in path order."""
    found = [_use(data, scenario, d) for d in data.domains]
    dispatch = _dispatch(data)
    if dispatch is not None:
        # In front of the cores and their registers.
        place = next(n for n, use in enumerate(found) if use.name == "miss-registers")
        found.insert(place, dispatch)
    return found


def _dispatch(data: Results) -> Use | None:
    """The dispatch of packets to several cores by RSS, if any came."""
    packets, queues, span = data.packets.completed, len(data.queues), data.measured_ns
    load = data.core_time.busiest_ps / 1e3 / span
    if queues < 2 or packets == 0 or load == 0 or data.transport is not None:
        return None
    held = queues * load * span / packets
    return Use(
        name=DISPATCH,
        unit="core",
        credits=queues,
        occupancy=queues * load,
        latency_ns=held,
        uses_per_us=packets / span * 1e3,
        uses_per_work=1.0,
        starved=0.0,
        own_ns=held,
        allows_mps=queues / held * 1e3,
        load=min(1.0, load),
    )


def brought(data: Results, scenario: dict[str, Any], core: int | None) -> float:
    """Mean number of descriptors that a send queue's reads return.

    Reads count when they begin and descriptors when their packets are sent, so what is read before
    the measured time and sent in it would make it more than a read can return.
    """
    queue = next(q for q in data.queues if q.core == core)
    most = float(scenario["machine"]["nic"]["tx_descriptor_batch"])
    return min(most, queue.sent / (queue.tx_fetches or 1))


def gathering(scenario: dict[str, Any]) -> float:
    """Mean number of a send queue's descriptors whose packets wait for others of their completion.

    A completion is written for several packets, so at any rate half of them have been sent and
    wait, for as long as the others take to come.
    """
    return (int(scenario["queues"]["tx_completion_batch"]) - 1) / 2


def descriptor_reads(data: Results, scenario: dict[str, Any]) -> float:
    """The load of the reads of receive descriptors.

    A queue has one read in flight at a time, which could return a whole batch: a read that returned
    less found no more posted. Also, the NIC takes packets in order: while the first waits for such
    a read, those of other queues wait too. The rest is time in which its link is busy or it waits
    for credits. If reads wait for tags, the tags are the limit, and not these reads.

    A queue whose ring is full of packets that wait for their core has little to read because of
    that core, and packets that wait for its reads would otherwise wait in the ring.
    """
    by_name = data.by_domain
    reads = by_name["rx-fetches"]
    span_ps = data.measured_ns * 1e3
    batch: int = scenario["machine"]["nic"]["descriptor_batch"]
    full = min(1.0, sum(q.received for q in data.queues) / (batch * (reads.uses or 1)))
    ring: int = scenario["queues"]["rx_descriptors"]
    ahead = [q for q in data.queues if q.rx_waited_ps < BEHIND * ring * span_ps]
    queues = (
        q.rx_fetching_ps * min(1.0, q.received / (batch * (q.rx_fetches or 1))) for q in ahead
    )
    load = max(queues, default=0.0)
    link_ps = (data.io.link_up_ps or 0) if data.io is not None else 0
    credits_ps = max(by_name[n].starved_ps for n in WRITE_CREDITS if n in by_name)
    waited_ps = reads.starved_ps * len(ahead) / (len(data.queues) or 1)
    all_ps = waited_ps + link_ps + credits_ps
    tags_ps = by_name["read-tags"].starved_ps if "read-tags" in by_name else 0
    if waited_ps > NOTICED * all_ps and tags_ps < NOTICED * span_ps:
        load = max(load, full * all_ps)
    return min(1.0, load / span_ps)


def _use(data: Results, scenario: dict[str, Any], d: Domain) -> Use:
    rate, _ = work(data)
    span = data.measured_ns
    there_are, taken, core, short_core = d.credits, d.uses, None, None
    own_taken, busy_ps, own_ps = d.uses, d.busy_ps, _own_ps(data, d)
    queues = by_queue(data, d)
    if queues:
        full, short = fullest(queues), shortest(queues)
        there_are, taken, core, busy_ps = full.credits, full.uses, full.core, full.busy_ps
        own_taken, short_core, own_ps = short.uses, short.core, short.own_ps
    latency = busy_ps / 1e3 / taken if taken else 0.0
    own = own_ps / 1e3 / own_taken if own_taken else 0.0
    if d.domain == "tx-descriptors" and own_taken:
        own = max(0.0, own - gathering(scenario) * span / own_taken)
    per_us = taken / span * 1e3
    per_work = own_taken / span * 1e3 / rate if rate > 0 else 0.0
    occupancy = busy_ps / 1e3 / span
    if d.domain == "home-trackers":
        # The other lines of a DMA read count as taking one even if none is free: cap the number.
        occupancy = min(occupancy, float(there_are))
    load = occupancy / there_are if there_are else 0.0
    if d.domain == "cores" and data.queues and not uneven(data):
        load = data.core_time.busiest_ps / 1e3 / span
    if d.domain == "tx-fetches":
        load *= brought(data, scenario, core) / scenario["machine"]["nic"]["tx_descriptor_batch"]
    if d.domain == "rx-fetches":
        load = descriptor_reads(data, scenario)
    if d.domain == "wire":
        # The wire carries everything that is offered, dropped or not.
        per_work = 1.0
    beside = data.packets.offered > 0 and neighbours(data, scenario)
    return Use(
        name=d.domain,
        unit=d.unit,
        credits=there_are,
        occupancy=occupancy,
        latency_ns=latency,
        uses_per_us=per_us,
        uses_per_work=per_work,
        starved=d.starved_ps / 1e3 / span,
        own_ns=own,
        allows_mps=there_are / (own * per_work) * 1e3 if own * per_work > 0 else inf,
        load=min(1.0, load),
        shared=d.domain in ONLY_INFORMS and beside,
        core=core,
        short_core=short_core,
    )


def _own_ps(data: Results, d: Domain) -> float:
    """The time for which credits are held, without waits for a later domain that is full.

    A packet in the SRAM waits for the first of its write credits: with more room it would only wait
    longer. A line to be written waits for PCIe before it holds its credits.
    """
    if d.domain in WRITE_CREDITS:
        by_name = data.by_domain
        waits_ps = by_name["pcie"].holds_writes_ps if "pcie" in by_name else 0
        return d.busy_ps + waits_ps * d.uses / (by_name["io-credits"].uses or 1)
    if d.domain != "nic-sram":
        return d.busy_ps
    nic = next((s.distribution.mean_ns for s in data.latency if s.stage == "nic"), 0.0)
    return max(0.0, d.busy_ps - nic * 1e3 * d.uses)
