"""Larger pages for the memory the NIC accesses, and whether the IOTLB then holds all of them."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from nic2core.explain.use import serves
from nic2core.scenario.quantity import size_bytes
from nic2core.scenario.queues import room_to_send

if TYPE_CHECKING:
    from nic2core.results.models import Results

SMALL, LARGE = "4 KiB", "2 MiB"
"""The page size that is replaced, and the one that replaces it."""

KEYS = {
    "payload": "payload",
    "descriptor": "descriptors",
    "completion": "completions",
    "acknowledgement": "acknowledgements",
}
"""Kinds of mapping as named in results, with the key of their page size."""

RINGS = 4
"""Rings per queue: descriptors and completions, for receive and transmit. Each is walked in order,
so one page of it is in use at a time."""


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


def _of_queue(data: Results, scenario: dict[str, Any]) -> int:
    """Large pages that a queue has in use."""
    queues, traffic, large = scenario["queues"], scenario["traffic"], size_bytes(LARGE)
    buffer = sum(
        size_bytes(queues[key]) for key in ("object_header", "metadata", "headroom", "buffer_size")
    )
    pool = queues.get("pool_buffers") or queues["rx_descriptors"]
    # These begin on a page boundary; transmit buffers do not, and may reach into one more page.
    pages: int = ceil(pool * buffer / large) + RINGS
    if _copies(data, scenario):
        sent = size_bytes(traffic.get("acknowledgement") or queues["buffer_size"])
        pages += ceil(room_to_send(queues) * sent / large) + 1
    return pages


def _copies(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether some packets are sent from buffers other than those they arrived in."""
    tenants = zip(scenario["tenants"], data.tenants, strict=True)
    return any(serves(data, asked) and not tenant.sends_in_place for asked, tenant in tenants)
