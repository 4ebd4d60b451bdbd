"""Pages of the memory that the NIC accesses, and whether the IOTLB holds all of them."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from nic2core.explain.use import serves
from nic2core.scenario.quantity import nanoseconds, size_bytes
from nic2core.scenario.queues import room_to_send

if TYPE_CHECKING:
    from nic2core.results.models import Results

WALKING = 0.05
"""Share of the time in page walks from which they are expected to lower the rate."""

SMALL, LARGE = "4 KiB", "2 MiB"
"""The page size that is replaced, and the one that replaces it."""

KEYS = {
    "payload": "payload",
    "descriptor": "descriptors",
    "completion": "completions",
    "acknowledgement": "acknowledgements",
}
"""Kinds of mapping as named in results, with the key of their page size."""


def larger_pages(data: Results, scenario: dict[str, Any]) -> dict[str, Any]:
    """The keys that give large pages to every kind of mapping that is used with small ones."""
    pages = scenario["machine"]["iommu"]["pages"]
    lookups = data.iommu.lookups if data.iommu is not None else []
    keys = [KEYS[of.mapping] for of in lookups if of.hits + of.misses > 0]
    return {f"machine.iommu.pages.{key}": LARGE for key in keys if pages[key] == SMALL}


def why_they_may_miss(data: Results, scenario: dict[str, Any]) -> str:
    """Why large pages may miss the IOTLB too; empty if it holds all that are in use."""
    if not data.queues:
        return "the number of pages is known only for packet buffers"
    iotlb = scenario["machine"]["iommu"]["iotlb"]
    if iotlb["ways"] < iotlb["entries"]:
        return "in a set-associative IOTLB, it depends on which pages share a set"
    pages = len(data.queues) * _of_queue(data, scenario)
    if pages <= iotlb["entries"]:
        return ""
    return (
        f"the IOTLB holds {iotlb['entries']} translations, and {pages} pages of {LARGE} would be "
        "in use"
    )


def why_longer_rings_may_miss(data: Results, scenario: dict[str, Any], sets: dict[str, Any]) -> str:
    """Why rings of these lengths may miss the IOTLB, where those of now do not; empty otherwise.

    What goes round in more pages than an IOTLB holds is always out of it when its turn comes. Other
    writes wait for the walk, unless relaxed ordering lets them pass.
    """
    machine = scenario["machine"]
    iommu = machine.get("iommu")
    if data.iommu is None or iommu is None or iommu["mode"] != "loose":
        return ""
    if (machine.get("pcie") or {}).get("relaxed_ordering"):
        return ""
    longer = {key.removeprefix("queues."): value for key, value in sets.items()}
    changed = {**scenario, "queues": {**scenario["queues"], **longer}}
    now, then = _in_turn(data, scenario), _in_turn(data, changed)
    before, after = (len(data.queues) * sum(of.pages for of in all_) for all_ in (now, then))
    entries = iommu["iotlb"]["entries"]
    # A walk reads at least one entry of the page table.
    walks_ns = sum(of.entered for of in now) * nanoseconds(iommu["step_latency"])
    waits = walks_ns * data.packets.completed_mpps / 1e3
    if before > entries or after <= entries or waits < WALKING:
        return ""
    return (
        f"{after} pages would be in turn instead of {before}, and the IOTLB holds {entries} "
        "translations"
    )


class _Region(NamedTuple):
    """Memory that a queue goes through in order, in pages of one size."""

    entries: int
    entry_bytes: float
    page_bytes: float
    a_packet: float = 1.0
    """Entries that a packet takes."""

    @property
    def pages(self) -> int:
        """All of its pages."""
        return ceil(self.entries * self.entry_bytes / self.page_bytes)

    @property
    def entered(self) -> float:
        """Pages that a packet enters, in the mean."""
        return self.a_packet * self.entry_bytes / self.page_bytes


def _in_turn(data: Results, scenario: dict[str, Any]) -> list[_Region]:
    """What a queue goes through: its descriptors, completions and buffers."""
    queues, nic = scenario["queues"], scenario["machine"]["nic"]
    page = {of: size_bytes(size) for of, size in scenario["machine"]["iommu"]["pages"].items()}
    descriptor, completion = size_bytes(nic["descriptor_size"]), size_bytes(nic["completion_size"])
    received, sent = queues["rx_descriptors"], queues["tx_descriptors"]
    together = queues["tx_completion_batch"]
    found = [
        _Region(received, descriptor, page["descriptors"]),
        _Region(sent, descriptor, page["descriptors"]),
        _Region(received, completion, page["completions"]),
        _Region(ceil(sent / together), completion, page["completions"], 1 / together),
        _Region(queues.get("pool_buffers") or received, _buffer_bytes(queues), page["payload"]),
    ]
    if _copies(data, scenario):
        of = page["payload" if data.transport is None else "acknowledgements"]
        found.append(_Region(room_to_send(queues), _sent_bytes(scenario), of))
    return found


def _of_queue(data: Results, scenario: dict[str, Any]) -> int:
    """Large pages that a queue has in use at a time."""
    large = size_bytes(LARGE)
    pages = sum(of._replace(page_bytes=large).pages for of in _in_turn(data, scenario))
    # Receive buffers begin on a page boundary; transmit buffers do not, and may reach one more.
    return pages + _copies(data, scenario)


def _buffer_bytes(queues: dict[str, Any]) -> float:
    """What a receive buffer takes, with what lies before it."""
    of = ("object_header", "metadata", "headroom", "buffer_size")
    return sum(size_bytes(queues[key]) for key in of)


def _sent_bytes(scenario: dict[str, Any]) -> float:
    """What a buffer to send from takes, if it is not the one that a packet arrived in."""
    return size_bytes(
        scenario["traffic"].get("acknowledgement") or scenario["queues"]["buffer_size"]
    )


def _copies(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether some packets are sent from buffers other than those they arrived in."""
    tenants = zip(scenario["tenants"], data.tenants, strict=True)
    return any(serves(data, asked) and not tenant.sends_in_place for asked, tenant in tenants)
