"""The clocks of cores and uncore: times on the chip, and what faster ones give."""

from __future__ import annotations

from typing import Any

import pytest

from nic2core import api
from nic2core.explain.uncore import llc_ns, trip_ns

MACHINE = {
    "core": {"frequency": "4 GHz"},
    "llc": {"latency_cycles": 20},
    "noc": {"latency_cycles": 10},
}


def test_without_a_clock_of_its_own_the_uncore_has_that_of_the_cores() -> None:
    assert (llc_ns(MACHINE), trip_ns(MACHINE)) == pytest.approx((5, 2.5))


def test_its_own_clock_counts() -> None:
    machine = MACHINE | {"uncore": {"frequency": "2 GHz"}}
    assert (llc_ns(machine), trip_ns(machine)) == pytest.approx((10, 5))


@pytest.mark.parametrize(
    ("instructions", "least"),
    [
        # It waits for the LLC most of the time, by its cycles and by those of the uncore.
        (160, {"core": 0.02, "uncore": 0.05}),
        # Its own instructions take most of the time, and the LLC's clock next to nothing.
        (2000, {"core": 0.15, "uncore": 0.0}),
    ],
)
def test_what_faster_clocks_give_is_predicted(instructions: int, least: dict[str, float]) -> None:
    sets: dict[str, Any] = {
        "traffic.sizes": {"kind": "fixed", "size": "60 B"},
        "traffic.rate": "120 Mpps",
        "tenants.0.app.packet_instructions": instructions,
        "run.warmup": "2 ms",
        "run.duration": "500 us",
    }
    run = api.run("ddio-bench", sets)
    assert (run.limited, run.model.cause) == (True, "cores")
    said = {
        key.split(".")[1]: help_
        for help_ in run.helps
        for key in help_.change.overrides
        if key.endswith(".frequency")
    }
    assert {name: help_.change.what for name, help_ in said.items()} == {
        "core": "cores at 3.75 GHz",
        "uncore": "the uncore at 3 GHz",
    }
    for name, help_ in said.items():
        gain = api.run("ddio-bench", sets | help_.change.overrides).mpps / run.mpps - 1
        assert gain > least[name], name
        assert help_.predicted == pytest.approx(gain, rel=0.2, abs=0.05), name


def test_without_a_clock_of_its_own_no_faster_uncore_is_offered() -> None:
    run = api.run("sweeper-kvs", {"run.warmup": "20 us", "run.duration": "20 us"})
    clocks = [h.change.what for h in run.helps if " at " in h.change.what]
    assert clocks == ["cores at 4 GHz"]
