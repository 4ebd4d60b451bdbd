"""What limits a run, and what it would achieve on another machine: docs/models/explain.md.

Every domain allows a rate, and the run achieves the lowest of them. A rate follows from how many
credits each piece of work holds and for how long; that time is known by where it is spent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, isclose
from typing import TYPE_CHECKING

from nic2core.explain.queues import NOTICED
from nic2core.explain.use import DISPATCH, MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.explain.iotlb import Iotlb
    from nic2core.explain.memory import Memory
    from nic2core.explain.use import Use

LINKS = ("wire", "pcie", "nic-port")
FULL = 0.95
"""A link with less load does not limit: packets wait there because others bunch them. Nor does a
memory with less load while all home trackers are in use: it only does what the trackers let it."""

ROOM = 0.9
"""Load below which a memory has room for what more trackers would bring. Chosen with two runs of
cores that read known: at 78 % more trackers gave 19 %, and at 93 % the bus was what it lacked."""

SAME = 0.97
"""Share of the model's rate from which a run counts as achieving that rate."""

NO_LIMIT_MPS = 1e4
"""Rate, in millions of pieces of work per second, from which what is allowed is no limit at all."""

LOAD = "load"
"""Stands for the offered load where a domain is named: nothing on the path limits."""


@dataclass(frozen=True)
class Pool:
    """Credits that each piece of work holds for a time, split by where the time is spent."""

    credits: float
    per_work: float
    """Credits that a piece of work takes."""
    spent_ns: dict[str, float]

    @property
    def allows(self) -> float:
        """Work allowed, millions per second, by Little's law."""
        held = self.per_work * sum(self.spent_ns.values())
        return self.credits / held * 1e3 if held > 0 else inf

    def more(self, factor: float) -> Pool:
        """`factor` times the credits."""
        return replace(self, credits=self.credits * factor)

    def spends(self, domain: str, factor: float) -> Pool:
        """`factor` times the time spent in a domain."""
        if domain not in self.spent_ns:
            return self
        return replace(self, spent_ns={**self.spent_ns, domain: self.spent_ns[domain] * factor})


