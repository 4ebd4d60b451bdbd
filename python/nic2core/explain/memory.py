"""The memory as seen by what uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core.explain.nodes import told
from nic2core.explain.uncore import llc_ns, trip_ns
from nic2core.explain.use import serves, work
from nic2core.scenario.quantity import nanoseconds

if TYPE_CHECKING:
    from nic2core.results.models import Domain, Results


@dataclass(frozen=True)
class Memory:
    """The memory as seen by the domains that use it."""

    unloaded_ns: float
    """Latency of a read that waits for no other request."""
    waits_ns: float
    """Time that a read waits for other requests."""
    own_writes: float
    """The NIC's writes as a share of all requests that the LLC holds back."""
    own_reads: float
    """The NIC's reads as a share of all lines in flight from memory."""
    own_misses: float
    """Misses of the cores that do the work, as a share of all memory reads."""
    under_way: float
    """Mean number of lines in flight from and to memory: the home trackers in use."""
    held_back: float
    """Mean number of core requests that wait for a home tracker."""
    own_trackers: float
    """Share of a home tracker's time that a read takes if it waits for no other request."""
    own_traffic: float
    """Share of the memory traffic that the work itself causes, on the node that domains tell."""
    full_registers: float = 0.0
    """Mean number of miss registers that cores with other work have in use while all of a core's
    are: with more registers they would ask for more."""

    def held(self, waits: float) -> float:
        """Relative time for which a tracker is held if lines wait `waits` times as long."""
        return self.own_trackers + (1 - self.own_trackers) * waits


def behind_llc_ns(machine: dict[str, Any]) -> float:
    """The fixed time of a read between the LLC and the memory controllers, there and back."""
    return nanoseconds(machine["llc"].get("memory_latency", "0 ns"))


def back_ns(data: Results, machine: dict[str, Any]) -> float:
    """The fixed time for which a read holds its tracker beside that at the memory controller.

    This socket's are held until the line is back at its requester, the other's until it leaves.
    """
    if told(data).name == "remote":
        return 0.0
    return behind_llc_ns(machine) + llc_ns(machine) + trip_ns(machine)


def memory(data: Results, scenario: dict[str, Any], domains: dict[str, Domain]) -> Memory:
    """The memory of a run."""
    reads = domains["read-queue"]
    read_ns = told(data).read_ns
    unloaded = min(read_ns, data.dram.unloaded_ns or read_ns)
    trackers, machine = domains["home-trackers"], scenario["machine"]
    own_ns = unloaded + back_ns(data, machine)
    own = domains["dram"].holds_writes_ps + trackers.holds_writes_ps
    held = own + trackers.holds_reads_ps + trackers.holds_cores_ps
    under_way_ps = reads.uses * read_ns * 1e3
    return Memory(
        unloaded_ns=unloaded,
        waits_ns=read_ns - unloaded,
        own_writes=own / held if held else 0.0,
        own_reads=min(1.0, reads.holds_reads_ps / under_way_ps) if under_way_ps else 0.0,
        own_misses=min(1.0, data.core_time.llc_misses / reads.uses) if reads.uses else 0.0,
        under_way=trackers.busy_ps / 1e3 / data.measured_ns,
        held_back=trackers.holds_cores_ps / 1e3 / data.measured_ns,
        own_trackers=min(1.0, trackers.uses * own_ns * 1e3 / (trackers.busy_ps or 1)),
        **_beside(data, scenario),
    )


def _beside(data: Results, scenario: dict[str, Any]) -> dict[str, float]:
    """What cores with other work leave, and what they hold."""
    if work(data)[1] == "accesses":
        return {"own_traffic": 1.0}
    tenants = zip(scenario["tenants"], data.tenants, strict=True)
    others = [(t, of) for t, of in tenants if not serves(data, t)]
    node = told(data)
    registers = scenario["machine"]["core"]["l1_miss_registers"]
    full = (t["cores"]["count"] * registers * of.miss_registers_full for t, of in others)
    return {
        "own_traffic": node.own_lines(data, scenario) / node.lines if node.lines else 1.0,
        "full_registers": sum(full),
    }
