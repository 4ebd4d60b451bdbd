"""What limits a run, and what it would do with another machine: docs/models/explain.md.

Every domain allows a rate; the run does the least of them. A rate follows from what is held for
each piece of work and for how long, and that time is known by what it is spent on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core.explain.quantity import gigahertz, nanoseconds, size_bytes
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import ONLY_INFORMS, Use, serves, uses, work

if TYPE_CHECKING:
    from nic2core.results_model import Domain, Results

LINKS = ("wire", "pcie", "nic-port")
FULL = 0.95
"""A link with less load limits nothing: what waits there has come in bunches that others make."""

LOAD = "load"
"""The offered load, where a domain is meant: nothing on the path limits."""


@dataclass(frozen=True)
class Pool:
    """Credits that each piece of work holds for a time, by the domain in which it is spent."""

    credits: float
    per_work: float
    """Credits that a piece of work takes."""
    spent_ns: dict[str, float]

    @property
    def allows(self) -> float:
        """Work, millions a second: Little's law."""
        held = self.per_work * sum(self.spent_ns.values())
        return self.credits / held * 1e3 if held > 0 else inf

    def more(self, factor: float) -> Pool:
        """So many times the credits."""
        return replace(self, credits=self.credits * factor)

    def spends(self, domain: str, factor: float) -> Pool:
        """So many times the time in a domain."""
        if domain not in self.spent_ns:
            return self
        return replace(self, spent_ns={**self.spent_ns, domain: self.spent_ns[domain] * factor})


@dataclass(frozen=True)
class Memory:
    """The memory as others feel it."""

    unloaded_ns: float
    """A read that waits for no other."""
    waits_ns: float
    """What a read waits for others."""
    own_writes: float
    """Share of the NIC's writes in all requests that the LLC holds back."""
    own_reads: float
    """Share of the NIC's reads in all lines under way from memory."""
    own_misses: float
    """Share of the misses of the cores that do the work."""
    under_way: float
    """Mean of the lines under way from memory."""
    held_back: float
    """Mean of the requests of cores that wait for a home tracker."""

    def held(self, factor: float) -> float:
        """How many times as long a read takes if the channels carried so many times as much.

        As many lines are under way as before, so each of them takes that much less (Little's law),
        but no less than one that waits for no other.
        """
        now = self.unloaded_ns + self.waits_ns
        return max(self.unloaded_ns, now / factor) / now if now > 0 else 1.0

    def waits(self, factor: float) -> float:
        """How many times as long a line then waits for others."""
        if self.waits_ns <= 0:
            return 1.0
        now = self.unloaded_ns + self.waits_ns
        return (now * self.held(factor) - self.unloaded_ns) / self.waits_ns


@dataclass(frozen=True)
class Model:
    """The rates that the domains of a run allow, millions of pieces of work a second."""

    demand: float
    """What would come if the link and the server were no limit."""
    others: dict[str, float]
    """Domains that are known by their rate alone."""
    pools: dict[str, Pool]
    memory: Memory
    used: list[Use] = field(default_factory=list)

    @property
    def allows(self) -> dict[str, float]:
        """The rate that each domain that can limit by itself allows."""
        return {**self.others, **{name: pool.allows for name, pool in self.pools.items()}}

    @property
    def tightest(self) -> str:
        """The domain that allows the least."""
        allows = self.allows
        return min(allows, key=lambda name: allows[name], default=LOAD)

    @property
    def rate(self) -> float:
        """What the run does."""
        return min([self.demand, *self.allows.values()])

    @property
    def limited(self) -> bool:
        """Whether a domain allows less than what is offered."""
        return self.allows.get(self.tightest, inf) < self.demand

    @property
    def full(self) -> str:
        """The tightest domain as its use is counted: of memory, the bus or the read queues."""
        if self.tightest != "dram":
            return self.tightest
        return max(("dram", "read-queue"), key=lambda name: self.use(name).load)

    def use(self, name: str) -> Use:
        """How a domain was used."""
        return next(u for u in self.used if u.name == name)

    @property
    def cause(self) -> str:
        """The domain to name: where the credits of the tightest one wait most.

        A credit of DMA that waits nowhere for long limits by its own way. Cores are named by where
        most of their time goes, for that is their work.
        """
        pool = self.pools.get(self.tightest)
        if pool is None:
            return self.tightest
        named = pool.spent_ns
        if self.tightest != "cores":
            least = NOTICED * sum(pool.spent_ns.values())
            named = {
                name: ns
                for name, ns in pool.spent_ns.items()
                if name != self.tightest
                and ns > least
                and (name not in LINKS or self.use(name).load >= FULL)
            }
        return max(named, key=lambda name: named[name], default=self.tightest)

    def with_others(self, name: str, factor: float) -> Model:
        """A domain that allows so many times its rate."""
        return replace(self, others={**self.others, name: self.others[name] * factor})

    def with_pool(self, name: str, pool: Pool) -> Model:
        """Another pool in place of one."""
        return replace(self, pools={**self.pools, name: pool})

    def without_waits(self, domain: str, factor: float = 0.0) -> Model:
        """So many times the time that credits spend in a domain of others."""
        pools = {
            name: pool if name == domain else pool.spends(domain, factor)
            for name, pool in self.pools.items()
        }
        return replace(self, pools=pools)


