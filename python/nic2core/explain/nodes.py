"""The nodes of memory: which of them a run's domains are of, and how much of it is the work's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core.explain.queues import NOTICED
from nic2core.explain.use import serves, work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.results.models import CauseTraffic, Results

LOCAL, REMOTE = "local", "remote"
"""That of the socket with the NIC and the cores, and the other's."""


@dataclass(frozen=True)
class Node:
    """What a node's memory has moved."""

    name: str
    """`local` or `remote`; empty if there is but one."""
    causes: Sequence[CauseTraffic]
    gbytes_per_s: float
    limit_gbytes_per_s: float
    read_ns: float
    """Mean latency of its reads, of those of both nodes in results before 30 November 2026."""

    @property
    def lines(self) -> int:
        """All lines that it has moved."""
        return sum(cause.lines for cause in self.causes)

    def own_lines(self, data: Results, scenario: dict[str, Any]) -> int:
        """Lines that it has moved for the work, and not for cores beside it."""
        what = work(data)[1]
        beside = 0
        for asked, of in zip(scenario["tenants"], data.tenants, strict=True):
            here = asked.get("memory", LOCAL) == (self.name or LOCAL)
            if here and (what == "transactions" or (what == "packets" and not serves(data, asked))):
                beside += sum(cause.lines for cause in of.memory)
        return max(0, self.lines - beside)


def nodes(data: Results) -> list[Node]:
    """All nodes."""
    memory, all_ns = data.memory, data.dram.read_latency.mean_ns
    limit = memory.bus_limit_gbytes_per_s
    alone = Node("", memory.causes, memory.bandwidth_gbytes_per_s, limit, all_ns)
    return [
        Node(
            n.node,
            n.causes,
            n.bandwidth_gbytes_per_s,
            n.bus_limit_gbytes_per_s,
            n.read_latency_ns or all_ns,
        )
        for n in memory.nodes or []
    ] or [alone]


def told(data: Results) -> Node:
    """The node whose queues and channels are among the domains."""
    names = {n.node for n in data.memory.nodes or [] if n.in_domains}
    found = [node for node in nodes(data) if node.name in names] or nodes(data)
    # Results from before 29 November 2026 do not say which: it has moved as many lines.
    lines = data.by_domain["dram"].uses
    return min(found, key=lambda node: abs(node.lines - lines))


def own_lines(data: Results, scenario: dict[str, Any]) -> int:
    """Lines that all nodes have moved for the work, and not for cores beside it."""
    return sum(node.own_lines(data, scenario) for node in nodes(data))


def crosses_sockets(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether a tenth or more of the lines that the work moves lie in the other socket's memory."""
    own = {node.name: node.own_lines(data, scenario) for node in nodes(data)}
    remote = own.get(REMOTE, 0)
    return remote > 0 and remote >= NOTICED * sum(own.values())
