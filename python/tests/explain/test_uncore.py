"""Times on the chip, which count cycles of the uncore where a machine gives its clock."""

import pytest

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