def model(data: Results, scenario: dict[str, Any]) -> Model:
    """The model of a run of this scenario."""
    used = uses(data)
    by_name = {u.name: u for u in used}
    domains = {d.domain: d for d in data.domains}
    pools: dict[str, Pool] = {
        name: _writes(scenario, by_name, domains, name)
        for name in ("posted-credits", "io-credits")
        if name in by_name and by_name[name].uses_per_us > 0
    }
    pools |= {
        name: _reads(data, scenario, by_name, domains, name)
        for name in ("read-tags", "read-credits")
        if name in by_name and by_name[name].uses_per_us > 0
    }
    rate, what = work(data)
    if what != "transactions" and "cores" in by_name and rate > 0:
        pools["cores"] = _cores(data, scenario, domains)
    others = {u.name: u.allows_mps for u in used if u.name not in {*pools, *ONLY_INFORMS}}
    if "tx-descriptors" in by_name:
        pools["tx-descriptors"] = _sends(by_name, pools)
        del others["tx-descriptors"]
    if "tx-fetches" in by_name:
        others["tx-fetches"] *= _room_in_fetches(data, scenario, by_name["tx-fetches"])
    if "socket-link" in by_name and rate > 0 and _crosses_sockets(data, scenario, what):
        others["socket-link"] = rate / max(by_name["socket-link"].load, 1e-9)
    if "iommu" in others and rate > 0:
        others["iommu"] = rate / max(_iommu_load(scenario, by_name, domains), 1e-9)
    # The bus, or the read queues: random rows keep these full long before it.
    full = max(by_name[name].load for name in ("dram", "read-queue"))
    others["dram"] = rate / max(full, 1e-9) if rate > 0 else inf
    return Model(_demand(data, scenario), others, pools, _memory(data, domains), used)


def _crosses_sockets(data: Results, scenario: dict[str, Any], what: str) -> bool:
    """Whether the work reaches memory of the other socket, and not only tenants beside it."""
    if what == "packets" and scenario["queues"].get("memory") == "remote":
        return True
    memory = [t.get("memory") for t in scenario["tenants"] if what == "accesses" or serves(data, t)]
    return "remote" in memory


def _writes(
    scenario: dict[str, Any], by_name: dict[str, Use], domains: dict[str, Domain], name: str
) -> Pool:
    """Credits of DMA writes: on the link, at the IOMMU, before a full memory, and under way."""
    machine, pool = scenario["machine"], by_name[name]
    lines = domains["io-credits"].uses

    def wait(name: str) -> float:
        return domains[name].holds_writes_ps / 1e3 / lines if name in domains else 0.0

    cycle = 1 / gigahertz(machine["core"]["frequency"])
    pcie = machine.get("pcie")
    # What a write takes that waits for nothing: the way to the memory system and the LLC.
    way = nanoseconds(pcie["latency"]) if pcie else machine["noc"]["latency_cycles"] * cycle
    way += machine["llc"]["latency_cycles"] * cycle
    # A line keeps its credit until its channel has room for it; its TLP has gone by then.
    late = wait("dram") if pool.name == "io-credits" else 0.0
    # What is for the other socket waits for the link to it, where that is the fuller one.
    remote = scenario["queues"].get("memory") == "remote"
    link = by_name.get("socket-link")
    behind = remote and link is not None and link.load > by_name["dram"].load
    full = "socket-link" if behind else "dram"
    spent = {"iommu": wait("iommu"), "home-trackers": wait("home-trackers")}
    spent[full] = wait("write-queue") + late
    rest = max(0.0, pool.latency_ns - sum(spent.values()))
    spent[pool.name] = min(way, rest)
    spent["pcie" if pcie else "nic-port"] = rest - spent[pool.name]
    usable = pool.credits
    if pcie and pool.name == "io-credits":
        # A TLP takes the credits of all its lines at once: those beyond a multiple stay unused.
        usable -= usable % min(usable, _lines(pcie["max_payload"], pool.uses_per_work))
    return Pool(usable, pool.uses_per_work, spent)


