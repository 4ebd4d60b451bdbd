"""The concrete change to each domain, as keys of the scenario and as a change to the model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any

from nic2core import _core
from nic2core._core import UserError
from nic2core.explain.contention import (
    SENDING,
    crowd_memory,
    more_credits,
    waits_in_channels,
    waits_with_more,
)
from nic2core.explain.dma import in_memory_ns
from nic2core.explain.pages import LARGE, larger_pages, why_they_may_miss
from nic2core.explain.queueing import at_twice_the_rate, before_one_has_had
from nic2core.explain.queues import OF_QUEUES, by_queue, more
from nic2core.explain.use import read_back, serves, work
from nic2core.scenario.quantity import times
from nic2core.scenario.toml_text import as_sets, given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nic2core.explain.model import Model
    from nic2core.results.models import Results

EVEN = 0.8
"""Mean busy time of the cores over that of the busiest, up to which too few flows are the cause."""

RECEIVED = frozenset({"nic-rx-wr", "cpu-rx-rd", "rx-evct"})
"""Causes of memory traffic that ideal DDIO removes completely: it keeps received packets out of
memory, and nothing else."""

SENT = "nic-tx-rd"
"""The cause of what is read to be sent. What is sent in place are received packets, too."""

NO_LEAK = 0.01
"""Lines of received packets that cross the memory bus, per packet, from which some leak."""


@dataclass(frozen=True)
class Change:
    """A change to one domain."""

    domain: str
    what: str
    """The change as displayed."""
    overrides: dict[str, Any]
    """The change as keys of the scenario."""
    apply: Callable[[Model], Model] = field(repr=False)
    """The change to the model."""
    unknown: str = ""
    """Why the model cannot predict its effect; empty if it can."""

    @property
    def takes(self) -> int:
        """What it takes: 0 only settings, 1 turning off the IOMMU, 2 different hardware."""
        if self.overrides.get("machine.iommu.mode") == "off":
            return 1
        machine = (key for key in self.overrides if key.startswith("machine."))
        return 2 if any(not key.startswith("machine.iommu.") for key in machine) else 0


def possible_changes(data: Results, scenario: dict[str, Any]) -> list[Change]:
    """The changes to each domain of a run, in path order.

    Changes that the engine cannot simulate are left out.
    """
    known = {d.domain for d in data.domains}
    found = [c for c in _all(data, scenario) if c.domain in known and _is_simulated(scenario, c)]
    # If a PCIe link can be wider, the next generation is not offered.
    wider = [c for c in found if c.domain == "pcie"]
    return [c for c in found if c not in wider[1:]]


def _is_simulated(scenario: dict[str, Any], change: Change) -> bool:
    """Whether the engine can simulate the scenario with a change."""
    try:
        _core.change_scenario(json.dumps(given(scenario)), as_sets(change.overrides))
    except UserError:
        return False
    return True


def _more(domain: str, factor: float) -> Callable[[Model], Model]:
    """`factor` times the credits of a domain."""

    def apply(model: Model) -> Model:
        if domain in model.pools:
            return model.with_pool(domain, model.pools[domain].more(factor))
        # Some domains are no limit, for example cores next to a benchmark of the NIC.
        return model.with_others(domain, factor) if domain in model.others else model

    return apply


def _more_by_queue(data: Results, domain: str, factor: float) -> Callable[[Model], Model]:
    """`factor` times the credits of each queue; this helps only queues that are short of them."""
    found = next((d for d in data.domains if d.domain == domain), None)
    queues = by_queue(data, found) if found is not None else []
    span_ps = data.measured_ns * 1e3
    return _more(domain, more(queues, factor, span_ps) if queues else factor)


def _fetches(data: Results, factor: float) -> Callable[[Model], Model]:
    """Reads of `factor` times as many transmit descriptors, and so that many times fewer reads."""

    def apply(model: Model) -> Model:
        if "tx-fetches" not in model.pools:
            return model
        turn = model.pools["tx-fetches"]
        shorter = turn.spends("tx-fetches", 1 / factor)
        return _more_by_queue(data, "tx-fetches", shorter.allows / turn.allows)(model)

    return apply


def _credits(domain: str, factor: float) -> Callable[[Model], Model]:
    """More DMA credits: those that are used add to memory contention."""
    return lambda model: more_credits(model, domain, factor) if domain in model.pools else model


def _channels(factor: float) -> Callable[[Model], Model]:
    """More channels, over which the lines are spread."""

    def apply(model: Model) -> Model:
        return _waits(model, waits_in_channels(model, factor)).with_others("dram", factor)

    return apply


def _waits(model: Model, waits: float) -> Model:
    """Lines wait `waits` times as long in memory, and trackers are free that much sooner."""
    model = model.without_waits("home-trackers", model.memory.held(waits))
    return model.without_waits("dram", waits)


def _no_leak(data: Results, scenario: dict[str, Any]) -> Callable[[Model], Model]:
    """Received packets stay in the LLC until they are read, by cores or to be sent in place."""
    share = _received_share(data, scenario)
    misses = data.core_time.llc_misses
    left = max(0.0, 1 - read_back(data) / misses) if misses else 1.0

    def apply(model: Model) -> Model:
        own = model.memory.own_traffic
        lines = max(0.0, 1 - share / own) if own > 0 else 1.0
        model = _waits(model, waits_in_channels(model, 1.0, lines))
        model = model.with_others("dram", 1 / max(1e-6, 1 - share)).without_waits("io-ways")
        for domain in ("cores", "miss-registers"):
            if domain in model.pools:
                model = model.with_pool(domain, model.pools[domain].spends("dram", left))
        for domain in SENDING if _in_place(data, scenario) else ():
            if domain in model.pools:
                pool = model.pools[domain].spends("dram", 0.0)
                own_ns = pool.spent_ns[domain]
                hits_ns = max(0.0, own_ns - in_memory_ns(data, scenario))
                model = model.with_pool(domain, pool.spends(domain, hits_ns / (own_ns or 1.0)))
        return model

    return apply


def _trackers(factor: float) -> Callable[[Model], Model]:
    """More home trackers: requests that wait for one proceed, and add to memory contention."""

    def apply(model: Model) -> Model:
        memory, trackers = model.memory, model.use("home-trackers").credits
        more = min(memory.held_back, (factor - 1) * trackers)
        left = 1 - more / memory.held_back if memory.held_back > 0 else 0.0
        under_way = 1 + more / memory.under_way if memory.under_way > 0 else 1.0
        waits = waits_with_more(model, under_way)
        # As many more lines are carried as are under way, each for so much longer.
        carried = under_way / memory.held(waits)
        return model.without_waits("home-trackers", left / carried).without_waits("dram", waits)

    return apply


def uneven(data: Results) -> bool:
    """Whether some of the cores that serve packets are much fuller than others."""
    time = data.core_time
    return time.busy_ps <= EVEN * len(data.queues) * time.busiest_ps


def with_cores(
    data: Results, scenario: dict[str, Any], factor: float, load: float = 1.0
) -> Callable[[Model], Model]:
    """More cores bring their own miss registers and queues, and `load` times the offered load."""
    # Receive descriptors that the NIC reads of a queue at a time.
    batch: int = scenario["machine"]["nic"]["descriptor_batch"]

    def apply(model: Model) -> Model:
        model = replace(model, demand=load * model.demand)
        for domain in {"cores", "miss-registers", *OF_QUEUES} & model.allows.keys():
            model = _more(domain, factor)(model)
        if "rx-fetches" in model.others:
            # The NIC takes packets in order, and while each queue reads, it carries as many as come
            # before one for a queue that has used all that it had read.
            queues = len(data.queues)
            before, after = (
                before_one_has_had(batch, of) for of in (queues, round(factor * queues))
            )
            model = model.with_others("rx-fetches", after / before)
        return crowd_memory(model, factor, model.memory.own_misses)

    return apply


def _registers(factor: float) -> Callable[[Model], Model]:
    """More miss registers for every core, also for those that do other work.

    Those that are all in use ask for more. If home trackers limit what memory does, it waits for
    one, and so does all that comes after it.
    """

    def apply(model: Model) -> Model:
        memory, registers = model.memory, model.use("miss-registers")
        model = _more("miss-registers", factor)(model)
        if not model.too_few_trackers or memory.held_back <= 0:
            return model
        others = 1 + (factor - 1) * memory.full_registers / memory.held_back
        own = (factor - 1) * registers.starved * registers.credits / memory.held_back
        # Cores with more lines under way wait no longer for what they add themselves.
        pools = {
            name: pool.spends("home-trackers", others if name == "cores" else others + own)
            for name, pool in model.pools.items()
        }
        return replace(model, pools=pools)

    return apply


def _without_misses(model: Model) -> Model:
    """Every translation hits the IOTLB."""
    return model.with_others("iommu", inf).without_waits("iommu")


def _without_iommu(data: Results) -> Callable[[Model], Model]:
    """No address is translated, so nothing is mapped at run time either."""
    loose = _loose(data)
    return lambda model: loose(_without_misses(model))


def _loose(data: Results) -> Callable[[Model], Model]:
    """No buffer is mapped or unmapped: cores neither do that work nor wait for invalidations."""
    mapping_ps = (data.iommu.mapping_ps or 0) if data.iommu is not None else 0

    def apply(model: Model) -> Model:
        if "invalidations" not in model.others:
            return model
        model = model.with_others("invalidations", inf).without_waits("invalidations")
        if "cores" not in model.pools:
            return model
        cores = model.pools["cores"]
        mapping_ns = mapping_ps / (work(data)[0] * data.measured_ns)
        left = 1 - min(1.0, mapping_ns / cores.spent_ns["cores"])
        return model.with_pool("cores", cores.spends("cores", left))

    return apply


def _wider(link: str) -> Callable[[Model], Model]:
    """A link of twice the rate."""

    def apply(model: Model) -> Model:
        of = model.use(link)
        pools = {
            name: pool.spends(
                link, at_twice_the_rate(pool.spent_ns.get(link, 0.0), of.latency_ns, of.load)
            )
            for name, pool in model.pools.items()
        }
        return replace(model, pools=pools).with_others(link, 2.0)

    return apply


def _all(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    machine, queues = scenario["machine"], scenario["queues"]
    nic, pcie = machine["nic"], machine.get("pcie")
    if nic.get("link"):
        link = times(nic["link"], 2)
        yield Change("wire", f"a link of {link}", {"machine.nic.link": link}, _wider("wire"))
    sram = times(nic["sram"], 2)
    yield Change("nic-sram", f"{sram} of SRAM", {"machine.nic.sram": sram}, _more("nic-sram", 2))
    sets: dict[str, Any] = {"queues.rx_descriptors": 2 * queues["rx_descriptors"]}
    if queues.get("pool_buffers") is not None:
        # Add the buffers that the new descriptors hold; the rest of the pool stays as it is.
        sets["queues.pool_buffers"] = queues["pool_buffers"] + queues["rx_descriptors"]
    apply = _more_by_queue(data, "descriptors", 2)
    yield Change("descriptors", "twice the descriptors", sets, apply)
    # The NIC never reads more than a ring at once.
    if nic["descriptor_batch"] < queues["rx_descriptors"]:
        batch = 2 * nic["descriptor_batch"]
        sets = {"machine.nic.descriptor_batch": batch}
        yield Change("rx-fetches", f"{batch} descriptors each", sets, _more("rx-fetches", 2))
    if pcie is not None:
        sets = {"machine.pcie.lanes": 2 * pcie["lanes"]}
        yield Change("pcie", f"{2 * pcie['lanes']} lanes", sets, _wider("pcie"))
        sets = {"machine.pcie.generation": pcie["generation"] + 1}
        yield Change("pcie", f"generation {pcie['generation'] + 1}", sets, _wider("pcie"))
        for domain, key in (
            ("posted-credits", "posted_credits"),
            ("read-tags", "non_posted_credits"),
        ):
            sets = {f"machine.pcie.{key}": 2 * pcie[key]}
            yield Change(domain, f"{2 * pcie[key]} of them", sets, _credits(domain, 2))
    elif "port_width" in machine["noc"]:
        width = times(machine["noc"]["port_width"], 2)
        sets = {"machine.noc.port_width": width}
        yield Change("nic-port", f"{width} a cycle", sets, _wider("nic-port"))
    if machine.get("iommu") is not None:
        yield from _larger_pages(data, scenario)
        apply = _without_iommu(data)
        yield Change("iommu", "no misses (no IOMMU)", {"machine.iommu.mode": "off"}, apply)
        sets = {"machine.iommu.mode": "loose"}
        yield Change("invalidations", "no invalidations (mode loose)", sets, _loose(data))
    for domain, key in (("io-credits", "write_credits"), ("read-credits", "read_credits")):
        sets = {f"machine.nic.{key}": 2 * nic[key]}
        yield Change(domain, f"{2 * nic[key]} of them", sets, _credits(domain, 2))
    if _leaks(data, scenario):
        yield Change(
            "io-ways",
            "no leak (ideal DDIO)",
            {"placement.policy": "ideal-ddio"},
            _no_leak(data, scenario),
        )
    trackers = 2 * machine["llc"]["home_trackers"]
    sets = {"machine.llc.home_trackers": trackers}
    yield Change("home-trackers", f"{trackers} of them", sets, _trackers(2))
    channels = machine["dram"]["channels"]
    yield Change(
        "dram", f"{2 * channels} channels", {"machine.dram.channels": 2 * channels}, _channels(2)
    )
    registers = 2 * machine["core"]["l1_miss_registers"]
    sets = {"machine.core.l1_miss_registers": registers}
    superqueue = machine["l2"].get("superqueue")
    if superqueue is not None and machine["l2"].get("prefetch", "none") != "none":
        # The L2 keeps the same room for its prefetches behind them.
        sets["machine.l2.superqueue"] = superqueue + registers // 2
    yield Change("miss-registers", f"{registers} per core", sets, _registers(2))
    yield from _more_cores(data, scenario)
    yield from _send_queues(data, scenario)


def _larger_pages(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """Larger pages: none miss if the IOTLB holds all that are in use."""
    sets = larger_pages(data, scenario)
    if sets:
        why = why_they_may_miss(data, scenario)
        yield Change("iommu", f"pages of {LARGE}", sets, _without_misses, why)


def _send_queues(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """More descriptors in send queues, and more of them per read."""
    ring = scenario["queues"]["tx_descriptors"]
    sets = {"queues.tx_descriptors": 2 * ring}
    apply = _more_by_queue(data, "tx-descriptors", 2)
    yield Change("tx-descriptors", "twice the descriptors", sets, apply)
    batch = scenario["machine"]["nic"].get("tx_descriptor_batch")
    if batch is not None and batch < ring:
        sets = {"machine.nic.tx_descriptor_batch": 2 * batch}
        yield Change("tx-fetches", f"{2 * batch} descriptors each", sets, _fetches(data, 2))


def _leaks(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether received packets cross the memory bus. If not, an ideal DDIO has nothing to save."""
    return _received(data, scenario) > NO_LEAK * data.packets.completed


