"""Closed-loop traffic, as a scenario has it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core._core import WIRE_OVERHEAD_BYTES
from nic2core.scenario.quantity import gigabits, nanoseconds, size_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping


OF_THE_WAY = frozenset({"delay", "sender_link"})
"""Keys of rivals that the others have in the table of the network."""


SIZES = frozenset({"read", "read_mix"})
"""Keys that say how much is read at a time."""


@dataclass(frozen=True)
class Group:
    """Senders that are like one another."""

    senders: int
    sizes: tuple[tuple[int, float], ...]
    """Packets of a read, and the share of the reads that have so many, 0 to 1."""
    open_reads: int
    load_gbps: float | None
    """Payload that is wanted from each, if that does not depend on what is complete."""
    think_ns: float
    """Mean time from the completion of a read to the request for the next; 0 with a load."""
    striped: bool
    """Whether a thread reads from all of them at once, and then waits for all."""
    control: Mapping[str, Any]
    """The table of their congestion control."""
    link_mpps: float
    """Packets that the link of one of them carries, millions per second."""
    delay_ns: float
    """One-way delay to the server without queueing."""
    start_ns: float
    """When they begin to be read from, and when to stop, counted from the beginning of the run."""
    stop_ns: float
    differs: tuple[str, ...] = ()
    """Keys of rivals, besides their control, in which they differ from the others."""

    def there(self, begin_ns: float, end_ns: float) -> float:
        """The share of a span of time, 0 to 1, in which they are read from."""
        span_ns = min(self.stop_ns, end_ns) - max(self.start_ns, begin_ns)
        return max(0.0, span_ns) / (end_ns - begin_ns)

    @property
    def asked_the_same(self) -> bool:
        """Whether the same is asked of them as of the others, wherever they are."""
        return not {*self.differs} - OF_THE_WAY

    @property
    def packets_per_read(self) -> int:
        """Packets of the largest read."""
        return max(packets for packets, _ in self.sizes)

    @property
    def mean_packets(self) -> float:
        """Packets of a read, on average."""
        return sum(packets * share for packets, share in self.sizes)

    @property
    def open_packets(self) -> int:
        """Packets of all open reads of a connection, at most."""
        return self.packets_per_read * self.open_reads


def groups(traffic: Mapping[str, Any]) -> list[Group]:
    """The groups of senders: rivals last, if there are any."""
    rivals = traffic.get("rivals")
    all_ = {**traffic, **{key: traffic["network"][key] for key in OF_THE_WAY}}
    if rivals is None:
        return [_group(all_)]
    others = traffic["senders"] - rivals["senders"]
    given = {key: value for key, value in rivals.items() if value is not None}
    # A size of their own takes the place of any mix.
    theirs = {**all_, **given, **({"read_mix": None} if "read" in given else {})}
    same_sizes = _sizes(theirs) == _sizes(all_)
    own = (key for key in given if key not in {"senders", "control"})
    differs = tuple(
        key for key in own if (given[key] != all_.get(key) if key not in SIZES else not same_sizes)
    )
    return [_group({**all_, "senders": others}), _group(theirs, differs)]


def _group(of: Mapping[str, Any], differs: tuple[str, ...] = ()) -> Group:
    frame = size_bytes(of["headers"]) + size_bytes(of["payload"]) + WIRE_OVERHEAD_BYTES
    return Group(
        of["senders"],
        _sizes(of),
        of.get("open_reads", 1),
        gigabits(of["load"]) if of.get("load") is not None else None,
        nanoseconds(of.get("think", "0 ns")) if of.get("load") is None else 0.0,
        of.get("striped", False),
        of["control"],
        gigabits(of["sender_link"]) * 1e3 / (8 * frame),
        nanoseconds(of["delay"]),
        nanoseconds(of.get("start", "0 ns")),
        nanoseconds(of["stop"]) if "stop" in of else inf,
        differs,
    )


def _sizes(of: Mapping[str, Any]) -> tuple[tuple[int, float], ...]:
    mix = of.get("read_mix") or [{"size": of["read"], "weight": 1}]
    all_ = sum(share["weight"] for share in mix)
    payload = size_bytes(of["payload"])
    return tuple(
        (round(size_bytes(share["size"]) / payload), share["weight"] / all_) for share in mix
    )


def measured_there(group: Group, run: Mapping[str, Any]) -> float:
    """The share of the measured time of a run, 0 to 1, in which a group is read from."""
    begin_ns = nanoseconds(run["warmup"])
    return group.there(begin_ns, begin_ns + nanoseconds(run["duration"]))


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
