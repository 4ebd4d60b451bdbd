"""What requests take on the chip beyond the private caches."""

from __future__ import annotations

from typing import Any

from nic2core.scenario.quantity import gigahertz


def _cycle_ns(machine: dict[str, Any]) -> float:
    clock = machine.get("uncore") or machine["core"]
    return 1 / gigahertz(clock["frequency"])


def trip_ns(machine: dict[str, Any]) -> float:
    """One way over the network."""
    return float(machine["noc"]["latency_cycles"] * _cycle_ns(machine))


def llc_ns(machine: dict[str, Any]) -> float:
    """From the arrival of a request at the LLC until it sends the line."""
    return float(machine["llc"]["latency_cycles"] * _cycle_ns(machine))
