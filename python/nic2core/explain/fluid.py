"""The packets of a run once more, in front of a fluid that drains at the rates of a model.

What is lost while more comes than the server does, no mean shows (`crates/engine/src/fluid.rs`).
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core import _core
from nic2core._core import Bursts, UserError
from nic2core.explain.use import DISPATCH, serves
from nic2core.scenario.quantity import size_bytes
from nic2core.scenario.toml_text import as_sets, given

if TYPE_CHECKING:
    from collections.abc import Callable

    from nic2core.explain.change import Change
    from nic2core.explain.model import Model
    from nic2core.results.models import Results

CORES = frozenset({"cores", "miss-registers"})
"""Domains of which each ring has its own."""

BEFORE_RINGS = frozenset(
    {"rx-fetches", "packet-engine", "pcie", "nic-port", "posted-credits", "iommu", "io-credits"}
)
"""Domains that packets pass before they hold a receive descriptor for long: what comes faster
than these allow waits in the SRAM."""

AFTER_CORES = frozenset({"tx-descriptors", "tx-fetches", "read-tags", "read-credits"})
"""Domains that packets wait for in the send queues, which then have room for a burst, too."""

WAITED_IN = frozenset({"wire", "nic-sram", "descriptors", DISPATCH})
"""Domains that the fluid has in other ways: what packets come by, wait in and are dealt by."""


@dataclass(frozen=True)
class Server:
    """The rates at which waiting packets are drained, and how many can wait.

    In the order in which `_core.Bursts.in_front_of` takes them.
    """

    leaves_sram: float
    """Millions of packets per second."""
    sram: float
    """Packets."""
    serves: float
    """Of all rings together, millions per second."""
    serves_ring: float
    """Of one ring, at most."""
    ring: float
    """Descriptors of one ring."""
    post_batch: int
    """Descriptors that are posted together."""
    posting_us: float
    """From then until they can be used."""


@dataclass(frozen=True)
class Passed:
    """What becomes of the packets that come in the measured time, as `in_front_of` returns it."""

    came: int
    in_sram: float
    """Share of them that the SRAM has no room for."""
    in_rings: float
    most_in_sram: float
    """Packets."""
    most_in_ring: float

    @property
    def lost(self) -> float:
        """Share of them that is dropped."""
        return self.in_sram + self.in_rings


def packets_of(scenario: dict[str, Any]) -> Bursts | None:
    """The packets of a run; `None` if they have no times of their own, or the capture is gone."""
    try:
        return Bursts.of(json.dumps(given(scenario)))
    except UserError:
        return None


def then_packets(packets: Bursts, scenario: dict[str, Any], then: dict[str, Any]) -> Bursts | None:
    """The packets of a changed scenario: those of this one, unless others come."""
    return packets if _comes(then) == _comes(scenario) else packets_of(then)


def _comes(scenario: dict[str, Any]) -> tuple[object, ...]:
    """What decides which packets come, when, and to which ring."""
    nic = scenario["machine"]["nic"]
    cores = [tenant["cores"] for tenant in scenario["tenants"]]
    return scenario["traffic"], scenario["run"], nic["rss"], nic.get("link"), cores


def with_change(scenario: dict[str, Any], change: Change) -> dict[str, Any]:
    """The scenario with a change."""
    text, *_ = _core.change_scenario(json.dumps(given(scenario)), as_sets(change.overrides))
    then: dict[str, Any] = json.loads(text)
    return then


def in_front_of(packets: Bursts, server: Server) -> Passed:
    """What becomes of packets in front of a server."""
    return Passed(*packets.in_front_of(astuple(server)))


def one_serves(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether one tenant serves packets: of several, how long a ring's take is not known."""
    return sum(serves(data, tenant) for tenant in scenario["tenants"]) == 1


def sends_fill(model: Model) -> bool:
    """Whether what limits is behind the cores, so that send queues have room for packets, too."""
    return model.tightest in AFTER_CORES


def server_of(
    data: Results, scenario: dict[str, Any], then: dict[str, Any], model: Model, *, sends: bool
) -> Server:
    """The server of a model of this or a changed scenario, with the room that it has."""
    allows = {name: rate for name, rate in model.allows.items() if name not in WAITED_IN}

    def least(names: Callable[[str], bool]) -> float:
        return min((rate for name, rate in allows.items() if names(name)), default=inf)

    queues = then["queues"]
    mean_bytes = data.packets.offered_gbps / data.packets.offered_mpps * 1e3 / 8
    return Server(
        leaves_sram=least(lambda name: name not in CORES | AFTER_CORES),
        sram=size_bytes(then["machine"]["nic"]["sram"]) / mean_bytes,
        serves=least(lambda name: name not in CORES | BEFORE_RINGS),
        serves_ring=least(lambda name: name in CORES) / rings_of(data, scenario, then),
        ring=float(queues["rx_descriptors"] + (queues["tx_descriptors"] if sends else 0)),
        post_batch=queues["post_batch"],
        posting_us=_posting_us(data),
    )


def _posting_us(data: Results) -> float:
    """From posting descriptors until a core has packets in them: the NIC reads, and then writes."""
    fetches = sum(q.rx_fetches for q in data.queues)
    reading_us = sum(q.rx_fetching_ps for q in data.queues) / 1e6 / (fetches or 1)
    dma = next((s.distribution.mean_ns for s in data.latency if s.stage == "dma"), 0.0)
    return reading_us + dma / 1e3


def rings_of(data: Results, scenario: dict[str, Any], then: dict[str, Any]) -> int:
    """The receive rings of a run's tenants that serve packets, in this or a changed scenario."""
    both = zip(scenario["tenants"], then["tenants"], strict=True)
    return sum(changed["cores"]["count"] for tenant, changed in both if serves(data, tenant))
