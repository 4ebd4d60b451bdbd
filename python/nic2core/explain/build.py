"""Builds the model of a run from its counters."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from nic2core.explain import cores, dma
from nic2core.explain.asked import asked
from nic2core.explain.dispatch import spread
from nic2core.explain.iotlb import iotlb
from nic2core.explain.memory import memory
from nic2core.explain.model import FULL, Model, Pool
from nic2core.explain.nodes import crosses_sockets
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import (
    COMES_IN_BURSTS,
    DISPATCH,
    MEMORY,
    ONLY_INFORMS,
    WRITE_CREDITS,
    Use,
    link_of_arrivals,
    uses,
    work,
)
from nic2core.scenario.quantity import nanoseconds

if TYPE_CHECKING:
    from nic2core.results.models import Domain, Results


def build_model(data: Results, scenario: dict[str, Any]) -> Model:
    """The model of a run of this scenario."""
    used = uses(data, scenario)
    by_name = {u.name: u for u in used}
    domains = data.by_domain
    rate, what = work(data)
    pools = _pools(data, scenario, by_name, domains)
    no_rate = {*pools, *ONLY_INFORMS, DISPATCH}
    if what == "transactions":
        # Cores next to a benchmark of the NIC do none of its work.
        no_rate |= {"cores", "miss-registers"}
    others = {u.name: u.allows_mps for u in used if u.name not in no_rate}
    if "socket-link" in by_name and rate > 0 and crosses_sockets(data, scenario):
        others["socket-link"] = rate / max(by_name["socket-link"].load, 1e-9)
    if "iommu" in others and rate > 0:
        others["iommu"] = rate / max(dma.iommu_load(scenario, by_name, domains), 1e-9)
    if "rx-fetches" in others and rate > 0:
        others["rx-fetches"] = rate / max(by_name["rx-fetches"].load, 1e-9)
    full = max(by_name[name].load for name in MEMORY)
    uses_memory = memory(data, scenario, domains)
    # What others have filled limits no work that hardly uses it: it only waits longer there.
    limits = rate > 0 and uses_memory.own_traffic >= NOTICED
    others["dram"] = rate / max(full, 1e-9) if limits else inf
    demand = _demand(data, scenario)
    return Model(demand, others, pools, uses_memory, used, iotlb(data, scenario), spread(data))


def _pools(
    data: Results,
    scenario: dict[str, Any],
    by_name: dict[str, Use],
    domains: dict[str, Domain],
) -> dict[str, Pool]:
    """The domains for which it is known where their credits spend their time."""
    rate, what = work(data)
    pools: dict[str, Pool] = {}
    used = {name for name, use in by_name.items() if use.uses_per_us > 0}
    for name in WRITE_CREDITS:
        if name in used:
            pools[name] = dma.writes(scenario, by_name, domains, name)
    for name in ("read-tags", "read-credits"):
        if name in used:
            pools[name] = dma.reads(data, scenario, by_name, domains, name)
    if what != "transactions" and "cores" in by_name and rate > 0:
        waits = cores.waits(data, scenario, domains)
        # Cores that always wait for a register allow the same as the registers, which come first.
        if "miss-registers" in used:
            registers = by_name["miss-registers"]
            pools["miss-registers"] = cores.registers(data, registers, domains, waits)
        pools["cores"] = cores.cores(data, domains, waits)
    if "tx-descriptors" in by_name:
        pools["tx-descriptors"] = dma.sends(scenario, by_name, pools)
    if "tx-fetches" in by_name:
        pools["tx-fetches"] = dma.fetches(data, scenario, by_name, domains)
    return pools


def _demand(data: Results, scenario: dict[str, Any]) -> float:
    """The work that would be offered if nothing limited it, millions per second."""
    if work(data)[1] == "accesses":
        # Packets may be offered that do not arrive in time; no memory benchmark waits for them.
        return inf
    bench, traffic = scenario.get("dma_bench"), scenario.get("traffic")
    if data.demand_mpps is not None:
        # Bursts and a capture may bring more or less in the measured time than in the mean. What a
        # full link could not bring in time is not known.
        bursts = traffic is not None and traffic["kind"] in COMES_IN_BURSTS
        link = link_of_arrivals(data)
        full = link is not None and link.busy_ps >= FULL * 1e3 * data.measured_ns
        return data.packets.offered_mpps if bursts and not full else data.demand_mpps
    if bench is not None:
        pace = nanoseconds(bench.get("interval", "0 ns"))
        return 1e3 / pace if pace > 0 else inf
    if traffic is None or data.transport is None:
        return inf
    return sum(group.mpps for group in asked(data, scenario))
