"""Where DMA credits, and the turns of send queues, spend their time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nic2core.explain.memory import behind_llc_ns
from nic2core.explain.model import FULL, LINKS, Pool
from nic2core.explain.queues import NOTICED
from nic2core.explain.uncore import llc_ns, trip_ns
from nic2core.explain.use import buffers_are_remote, gathering
from nic2core.scenario.quantity import LINE_BYTES, nanoseconds, size_bytes

if TYPE_CHECKING:
    from nic2core.explain.use import Use
    from nic2core.results.models import Domain, Results


def writes(
    scenario: dict[str, Any], by_name: dict[str, Use], domains: dict[str, Domain], name: str
) -> Pool:
    """Credits of DMA writes: on the link, at the IOMMU, waiting for a full memory, in transit."""
    machine, pool = scenario["machine"], by_name[name]
    lines = domains["io-credits"].uses

    def wait(name: str) -> float:
        return domains[name].holds_writes_ps / 1e3 / lines if name in domains else 0.0

    pcie = machine.get("pcie")
    # The time of a write that waits for nothing: to the memory system, the LLC, and back.
    way = (
        nanoseconds(pcie["latency"]) + nanoseconds(pcie["credit_return"])
        if pcie
        else trip_ns(machine)
    )
    way += llc_ns(machine)
    # A line keeps its credit until its channel has room for it; its TLP credit is free by then.
    late = wait("dram") if pool.name == "io-credits" else 0.0
    # Writes to the other socket wait for the link to it, if that is fuller than the memory.
    link = by_name.get("socket-link")
    behind = buffers_are_remote(scenario) and link is not None and link.load > by_name["dram"].load
    full = "socket-link" if behind else "dram"
    spent = {"iommu": wait("iommu"), "home-trackers": wait("home-trackers")}
    spent[full] = late
    rest = max(0.0, pool.own_ns - sum(spent.values()))
    spent[pool.name] = min(way, rest)
    spent["pcie" if pcie else "nic-port"] = rest - spent[pool.name]
    usable = float(pool.credits)
    if pcie and pool.name == "io-credits":
        # Credits beyond a multiple of the lines of a TLP only help completions.
        usable = _usable(pool, pcie["max_payload"])
    return Pool(usable, pool.uses_per_work, spent)


def _usable(pool: Use, largest: str) -> float:
    """Credits of lines that can be in use, if what is sent takes those of all its lines at once.

    Whatever was in use, or could have been, counts as usable.
    """
    lines = max(1, min(round(size_bytes(largest) / LINE_BYTES), int(pool.uses_per_work)))
    whole = pool.credits - pool.credits % min(pool.credits, lines)
    return max(float(whole), pool.own_ns * pool.uses_per_us / 1e3)


def reads(
    data: Results,
    scenario: dict[str, Any],
    by_name: dict[str, Use],
    domains: dict[str, Domain],
    name: str,
) -> Pool:
    """Credits of DMA reads: in transit, at the IOMMU, in and before memory, and before a link."""
    machine, pool = scenario["machine"], by_name[name]
    pcie = machine.get("pcie")
    on_chip = llc_ns(machine) + trip_ns(machine)
    way = 2 * (nanoseconds(pcie["latency"]) if pcie else trip_ns(machine)) + on_chip
    way += nanoseconds((scenario.get("dma_bench") or {}).get("overhead", "0 ns"))
    iommu, trackers, memory, wire = (
        read_wait_ns(domains, name) for name in ("iommu", "home-trackers", "read-queue", "wire")
    )
    unloaded = in_memory_ns(data, scenario)
    spent = {"iommu": iommu, "home-trackers": trackers}
    if name == "read-credits":
        # Data read for transmission keeps its credits until it is on the wire, but not its tag.
        spent["wire"] = wire
    waits = max(0.0, memory - on_chip - unloaded)
    # A tag covers a read of several lines, of which the counters know only the mean.
    spent["dram"] = min(waits, max(0.0, pool.latency_ns - sum(spent.values())))
    rest = max(0.0, pool.latency_ns - sum(spent.values()))
    spent[name] = min(way + unloaded, rest) if pcie else rest
    if pcie:
        spent["pcie"] = rest - spent[name]
    usable = float(pool.credits)
    if pcie and name == "read-credits":
        usable = _usable(pool, pcie["max_read_request"])
    return Pool(usable, pool.uses_per_work, spent)


def read_wait_ns(domains: dict[str, Domain], name: str) -> float:
    """The mean time for which a line that the NIC reads waits in a domain, with its credit."""
    lines = domains["read-credits"].uses if "read-credits" in domains else 0
    return domains[name].holds_reads_ps / 1e3 / lines if name in domains and lines else 0.0


def in_memory_ns(data: Results, scenario: dict[str, Any]) -> float:
    """Time of a DMA read beyond the LLC if it waits for nothing: none if no line is read there.

    A line that hits waits for those of its read that miss.
    """
    machine, io = scenario["machine"], data.io
    if io is None or io.read_misses == 0:
        return 0.0
    ns = behind_llc_ns(machine)
    if buffers_are_remote(scenario):
        ns += 2 * nanoseconds(machine["numa"]["latency"])
    return ns + (data.dram.unloaded_ns or 0.0)


def sends(scenario: dict[str, Any], by_name: dict[str, Use], pools: dict[str, Pool]) -> Pool:
    """Transmit descriptors of one queue: reading packets, and all other time."""
    sends = by_name["tx-descriptors"]
    reads = pools["read-credits"].spent_ns if "read-credits" in pools else {}
    spent = {
        name: ns
        for name, ns in reads.items()
        if name != "read-credits" and (name not in LINKS or (ns > 0 and by_name[name].load >= FULL))
    }
    spent["tx-descriptors"] = max(0.0, sends.own_ns - sum(spent.values()))
    return Pool(sends.credits - gathering(scenario), sends.uses_per_work, spent)


def fetches(
    data: Results,
    scenario: dict[str, Any],
    by_name: dict[str, Use],
    domains: dict[str, Domain],
) -> Pool:
    """A send queue's turns: reading descriptors, then the data of their packets as credits allow.

    If the data takes long, a turn lasts until the link has carried it or credits have come back. At
    the IOMMU, reads of descriptors stand in one line with those of data, and wait as long: a turn
    waits twice. Time that none of this explains is the queue's own: round trips with nothing in
    flight.
    """
    turns = by_name["tx-fetches"]
    queue = next(q for q in data.queues if q.core == turns.core)
    reading_ns = queue.tx_fetching_ps / 1e3 / (queue.tx_fetches or 1)
    waited: dict[str, float] = {
        n: by_name[n].starved for n in ("read-tags", "read-credits") if n in by_name
    }
    if data.io is not None and data.io.link_down_ps is not None:
        waited["pcie"] = data.io.link_down_ps / 1e3 / data.measured_ns
    longest = max(waited, key=lambda name: waited[name])
    waits_ns = waited[longest] * turns.latency_ns
    if reading_ns > (1 - NOTICED) * turns.latency_ns:
        waits_ns = 0.0
    # Each read could have brought more descriptors.
    batch: int = scenario["machine"]["nic"]["tx_descriptor_batch"]
    room = max(1.0, batch * queue.tx_fetches / (queue.sent or 1))
    rest_ns = turns.latency_ns - waits_ns
    walk_ns = read_wait_ns(domains, "iommu")
    walks_ns = min(min(walk_ns, reading_ns) + walk_ns, rest_ns)
    # A read of more descriptors is carried for longer.
    link_ns = queue.tx_fetching_link_ps / 1e3 / (queue.tx_fetches or 1)
    link_ns = max(0.0, link_ns - (waits_ns if longest == "pcie" else 0.0))
    link_ns = min(link_ns, rest_ns - walks_ns)
    own_ns = rest_ns - walks_ns - link_ns
    spent = {"tx-fetches": own_ns / room, "iommu": walks_ns / room, "pcie": link_ns}
    spent[longest] = spent.get(longest, 0.0) + waits_ns
    return Pool(turns.credits, turns.uses_per_work, spent)


def iommu_load(
    scenario: dict[str, Any], by_name: dict[str, Use], domains: dict[str, Domain]
) -> float:
    """The load of the page walkers, or of the queue where writes wait for them if it is fuller."""
    iommu = by_name["iommu"]
    writes, lines = domains.get("posted-credits"), domains["io-credits"].uses
    if writes is None or lines == 0 or iommu.occupancy == 0:
        return iommu.load
    tlps = domains["iommu"].holds_writes_ps / lines * writes.uses
    # The measured time follows from the mean time and the mean number of posted credits in use.
    span_ps = writes.busy_ps / by_name["posted-credits"].occupancy
    queue: int = scenario["machine"]["iommu"]["posted_queue"]
    return max(iommu.load, min(1.0, tlps / span_ps / queue))
