"""Changes that only take a setting of the server: those of its domains, and others to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nic2core.explain.change import Change, Takes, offered
from nic2core.explain.changes import possible_changes
from nic2core.scenario.quantity import size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nic2core.explain.model import Model
    from nic2core.results.models import Results

ONLY_A_RUN_TELLS = "what caches, links and the memory then do is known only from a run"

LARGEST_READ = "4 KiB"
"""The largest read request of PCI Express."""

TOGETHER = 8
"""Completions that mlx5 compresses into one line."""


def setting_changes(data: Results, scenario: dict[str, Any]) -> list[Change]:
    """The changes that take a setting, in path order; of the last ones the effect is not known."""
    known = [c for c in possible_changes(data, scenario) if c.takes <= Takes.NO_IOMMU]
    return [*known, *offered(_to_try(scenario), data, scenario)]


def _to_try(scenario: dict[str, Any]) -> Iterator[Change]:
    """Settings that can help or harm, by what they do to caches and links."""
    machine, queues, placement = scenario["machine"], scenario["queues"], scenario["placement"]
    half = queues["rx_descriptors"] // 2
    sets: dict[str, Any] = {"queues.rx_descriptors": half}
    if queues.get("pool_buffers") is not None:
        sets["queues.pool_buffers"] = queues["pool_buffers"] - half
    yield _change("descriptors", "half the descriptors", sets)
    pcie = machine.get("pcie")
    if pcie is not None:
        if size_bytes(pcie["max_read_request"]) < size_bytes(LARGEST_READ):
            sets = {"machine.pcie.max_read_request": LARGEST_READ}
            yield _change("read-tags", f"read requests of {LARGEST_READ}", sets)
        if not pcie.get("relaxed_ordering", False) and machine.get("iommu") is not None:
            sets = {"machine.pcie.relaxed_ordering": True}
            yield _change("iommu", "relaxed ordering", sets)
    if machine["nic"].get("completions_per_write", 1) < TOGETHER:
        sets = {"machine.nic.completions_per_write": TOGETHER}
        yield _change("io-credits", f"{TOGETHER} completions a write", sets)
    ways = min(2 * placement["io_ways"], machine["llc"]["ways"])
    if ways > placement["io_ways"]:
        yield _change("io-ways", f"{ways} ways", {"placement.io_ways": ways})
    if queues.get("memory") == "remote":
        yield _change("cores", "buffers on this socket", {"queues.memory": "local"})


def _change(domain: str, what: str, sets: dict[str, Any]) -> Change:
    def unchanged(model: Model) -> Model:
        return model

    return Change(domain, what, sets, unchanged, ONLY_A_RUN_TELLS, to_try=True)