def _lines(max_payload: str, lines_per_work: float) -> int:
    """Lines of the largest TLP."""
    return max(1, min(round(size_bytes(max_payload) / 64), int(lines_per_work)))


def _reads(
    data: Results,
    scenario: dict[str, Any],
    by_name: dict[str, Use],
    domains: dict[str, Domain],
    name: str,
) -> Pool:
    """Credits of DMA reads: under way, at the IOMMU, in memory, and before a link."""
    machine, pool = scenario["machine"], by_name[name]
    lines = domains["read-credits"].uses or 1
    cycle = 1 / gigahertz(machine["core"]["frequency"])
    noc = machine["noc"]["latency_cycles"]
    pcie = machine.get("pcie")
    llc_ns = cycle * (machine["llc"]["latency_cycles"] + noc)
    way = 2 * (nanoseconds(pcie["latency"]) if pcie else noc * cycle) + llc_ns
    iommu = domains["iommu"].holds_reads_ps / 1e3 / lines if "iommu" in domains else 0.0
    memory = domains["read-queue"].holds_reads_ps / 1e3 / lines
    io = data.io
    missed = io.read_misses / ((io.read_hits + io.read_misses) or 1) if io is not None else 0.0
    unloaded = (data.dram.unloaded_ns or 0.0) if missed > 0 else 0.0
    spent = {"iommu": iommu, "dram": max(0.0, memory - llc_ns - unloaded)}
    rest = max(0.0, pool.latency_ns - sum(spent.values()))
    spent[name] = min(way + unloaded, rest)
    # What is read for transmission keeps its credits until it is on the wire: the fuller link.
    links = [by_name[n] for n in ("pcie", "wire") if n in by_name]
    if links:
        spent[max(links, key=lambda link: link.load).name] = rest - spent[name]
    else:
        spent[name] = rest
    return Pool(pool.credits, pool.uses_per_work, spent)


def _sends(by_name: dict[str, Use], pools: dict[str, Pool]) -> Pool:
    """Transmit descriptors of the fullest queue: while packets are read, and all other time."""
    sends = by_name["tx-descriptors"]
    reads = pools["read-credits"].spent_ns if "read-credits" in pools else {}
    spent = {
        name: ns
        for name, ns in reads.items()
        if name != "read-credits" and (name not in LINKS or by_name[name].load >= FULL)
    }
    spent["tx-descriptors"] = max(0.0, sends.own_ns - sum(spent.values()))
    return Pool(sends.credits, sends.uses_per_work, spent)


def _room_in_fetches(data: Results, scenario: dict[str, Any], fetches: Use) -> float:
    """How many times as many descriptors the reads of a send queue could have brought."""
    batch: int = scenario["machine"]["nic"]["tx_descriptor_batch"]
    queue = next(q for q in data.queues if q.core == fetches.core)
    return max(1.0, batch * queue.tx_fetches / (queue.sent or 1))


def _iommu_load(
    scenario: dict[str, Any], by_name: dict[str, Use], domains: dict[str, Domain]
) -> float:
    """The walkers', or that of the queue in which writes wait for them: the fuller one."""
    iommu = by_name["iommu"]
    writes, lines = domains.get("posted-credits"), domains["io-credits"].uses
    if writes is None or lines == 0 or iommu.occupancy == 0:
        return iommu.load
    tlps = domains["iommu"].holds_writes_ps / lines * writes.uses
    # As posted credits are held for a mean time and a mean number of them is in use:
    span_ps = writes.busy_ps / by_name["posted-credits"].occupancy
    queue: int = scenario["machine"]["iommu"]["posted_queue"]
    return max(iommu.load, min(1.0, tlps / span_ps / queue))


