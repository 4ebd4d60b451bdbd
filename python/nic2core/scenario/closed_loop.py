"""Closed-loop traffic, as a scenario has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core._core import WIRE_OVERHEAD_BYTES
from nic2core.scenario.quantity import gigabits, nanoseconds, size_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Group:
    """Senders that are like one another."""

    senders: int
    packets_per_read: int
    open_reads: int
    think_ns: float
    """Mean time from the completion of a read to the request for the next."""
    striped: bool
    """Whether a thread reads from all of them at once, and then waits for all."""
    control: Mapping[str, Any]
    """The table of their congestion control."""
    link_mpps: float
    """Packets that the link of one of them carries, millions per second."""
    differs: tuple[str, ...] = ()
    """Keys of what is asked of rivals and not of the others."""

    @property
    def open_packets(self) -> int:
        """Packets of all open reads of a connection."""
        return self.packets_per_read * self.open_reads


def groups(traffic: Mapping[str, Any]) -> list[Group]:
    """The groups of senders: rivals last, if there are any."""
    rivals = traffic.get("rivals")
    if rivals is None:
        return [_group(traffic)]
    others = traffic["senders"] - rivals["senders"]
    given = {key: value for key, value in rivals.items() if value is not None}
    asked = (key for key in given if key not in {"senders", "control"})
    differs = tuple(key for key in asked if given[key] != traffic.get(key))
    return [_group({**traffic, "senders": others}), _group({**traffic, **given}, differs)]


def _group(of: Mapping[str, Any], differs: tuple[str, ...] = ()) -> Group:
    frame = size_bytes(of["headers"]) + size_bytes(of["payload"]) + WIRE_OVERHEAD_BYTES
    return Group(
        of["senders"],
        round(size_bytes(of["read"]) / size_bytes(of["payload"])),
        of.get("open_reads", 1),
        nanoseconds(of.get("think", "0 ns")),
        of.get("striped", False),
        of["control"],
        gigabits(of["network"]["sender_link"]) * 1e3 / (8 * frame),
        differs,
    )


def controls(traffic: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The table of each congestion control, by its key: one, or that of the rivals as well."""
    found = {"traffic.control": traffic["control"]}
    own = (traffic.get("rivals") or {}).get("control")
    if own is not None:
        found["traffic.rivals.control"] = own
    return found


def most_kept(scenario: Mapping[str, Any]) -> int:
    """Most receive buffers of a core in which packets wait for the rest of their read."""
    if all(tenant["app"].get("copied") != "on-completion" for tenant in scenario["tenants"]):
        return 0
    of = groups(scenario["traffic"])
    return sum(g.senders * g.open_reads * (g.packets_per_read - 1) for g in of)
