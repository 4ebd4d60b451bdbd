"""The machine files: what their comments promise is what a core finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nic2core import api

if TYPE_CHECKING:
    from pathlib import Path

CHASE = """
[machine]
base = "{machine}"
l2.prefetch = "none"
[placement]
policy = "ddio"
[queues]                # not used
rx_descriptors = 1
tx_descriptors = 1
buffer_size = "2 KiB"
rx_instructions = 0
tx_instructions = 0
[[tenants]]
name = "chase"
cores = {{ first = 0, count = 1 }}
[tenants.app]
kind = "xmem"
pattern = "random-chained"
region = "3 MiB"
[run]
warmup = "10 ms"
duration = "1 ms"
"""


@pytest.mark.parametrize(
    ("machine", "cycles", "ghz"),
    [
        ("skylake-6140", 70, 3.0),
        ("skylake-host-congestion", 70, 2.0),
        ("broadwell-nfp", 50, 2.2),
        # Table I of the Sweeper paper: 14 of the L2, 8 there and 8 back, 35 of the LLC.
        ("sweeper-icelake24", 65, 3.2),
    ],
)
def test_a_chase_through_the_llc_takes_what_the_file_says(
    machine: str, cycles: int, ghz: float, tmp_path: Path
) -> None:
    path = tmp_path / "chase.toml"
    path.write_text(CHASE.format(machine=machine))
    data = api.run(path).data
    at = {of.level: of for of in data.caches if of.kind == "app"}
    accesses = at["l1d"].hits + at["l1d"].misses
    assert at["llc"].hits > accesses / 2
    # One access after the other, and the L2 serves the rest in some 14 cycles.
    expected = (at["llc"].hits * cycles + at["l2"].hits * 14) / accesses
    assert data.measured_ns * ghz / accesses == pytest.approx(expected, rel=0.05)
