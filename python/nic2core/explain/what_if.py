"""What a change to a domain does to the model of a run."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core.explain.contention import (
    SENDING,
    crowd_memory,
    more_credits,
    waits_in_channels,
    waits_with_more,
)
from nic2core.explain.cores import instructions_ns, waits, whole_ns
from nic2core.explain.dma import in_memory_ns, read_wait_ns
from nic2core.explain.nodes import told
from nic2core.explain.queueing import at_twice_the_rate, before_one_has_had
from nic2core.explain.queues import OF_QUEUES, by_queue
from nic2core.explain.queues import more as more_of_queues
from nic2core.explain.use import read_back, serves, work
from nic2core.scenario.quantity import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from nic2core.explain.model import Model
    from nic2core.results.models import CauseTraffic, Results

RECEIVED = frozenset({"nic-rx-wr", "cpu-rx-rd", "rx-evct"})
"""Causes of memory traffic that ideal DDIO removes completely: it keeps received packets out of
memory, and nothing else."""

SENT = "nic-tx-rd"
"""The cause of what is read to be sent. What is sent in place are received packets, too."""

NO_LEAK = 0.01
"""Lines of received packets that cross the memory bus, per packet, from which some leak."""


def more(domain: str, factor: float) -> Callable[[Model], Model]:
    """`factor` times the credits of a domain."""

    def apply(model: Model) -> Model:
        if domain in model.pools:
            return model.with_pool(domain, model.pools[domain].more(factor))
        # Some domains are no limit, for example cores next to a benchmark of the NIC.
        return model.with_others(domain, factor) if domain in model.others else model

    return apply


def more_by_queue(data: Results, domain: str, factor: float) -> Callable[[Model], Model]:
    """`factor` times the credits of each queue; this helps only queues that are short of them."""
    found = data.by_domain.get(domain)
    queues = by_queue(data, found) if found is not None else []
    span_ps = data.measured_ns * 1e3
    return more(domain, more_of_queues(queues, factor, span_ps) if queues else factor)


def longer_fetches(data: Results, factor: float) -> Callable[[Model], Model]:
    """Reads of `factor` times as many transmit descriptors, and so that many times fewer reads."""

    def apply(model: Model) -> Model:
        if "tx-fetches" not in model.pools:
            return model
        turn = model.pools["tx-fetches"]
        shorter = turn.spends("tx-fetches", 1 / factor).spends("iommu", 1 / factor)
        return more_by_queue(data, "tx-fetches", shorter.allows / turn.allows)(model)

    return apply


def more_dma_credits(domain: str, factor: float) -> Callable[[Model], Model]:
    """More DMA credits: those that are used add to memory contention."""
    return lambda model: more_credits(model, domain, factor) if domain in model.pools else model


def more_channels(factor: float) -> Callable[[Model], Model]:
    """More channels, over which the lines are spread."""

    def apply(model: Model) -> Model:
        return _waits(model, waits_in_channels(model, factor)).with_others("dram", factor)

    return apply


def _waits(model: Model, waits: float) -> Model:
    """Lines wait `waits` times as long in memory, and trackers are free that much sooner."""
    model = model.without_waits("home-trackers", model.memory.held(waits))
    return model.without_waits("dram", waits)


def no_leak(data: Results, scenario: dict[str, Any]) -> Callable[[Model], Model]:
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


def more_trackers(factor: float) -> Callable[[Model], Model]:
    """More home trackers: requests that wait for one proceed, and add to memory contention."""

    def apply(model: Model) -> Model:
        memory, trackers = model.memory, model.use("home-trackers").credits
        new = min(memory.held_back, (factor - 1) * trackers)
        left = 1 - new / memory.held_back if memory.held_back > 0 else 0.0
        under_way = 1 + new / memory.under_way if memory.under_way > 0 else 1.0
        waits = waits_with_more(model, under_way)
        # As many more lines are carried as are under way, each for so much longer.
        carried = under_way / memory.held(waits)
        return model.without_waits("home-trackers", left / carried).without_waits("dram", waits)

    return apply


def with_cores(
    data: Results, scenario: dict[str, Any], factor: float, load: float = 1.0
) -> Callable[[Model], Model]:
    """More cores bring their own miss registers and queues, and `load` times the offered load."""
    # Receive descriptors that the NIC reads of a queue at a time.
    batch: int = scenario["machine"]["nic"]["descriptor_batch"]

    def apply(model: Model) -> Model:
        model = replace(model, demand=load * model.demand)
        for domain in {"cores", "miss-registers", *OF_QUEUES} & model.allows.keys():
            model = more(domain, factor)(model)
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


def faster_clock(
    data: Results, scenario: dict[str, Any], clock: str, factor: Decimal
) -> Callable[[Model], Model]:
    """A clock, `core` or `uncore`, that is `factor` times as fast.

    Instructions and the L2 take cycles of the cores; the LLC and the way there take cycles of the
    uncore, or of the cores if it has no clock of its own. Stalls change as much as the latencies of
    the requests, and what then waits in memory by the load that comes.
    """
    machine = scenario["machine"]
    of = {**machine[clock], "frequency": scaled(machine[clock]["frequency"], factor)}
    before = waits(data, scenario, data.by_domain)
    after = waits(data, {**scenario, "machine": {**machine, clock: of}}, data.by_domain)
    latencies_ns = whole_ns(data, before)
    stalls = whole_ns(data, after) / latencies_ns if latencies_ns > 0 else 1.0
    speed = float(factor) if clock == "core" else 1.0

    def apply(run: Model) -> Model:
        if "cores" not in run.pools:
            return run
        model, spent = run, run.pools["cores"].spent_ns
        own_ns = instructions_ns(data)
        changed = {name: ns * stalls for name, ns in spent.items()}
        changed["cores"] = own_ns / speed + max(0.0, spent["cores"] - own_ns) * stalls
        model = model.with_pool("cores", replace(model.pools["cores"], spent_ns=changed))
        if "miss-registers" in model.pools:
            held = model.pools["miss-registers"]
            shorter_ns = before.llc_ns - after.llc_ns
            transit_ns = max(0.0, held.spent_ns["miss-registers"] - shorter_ns)
            held = replace(held, spent_ns={**held.spent_ns, "miss-registers": transit_ns})
            model = model.with_pool("miss-registers", held)
        return _waits(model, waits_in_channels(model, before=run))

    return apply


def more_registers(factor: float) -> Callable[[Model], Model]:
    """More miss registers for every core, also for those that do other work.

    Those that are all in use ask for more. If home trackers limit what memory does, it waits for
    one, and so does all that comes after it.
    """

    def apply(model: Model) -> Model:
        memory, registers = model.memory, model.use("miss-registers")
        model = more("miss-registers", factor)(model)
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


def without_misses(data: Results) -> Callable[[Model], Model]:
    """Every translation hits the IOTLB, those of the next receive descriptors, too."""
    fetches = sum(q.rx_fetches for q in data.queues)
    reading_ns = sum(q.rx_fetching_ps for q in data.queues) / 1e3 / (fetches or 1)
    walks_ns = read_wait_ns(data.by_domain, "iommu")
    # Where reads take no longer than others wait for walks, hardly anything of them is left.
    faster = reading_ns / (reading_ns - walks_ns) if walks_ns < reading_ns else inf

    def apply(model: Model) -> Model:
        if "rx-fetches" in model.others:
            model = model.with_others("rx-fetches", faster)
        return model.with_others("iommu", inf).without_waits("iommu")

    return apply


def without_iommu(data: Results) -> Callable[[Model], Model]:
    """No address is translated, so nothing is mapped at run time either."""
    loose, hits = loose_mode(data), without_misses(data)
    return lambda model: loose(hits(model))


def loose_mode(data: Results) -> Callable[[Model], Model]:
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


def wider_link(link: str) -> Callable[[Model], Model]:
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


def leaks(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether received packets cross the memory bus. If not, an ideal DDIO has nothing to save."""
    lines = _received(data.memory.causes, data, scenario)
    return lines > NO_LEAK * data.packets.completed


def _received_share(data: Results, scenario: dict[str, Any]) -> float:
    """Share of received packets in the traffic of the node that domains tell."""
    node = told(data)
    return _received(node.causes, data, scenario) / (node.lines or 1)


def _received(causes: Sequence[CauseTraffic], data: Results, scenario: dict[str, Any]) -> int:
    """Lines of received packets that cross the memory bus."""
    found = RECEIVED | {SENT} if _in_place(data, scenario) else RECEIVED
    return sum(c.lines for c in causes if c.cause in found)


def _in_place(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether all that is sent is sent from the buffers that it arrived in."""
    tenants = zip(scenario["tenants"], data.tenants, strict=True)
    return all(of.sends_in_place for asked, of in tenants if serves(data, asked))