@dataclass(frozen=True)
class Model:
    """The rates that the domains of a run allow, in millions of pieces of work per second."""

    demand: float
    """The load that would be offered if neither link nor server limited it."""
    others: dict[str, float]
    """Domains of which only the rate is known."""
    pools: dict[str, Pool]
    memory: Memory
    used: list[Use] = field(default_factory=list)
    iotlb: Iotlb | None = None
    spread: float = 1.0
    """The share of what the cores allow that the dispatch lets them do; 1 if it is no limit."""

    @property
    def allows(self) -> dict[str, float]:
        """The rate that each domain allows, for domains that can limit by themselves."""
        rates = {**self.others, **{name: pool.allows for name, pool in self.pools.items()}}
        if self.spread < 1 and "cores" in rates:
            rates[DISPATCH] = self.spread * rates["cores"]
        return rates

    def allowed_by(self, use: Use) -> float | None:
        """The rate that a domain allows, millions per second; `None` where that has no meaning."""
        if use.shared and use.name not in self.allows:
            return None
        rate = self.allows.get(use.name, use.allows_mps)
        # Full I/O ways evict lines; they hold nothing up.
        return rate if rate < NO_LIMIT_MPS and use.name != "io-ways" else None

    @property
    def tightest(self) -> str:
        """The domain that allows the lowest rate; of equal ones the first, however rounded."""
        least = min(self.allows.values(), default=inf)
        return next((name for name, rate in self.allows.items() if isclose(rate, least)), LOAD)

    @property
    def rate(self) -> float:
        """The rate that the model gives for the run."""
        return min([self.demand, *self.allows.values()])

    @property
    def limited(self) -> bool:
        """Whether a domain allows less than the offered load."""
        return self.allows.get(self.tightest, inf) < self.demand

    @property
    def full(self) -> str:
        """The tightest domain by the name of its counters: for memory, bus or read queues."""
        if self.tightest != "dram":
            return self.tightest
        return max(MEMORY, key=lambda name: self.use(name).load)

    def use(self, name: str) -> Use:
        """How a domain was used."""
        return next(u for u in self.used if u.name == name)

    @property
    def dram_load(self) -> float:
        """The load of the memory: of its bus or of its read queues, whichever is fuller."""
        return max(self.use(name).load for name in MEMORY)

    @property
    def cause(self) -> str:
        """The domain to name as the limit: where the tightest domain's credits wait most."""
        return self.cause_of(self.tightest)

    def cause_of(self, domain: str) -> str:
        """The domain to name if this one limits: where its credits wait most, in the end."""
        return self.way_to_cause(domain)[-1]

    def way_to_cause(self, domain: str) -> list[str]:
        """A domain, the one that its credits wait for most, what those wait for, and so on.

        DMA credits that wait nowhere for long limit by their own transit time. For cores, it is
        where most of their time goes, including their own work.
        """
        way = [domain]
        while (most := self._waits_most_for(way[-1])) not in way:
            way.append(most)
        return way

    def _waits_most_for(self, domain: str) -> str:
        """The domain that the credits of one wait for most, or itself."""
        pool = self.pools.get(domain)
        if pool is None:
            return domain
        named = self.waits(pool)
        # Reading packets back is work of the reader: ways that evict do not hold anything up.
        named[domain] += named.pop("io-ways", 0.0)
        if domain != "cores":
            least = NOTICED * sum(pool.spent_ns.values())
            named = {
                name: ns
                for name, ns in named.items()
                if name != domain
                and ns > least
                and (name not in LINKS or self.use(name).load >= FULL)
            }
        return max(named, key=lambda name: named[name], default=domain)

    @property
    def too_few_trackers(self) -> bool:
        """Whether all home trackers are in use although neither bus nor read queues are full."""
        return self.use("home-trackers").load >= FULL > self.dram_load

    def waits(self, pool: Pool) -> dict[str, float]:
        """Where time is spent; waits for trackers that a full memory holds count as its waits.

        Those in a memory that has room count as waits for trackers, if all of these are in use.
        """
        spent_ns = pool.spent_ns
        waits_ns, dram_ns = (spent_ns.get(name, 0.0) for name in ("home-trackers", "dram"))
        whole_ns = waits_ns + dram_ns
        if whole_ns > 0 and self.too_few_trackers:
            own_ns = whole_ns if self.dram_load < ROOM else waits_ns
        else:
            own_ns = waits_ns * self.memory.own_trackers
        return {**spent_ns, "home-trackers": own_ns, "dram": whole_ns - own_ns}

    def with_others(self, name: str, factor: float) -> Model:
        """The model if a domain allowed `factor` times its rate; one that allows any still does."""
        if name not in self.others:
            return self
        return replace(self, others={**self.others, name: self.others[name] * factor})

    def without(self, names: Sequence[str]) -> Model:
        """The model if these domains allowed any rate."""
        others = {name: rate for name, rate in self.others.items() if name not in names}
        pools = {name: pool for name, pool in self.pools.items() if name not in names}
        spread = 1.0 if DISPATCH in names else self.spread
        return replace(self, others=others, pools=pools, spread=spread)

    def with_pool(self, name: str, pool: Pool) -> Model:
        """The model with one pool replaced."""
        return replace(self, pools={**self.pools, name: pool})

    def without_waits(self, domain: str, factor: float = 0.0) -> Model:
        """The model if other domains' credits spent `factor` times as long in a domain."""
        pools = {
            name: pool if name == domain else pool.spends(domain, factor)
            for name, pool in self.pools.items()
        }
        return replace(self, pools=pools)

    def settled(self, before: Model) -> Model:
        """The model after waits for other pools scale inversely with the rates these allow."""
        pools = dict(self.pools)
        for name, pool in pools.items():
            for other in pool.spent_ns.keys() & pools.keys() - {name}:
                less = before.pools[other].allows / self.pools[other].allows
                pools[name] = pools[name].spends(other, less)
        return replace(self, pools=pools)
