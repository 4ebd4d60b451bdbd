"""Longer rings, which may put more in turn than caches and IOTLB hold."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import Result, api

if TYPE_CHECKING:
    from nic2core.explain.help import Help

SHORT = {"run.warmup": "1500 us", "run.duration": "500 us", "run.sample": "100 us"}


def rings(result: Result) -> dict[str, Help]:
    return {
        h.change.domain: h
        for h in result.helps
        if h.change.domain in {"descriptors", "tx-descriptors"}
    }


BACKLOG: dict[str, Any] = SHORT | {
    "traffic.flows": 65536,
    "tenants.0.app.packet_instructions": 50,
}

SMALL: dict[str, Any] = SHORT | {
    "tenants.0.cores.count": 8,
    "tenants.0.app": {"kind": "l2fwd"},
    "traffic.sizes": {"kind": "fixed", "size": "64 B"},
    "traffic.rate": "190 Gbps",
}
"""Small packets on as many cores as PCIe has room for, behind an IOTLB that holds their pages."""


@pytest.mark.parametrize(
    ("scenario", "keys", "domain", "why"),
    [
        # 4 MB of 6 in use become 8.
        (
            "sweeper-l3fwd",
            BACKLOG | {"tenants.0.cores.count": 8, "queues.rx_descriptors": 512},
            "descriptors",
            (
                "8.39 MB of receive buffers would be in turn, where the I/O ways hold 6.29 MB and "
                "the LLC 37.7 MB, and if all that was evicted and read back, it would take "
            ),
        ),
        # A core copies 1 MB into its L2, and then 2, which takes time with a real core's registers.
        (
            "sweeper-l3fwd",
            BACKLOG
            | {
                "machine.core.l1_miss_registers": 12,
                "tenants.0.cores.count": 4,
                "queues.rx_descriptors": 1024,
                "queues.tx_descriptors": 512,
                "placement.io_ways": 4,
            },
            "tx-descriptors",
            (
                "a core would copy 2.10 MB while its ring goes round, where its L2 holds 1.31 MB, "
                "and if all that was evicted and read back, it would take "
            ),
        ),
        (
            "explain-cpu",
            SMALL,
            "descriptors",
            "136 pages would be in turn instead of 96, and the IOTLB holds 128 translations",
        ),
        (
            "explain-cpu",
            SMALL,
            "tx-descriptors",
            "136 pages would be in turn instead of 96, and the IOTLB holds 128 translations",
        ),
    ],
)
def test_longer_rings_that_cost_much_of_the_rate_are_not_said_to_cost_nothing(
    scenario: str, keys: dict[str, Any], domain: str, why: str
) -> None:
    result = api.run(scenario, keys)
    help_ = rings(result)[domain]
    assert isnan(help_.predicted)
    assert help_.unknown.startswith(why)
    assert api.run(scenario, keys | help_.change.overrides).mpps < 0.9 * result.mpps


@pytest.mark.parametrize(
    ("scenario", "keys"),
    [
        # All that the NIC writes fits in the I/O ways, and what a core copies in its L2.
        ("sweeper-l3fwd", BACKLOG | {"tenants.0.cores.count": 8, "queues.rx_descriptors": 256}),
        # Of the buffers only headers go to the LLC.
        (
            "sweeper-l3fwd",
            BACKLOG
            | {
                "tenants.0.cores.count": 8,
                "queues.rx_descriptors": 512,
                "placement.policy": "ddio-headers",
                "placement.ddio_headers.lines": 2,
            },
        ),
        # PCIe brings so little that memory could carry all of it.
        ("explain-cpu", SHORT | {"queues.rx_descriptors": 2048, "queues.pool_buffers": 4096}),
        # No page is looked up.
        ("explain-cpu", SMALL | {"machine.iommu.mode": "off"}),
    ],
)
def test_longer_rings_that_cost_nothing_are_said_to(scenario: str, keys: dict[str, Any]) -> None:
    result = api.run(scenario, keys)
    for help_ in rings(result).values():
        assert help_.predicted == 0.0, help_.unknown
        run = api.run(scenario, keys | help_.change.overrides)
        assert run.mpps == pytest.approx(result.mpps, rel=0.1)
