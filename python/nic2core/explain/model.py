"""What limits a run, and what it would do with another machine: docs/models/explain.md.

Every domain allows a rate; the run does the least of them. A rate follows from what is held for
each piece of work and for how long, and that time is known by what it is spent on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from nic2core.explain.queues import NOTICED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.explain.use import Use

LINKS = ("wire", "pcie", "nic-port")
FULL = 0.95
"""A link with less load limits nothing: what waits there has come in bunches that others make. Nor
does a memory with less, while all home trackers are in use: it does what these let it."""

SAME = 0.97
"""Share of the rate that the model says, from which on a run does that rate."""

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
    """Mean of the lines on their way from and to memory: the home trackers in use."""
    held_back: float
    """Mean of the requests of cores that wait for a home tracker."""
    own_trackers: float
    """Share of a home tracker's time that a read takes which waits for no other."""

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
        named = self.waits(pool)
        # What is read back is work of those that read it: ways that evict stop nothing.
        named[self.tightest] += named.pop("io-ways", 0.0)
        if self.tightest != "cores":
            least = NOTICED * sum(pool.spent_ns.values())
            named = {
                name: ns
                for name, ns in named.items()
                if name != self.tightest
                and ns > least
                and (name not in LINKS or self.use(name).load >= FULL)
            }
        return max(named, key=lambda name: named[name], default=self.tightest)

    @property
    def too_few_trackers(self) -> bool:
        """Whether all home trackers are in use while neither bus nor read queues are full."""
        memory = max(self.use(name).load for name in ("dram", "read-queue"))
        return self.use("home-trackers").load >= FULL > memory

    def waits(self, pool: Pool) -> dict[str, float]:
        """Where time is spent; what waits for trackers that a full memory holds waits for that."""
        spent_ns = pool.spent_ns
        waits_ns = spent_ns.get("home-trackers", 0.0)
        own = 1.0 if not waits_ns or self.too_few_trackers else self.memory.own_trackers
        own_ns = waits_ns * own
        dram_ns = spent_ns.get("dram", 0.0) + waits_ns - own_ns
        return {**spent_ns, "home-trackers": own_ns, "dram": dram_ns}

    def with_others(self, name: str, factor: float) -> Model:
        """A domain that allows so many times its rate."""
        return replace(self, others={**self.others, name: self.others[name] * factor})

    def without(self, names: Sequence[str]) -> Model:
        """As if these domains allowed any rate."""
        others = {name: rate for name, rate in self.others.items() if name not in names}
        pools = {name: pool for name, pool in self.pools.items() if name not in names}
        return replace(self, others=others, pools=pools)

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

    def settled(self, before: Model) -> Model:
        """What waits for a pool of others waits as much longer as that allows less."""
        pools = dict(self.pools)
        for name, pool in pools.items():
            for other in pool.spent_ns.keys() & pools.keys() - {name}:
                less = before.pools[other].allows / self.pools[other].allows
                pools[name] = pools[name].spends(other, less)
        return replace(self, pools=pools)
