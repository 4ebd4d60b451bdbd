"""When a run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.scenario.quantity import nanoseconds

if TYPE_CHECKING:
    from nic2core.run_record import Record


def end_of(result: Record) -> float:
    """When the measured time ended, from the start of the run, ns."""
    return nanoseconds(result.scenario["run"]["warmup"]) + result.data.measured_ns
