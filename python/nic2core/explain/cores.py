"""Where cores and their miss registers spend their time."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core.explain.memory import behind_llc_ns
from nic2core.explain.model import Pool
from nic2core.explain.uncore import llc_ns, trip_ns
from nic2core.explain.use import read_back, uneven, work
from nic2core.scenario.quantity import gigahertz

if TYPE_CHECKING:
    from nic2core.explain.use import Use
    from nic2core.results.models import Domain, Results


@dataclass(frozen=True)
class Waits:
    """Mean waits of a core's request beyond the L2."""

    llc_ns: float
    """To the LLC and back."""
    hidden_ns: float
    """The part of a wait during which the core goes on, until its reorder window is full."""
    read_ns: float
    """In memory, if the request goes there."""
    queued_ns: float
    """The part of `read_ns` spent waiting for other requests."""
    tracker_ns: float
    """In front of the LLC, for a home tracker."""
    invalidations_ns: float
    """For the IOMMU's invalidations, in the queue and until they are done: a sum, not a mean."""


def waits(data: Results, scenario: dict[str, Any], domains: dict[str, Domain]) -> Waits:
    """What requests to the LLC waited for, averaged over all tenants."""
    machine = scenario["machine"]
    cycle = 1 / gigahertz(machine["core"]["frequency"])
    requests = sum(t.llc_hits + t.llc_misses for t in data.tenants)
    waited_ps = domains["home-trackers"].holds_cores_ps
    read_ns = data.dram.read_latency.mean_ns
    queue = domains.get("invalidations")
    return Waits(
        llc_ns=cycle * machine["l2"]["latency_cycles"] + llc_ns(machine) + 2 * trip_ns(machine),
        hidden_ns=cycle * machine["core"]["reorder_window"] / machine["core"]["dispatch_width"],
        read_ns=behind_llc_ns(machine) + read_ns,
        queued_ns=read_ns - min(read_ns, data.dram.unloaded_ns or read_ns),
        tracker_ns=waited_ps / 1e3 / requests if requests else 0.0,
        invalidations_ns=queue.holds_cores_ps / 1e3 if queue is not None else 0.0,
    )


def cores(data: Results, domains: dict[str, Domain], waits: Waits) -> Pool:
    """Cores: dispatching, and waiting for the LLC, for memory, and for others at the memory.

    Waits for packets that were evicted from the I/O ways unread are counted separately, except for
    the waits for other requests.
    """
    time = data.core_time
    per_work = _per_work(data)
    busy = time.busy_ps * per_work
    stalled = busy - instructions_ns(data)
    invalidations = min(stalled, waits.invalidations_ns * 1e3 * per_work)
    stalled -= invalidations
    # Stalls are divided by the part of each latency that a core does not hide: transit is hidden
    # first.
    beyond_ns = waits.tracker_ns + waits.read_ns
    hit_ns = max(0.0, waits.llc_ns + waits.tracker_ns - waits.hidden_ns)
    miss_ns = max(0.0, waits.llc_ns + beyond_ns - waits.hidden_ns)
    every = time.llc_hits * hit_ns + time.llc_misses * miss_ns
    share = stalled / every if every > 0 else 0.0
    seen = min(1.0, miss_ns / beyond_ns) if beyond_ns > 0 else 0.0
    spent = _waited(data, waits, share * seen, hits_ns=share * min(hit_ns, waits.tracker_ns))
    full = domains["miss-registers"].starved_ps / 1e3 / data.measured_ns
    spent["miss-registers"] = (stalled - sum(spent.values())) * full
    if "invalidations" in domains:
        spent["invalidations"] = invalidations
    there_are: float = domains["cores"].credits
    if data.queues and time.busiest_ps > 0 and not uneven(data):
        # The busiest core saturates first: the others count relative to it.
        there_are = time.busy_ps / time.busiest_ps
    return Pool(there_are, 1.0, {"cores": busy - sum(spent.values()), **spent})


def _per_work(data: Results) -> float:
    """Nanoseconds of a piece of work for each picosecond of the measured time."""
    rate, _ = work(data)
    return 1 / (rate * data.measured_ns)


def instructions_ns(data: Results) -> float:
    """Time for which cores dispatch instructions, for a piece of work.

    Mapping and unmapping is the cores' own work, as dispatching is.
    """
    time = data.core_time
    mapping_ps = (data.iommu.mapping_ps or 0) if data.iommu is not None else 0
    return min(time.busy_ps, time.dispatch_ps + mapping_ps) * _per_work(data)


def whole_ns(data: Results, waits: Waits) -> float:
    """The latencies of all requests together, hidden or not."""
    time, each_ns = data.core_time, waits.llc_ns + waits.tracker_ns
    return time.llc_hits * each_ns + time.llc_misses * (each_ns + waits.read_ns)


def registers(data: Results, registers: Use, domains: dict[str, Domain], waits: Waits) -> Pool:
    """Miss registers are held while their lines wait; the rest is transit."""
    uses = domains["miss-registers"].uses
    spent = _waited(data, waits, 1 / uses, hits_ns=waits.tracker_ns / uses)
    # These are means over all memory reads, so they can slightly exceed a register's time.
    waited_ns = sum(spent.values())
    for name in spent:
        spent[name] *= min(1.0, registers.latency_ns / (waited_ns or inf))
    spent["miss-registers"] = max(0.0, registers.latency_ns - sum(spent.values()))
    return Pool(registers.credits, registers.uses_per_work, spent)


def _waited(data: Results, waits: Waits, share: float, hits_ns: float) -> dict[str, float]:
    """How long the requests of the working cores waited for others, ns.

    For a miss, `share` of its waits counts; each hit waits `hits_ns` for a tracker.
    """
    time = data.core_time
    return {
        "home-trackers": time.llc_hits * hits_ns + share * time.llc_misses * waits.tracker_ns,
        "dram": share * time.llc_misses * waits.queued_ns,
        "io-ways": share * read_back(data) * (waits.read_ns - waits.queued_ns),
    }
