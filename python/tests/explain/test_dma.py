"""Where the credits of DMA reads spend their time."""

from __future__ import annotations

import pytest

from nic2core import api
from nic2core.rerun import run_changes

SHORT = {"machine.iommu.mode": "off", "run.warmup": "100 us", "run.duration": "200 us"}


@pytest.mark.parametrize("overhead", ["55 ns", "500 ns"])
def test_the_fixed_time_of_a_read_is_no_wait(overhead: str) -> None:
    """Inside the device, and on the way to the memory controllers, a read waits for nothing."""
    result = api.run("pcie-bench", SHORT | {"dma_bench.overhead": overhead})
    assert result.model.cause == "read-tags"
    spent = result.model.pools["read-tags"].spent_ns
    assert spent["pcie"] < 30
    assert spent["dram"] < 15
    helps = run_changes(result, jobs=2).by_domain
    assert helps["read-tags"].predicted > 0.5
    for name in ("read-tags", "pcie", "dram"):
        assert helps[name].predicted == pytest.approx(helps[name].measured, abs=0.02), name


def test_the_way_to_the_other_socket_is_no_wait_for_memory() -> None:
    far = {
        "queues.memory": "remote", "machine.numa.latency": "1 us", "machine.dram.channels": 6,
        "tenants.1.cores.count": 0, "traffic.rate": "2 Mpps", "run.warmup": "200 us",
        "run.duration": "200 us",
    }  # fmt: skip
    result = api.run("explain-memory", far)
    io = result.data.io
    assert io is not None
    assert io.read_misses > 3 * io.read_hits
    spent = result.model.pools["read-credits"].spent_ns
    assert sum(spent.values()) > 2000
    assert spent["dram"] < 100
