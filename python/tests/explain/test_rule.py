"""What limits, and what a change helps, in scenarios that were made for something else."""

from __future__ import annotations

from typing import Any

import pytest

from nic2core import api
from nic2core.explain.use import work
from nic2core.report.path import picture

SHORT = {"run.warmup": "1 ms", "run.duration": "1 ms", "run.sample": "100 us"}
QUICK = {"tenants.0.app.packet_instructions": 50}
"""As DPDK's forwarder, which waits for memory for most of its time."""

TINY = {"traffic.sizes": {"kind": "fixed", "size": "64 B"}, "traffic.rate": "120 Mpps"}


def mapping(mode: str, cores: int) -> dict[str, Any]:
    """Buffers in pages of 4 KiB that are mapped and unmapped at run time, by so many cores."""
    times = {"run.warmup": "20 ms", "run.duration": "5 ms"}  # until windows have grown
    pages = {"machine.iommu.mode": mode, "machine.iommu.pages.payload": "4 KiB"}
    return times | pages | {"tenants.0.cores.count": cores}


@pytest.mark.parametrize(
    ("scenario", "sets", "limits", "changes"),
    [
        # Above the peak: packets wait for the memory, and so do the miss registers.
        ("sweeper-kvs", SHORT | {"traffic.rate": "40 Mpps"}, "dram", {"dram", "io-ways"}),
        ("sweeper-l3fwd", SHORT | QUICK, "dram", {"dram", "io-ways"}),
        # Its own instructions limit it, and it waits for the memory as long again.
        ("sweeper-l3fwd", SHORT, "cores", {"dram", "io-ways"}),
        # One send queue leaves the link idle while it reads descriptors.
        (
            "ddio-bench",
            SHORT | {"run.warmup": "20 ms"},
            "tx-fetches",
            {"tx-fetches", "pcie", "cores"},
        ),
        # Small packets, each a request of its own.
        (
            "ddio-bench",
            SHORT | TINY | {"tenants.0.cores.count": 8, "machine.pcie.non_posted_credits": 32},
            "read-tags",
            {"read-tags"},
        ),
        # The cores write beside a benchmark of the NIC, whose work is not theirs.
        (
            "host-network-writes",
            {"run.warmup": "1 ms", "tenants.0.app.region": "64 KiB"},
            "pcie",
            {"pcie"},
        ),
        # Or that of others, in whose way they are: DMA writes wait for room in the write queues.
        ("host-network-writes", {"run.warmup": "8 ms"}, "dram", {"pcie"}),
        # Cores wait for invalidations: many for one another's, few beside their own work.
        ("host-congestion", mapping("strict", 14), "invalidations", {"invalidations"}),
        ("host-congestion", mapping("strict", 4), "cores", {"invalidations", "cores"}),
        # Mapping is work that loose mode has not.
        ("host-congestion", mapping("deferred", 4), "cores", {"invalidations", "cores"}),
    ],
)
def test_scenarios_that_were_not_made_for_it_keep_the_rule(
    scenario: str, sets: dict[str, Any], limits: str, changes: set[str]
) -> None:
    result = api.run(scenario, sets)
    base, _ = work(result.data)
    assert (result.model.cause, result.limited) == (limits, True)
    assert {g.badge: g.stage for g in picture(result).gauges}["LIMITS"] == limits
    assert result.model.rate == pytest.approx(base, rel=0.05)
    first = result.helps.by_domain
    assert first.keys() >= changes
    offered = [first[domain] for domain in changes]
    for said in offered:
        again = api.run(scenario, sets | said.change.overrides)
        run = work(again.data)[0] / base
        assert run > 1.05, said.change
        assert 1 + said.predicted == pytest.approx(run, rel=0.2), said.change
