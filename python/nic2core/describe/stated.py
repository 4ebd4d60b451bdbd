"""What of the cores' time follows from numbers of instructions that a scenario only states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import words
from nic2core.explain.use import serves, work
from nic2core.scenario.quantity import gigahertz

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nic2core.run_record import Record

MUCH = 0.5
"""Share of the cores' time from which instructions decide what cores can do."""


def cycles_per_packet(result: Record) -> float | None:
    """Cycles that cores work for a packet, waits for memory included; `None` without packets."""
    clock = gigahertz(result.scenario["machine"]["core"]["frequency"])
    return _per_packet(result, result.data.core_time.busy_ps / 1e3 * clock)


def instructions_per_packet(result: Record) -> float | None:
    """Instructions that cores dispatch for a packet; `None` without packets."""
    core = result.scenario["machine"]["core"]
    per_ns = gigahertz(core["frequency"]) * core["dispatch_width"]
    return _per_packet(result, result.data.core_time.dispatch_ps / 1e3 * per_ns)


def instructions_per_cycle(result: Record) -> float | None:
    """Instructions per cycle of cores at work; `None` without packets."""
    cycles, instructions = cycles_per_packet(result), instructions_per_packet(result)
    return instructions / cycles if cycles and instructions is not None else None


def _per_packet(result: Record, all_packets: float) -> float | None:
    rate, what = work(result.data)
    packets = rate * result.data.measured_ns / 1e3
    return all_packets / packets if what == "packets" and packets > 0 else None


def stated_instructions(result: Record) -> Iterator[str]:
    """What a rate that cores limit rests on; nothing if they do not, or mostly wait for memory."""
    time, instructions = result.data.core_time, instructions_per_packet(result)
    limits = (result.limited or result.peak is not None) and result.model.cause == "cores"
    if not limits or instructions is None or time.dispatch_ps < MUCH * time.busy_ps:
        return
    tables = [result.scenario["queues"]]
    tables += [t["app"] for t in result.scenario["tenants"] if serves(result.data, t)]
    keys = [key for of in tables for key in of if key.endswith("_instructions") and of[key]]
    yield (
        f"Cores spend {words.percent(time.dispatch_ps / time.busy_ps)} of their time on "
        f"instructions, {instructions:,.0f} a packet, most of which "
        f"the scenario states ({words.listed([f'`{key}`' for key in dict.fromkeys(keys)])}): the "
        "rate is as right as these numbers, which docs/your-server.md says how to measure."
    )
