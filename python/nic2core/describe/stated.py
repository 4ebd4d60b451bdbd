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


def stated_instructions(result: Record) -> Iterator[str]:
    """What a rate that cores limit rests on; nothing if they do not, or mostly wait for memory."""
    time, (rate, what) = result.data.core_time, work(result.data)
    limits = (result.limited or result.peak is not None) and result.model.cause == "cores"
    if not limits or what != "packets" or time.dispatch_ps < MUCH * time.busy_ps:
        return
    core = result.scenario["machine"]["core"]
    per_ns = gigahertz(core["frequency"]) * core["dispatch_width"]
    packets = rate * result.data.measured_ns / 1e3
    keys = [key for key in result.scenario["queues"] if key.endswith("_instructions")]
    for tenant in result.scenario["tenants"]:
        if serves(result.data, tenant):
            keys += [key for key in tenant["app"] if key.endswith("_instructions")]
    yield (
        f"Cores spend {words.percent(time.dispatch_ps / time.busy_ps)} of their time on "
        f"instructions, {time.dispatch_ps / 1e3 * per_ns / packets:,.0f} a packet, most of which "
        f"the scenario states ({words.listed([f'`{key}`' for key in dict.fromkeys(keys)])}): the "
        "rate is as right as these numbers, which docs/your-server.md says how to measure."
    )