def _received_share(data: Results, scenario: dict[str, Any]) -> float:
    """Share of the memory traffic that is received packets."""
    return _received(data, scenario) / (sum(c.lines for c in data.memory.causes) or 1)


def _received(data: Results, scenario: dict[str, Any]) -> int:
    """Lines of received packets that cross the memory bus."""
    found = RECEIVED | {SENT} if _in_place(data, scenario) else RECEIVED
    return sum(c.lines for c in data.memory.causes if c.cause in found)


def _in_place(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether all that is sent is sent from the buffers that it arrived in."""
    tenants = zip(scenario["tenants"], data.tenants, strict=True)
    return all(of.sends_in_place for asked, of in tenants if serves(data, asked))


def _more_cores(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """A quarter more cores for every tenant that serves packets; tenants behind it move up."""
    tenants = scenario["tenants"]
    serving = [serves(data, t) for t in tenants]
    if not any(serving) or data.packets.offered == 0:
        return
    sets: dict[str, Any] = {}
    before = after = last = 0
    moved = 0
    working = [n for n, tenant in enumerate(tenants) if tenant["cores"]["count"] > 0]
    for number in sorted(working, key=lambda n: tenants[n]["cores"]["first"]):
        cores, takes = tenants[number]["cores"], serving[number]
        first, count = cores["first"] + moved, cores["count"]
        more = ceil(count / 4) if takes else 0
        sets[f"tenants.{number}.cores.first"] = first
        if takes:
            sets[f"tenants.{number}.cores.count"] = count + more
            before, after = before + count, after + count + more
        moved += more
        last = max(last, first + count + more)
    machine = scenario["machine"]
    if last > machine["core"]["count"]:
        sets["machine.core.count"] = last
        if machine["llc"].get("slices") is None:
            # Otherwise the number of slices would grow with the cores.
            sets["machine.llc.slices"] = machine["core"]["count"]
    # Each thread of closed-loop traffic has its own connections and reads.
    load = after / before if data.transport is not None else 1.0
    # Flows that saturate one core still do so if there are more cores.
    factor = 1.0 if uneven(data) else after / before
    yield Change("cores", f"{after} cores", sets, with_cores(data, scenario, factor, load))