def _cores(data: Results, scenario: dict[str, Any], domains: dict[str, Domain]) -> Pool:
    """Cores: dispatching, and waiting for the LLC, for memory, and for others at the memory."""
    machine, time, cores = scenario["machine"], data.core_time, domains["cores"]
    rate, _ = work(data)
    per_work = 1e3 / (rate * data.measured_ns * 1e3)
    busy = time.busy_ps * per_work
    dispatch = min(busy, time.dispatch_ps * per_work)
    cycle = 1 / gigahertz(machine["core"]["frequency"])
    llc_ns = cycle * (
        machine["l2"]["latency_cycles"]
        + machine["llc"]["latency_cycles"]
        + 2 * machine["noc"]["latency_cycles"]
    )
    requests = sum(t.llc_hits + t.llc_misses for t in data.tenants)
    # Before the LLC: for a home tracker, and for room in the write queues.
    tracker_ns, room_ns = (
        domains[name].holds_cores_ps / 1e3 / requests if requests and name in domains else 0.0
        for name in ("home-trackers", "write-queue")
    )
    held_ns = tracker_ns + room_ns
    read_ns = data.dram.read_latency.mean_ns
    memory_ns = llc_ns + nanoseconds(machine["llc"].get("memory_latency", "0 ns")) + read_ns
    unloaded_ns = min(read_ns, data.dram.unloaded_ns or read_ns)
    # Waiting is shared out by the latencies of what is waited for.
    all_requests = time.llc_hits + time.llc_misses
    every = time.llc_hits * llc_ns + time.llc_misses * memory_ns + all_requests * held_ns
    stalled = busy - dispatch
    per_ns = stalled / every if every > 0 else 0.0
    spent = {
        "home-trackers": per_ns * all_requests * tracker_ns,
        "dram": per_ns * (time.llc_misses * (read_ns - unloaded_ns) + all_requests * room_ns),
    }
    full = domains["miss-registers"].starved_ps / 1e3 / data.measured_ns
    spent["miss-registers"] = (stalled - sum(spent.values())) * full
    return Pool(cores.credits, 1.0, {"cores": busy - sum(spent.values()), **spent})


def _memory(data: Results, domains: dict[str, Domain]) -> Memory:
    reads, writes = domains["read-queue"], domains["write-queue"]
    read_ns = data.dram.read_latency.mean_ns
    unloaded = min(read_ns, data.dram.unloaded_ns or read_ns)
    before = [writes, domains["home-trackers"]] if "home-trackers" in domains else [writes]
    own = domains["dram"].holds_writes_ps + sum(d.holds_writes_ps for d in before)
    held = own + sum(d.holds_cores_ps for d in before)
    under_way_ps = reads.uses * read_ns * 1e3
    trackers = domains.get("home-trackers")
    return Memory(
        unloaded_ns=unloaded,
        waits_ns=read_ns - unloaded,
        own_writes=own / held if held else 0.0,
        own_reads=min(1.0, reads.holds_reads_ps / under_way_ps) if under_way_ps else 0.0,
        own_misses=min(1.0, data.core_time.llc_misses / reads.uses) if reads.uses else 0.0,
        under_way=(trackers.busy_ps if trackers else under_way_ps) / 1e3 / data.measured_ns,
        held_back=trackers.holds_cores_ps / 1e3 / data.measured_ns if trackers else 0.0,
    )


def _demand(data: Results, scenario: dict[str, Any]) -> float:
    """What would come, were nothing a limit, millions a second."""
    if data.demand_mpps is not None:
        return data.demand_mpps
    bench, traffic = scenario.get("dma_bench"), scenario.get("traffic")
    if bench is not None:
        pace = nanoseconds(bench.get("interval", "0 ns"))
        return 1e3 / pace if pace > 0 else inf
    if traffic is None or data.transport is None:
        return inf
    # Closed loop: all windows open, and a round trip without queues.
    threads = len(data.queues)
    packets = data.transport.mean_window
    limit = traffic["control"].get("max_cwnd")
    if limit is not None:
        packets = max(packets, float(limit))
    trip = 2 * nanoseconds(traffic["network"]["delay"])
    trip += data.transport.host_delay.cdf[0][0] if data.transport.host_delay.cdf else 0.0
    senders: int = traffic["senders"]
    return threads * senders * packets / trip * 1e3
