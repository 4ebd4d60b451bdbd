"""Warnings about a run that was measured before its rates, windows or queues had settled."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from nic2core import settled
from nic2core.describe import senders
from nic2core.describe.doubts.warned import Warned
from nic2core.scenario.closed_loop import groups, measured_there
from nic2core.settled.times import end_of
from nic2core.words import at_least, three, time

if TYPE_CHECKING:
    from nic2core.run_record import Record

SAMPLES = 30
"""Samples of a time series from which the means of its thirds are worth comparing."""

UNSETTLED = 0.25
"""Difference between the first and last third of a run, relative to the larger, above chance."""

GROWING = 0.1
"""The same for the mean window of all connections, which chance moves less than their goodput."""

ONLY_GROWING = 0.02
"""The same where no window was cut, so that it is no part of a sawtooth."""


def unsettled(result: Record) -> Warned | None:
    """A warning if goodput or windows of closed-loop senders were still rising or falling."""
    transport = result.data.transport
    # Where a stage is full, windows and queues may change while the goodput does not.
    means = {"goodput": ("goodput", UNSETTLED), "window": ("mean window", UNSETTLED)}
    asked = groups(result.scenario["traffic"]) if transport is not None else []
    run = result.scenario["run"]
    if any(0 < measured_there(group, run) < 1 for group in asked):
        # Rivals that come or go are meant to change it.
        return None
    if any(group.load_gbps is not None for group in asked):
        # Goodput is what was wanted, and most windows belong to connections that wait for a read.
        return None
    if any(group.think_ns for group in asked):
        # Pauses may set the goodput while windows still grow, and reads become faster.
        means["window"] = ("mean window", GROWING)
    for column in (c for c in result.data.series.columns if c.name in means):
        name, allowed = means[column.name]
        values = [value for value in column.values if value is not None]
        if len(values) < SAMPLES:
            continue
        third = len(values) // 3
        first, last = fmean(values[:third]), fmean(values[-third:])
        if abs(last - first) <= allowed * max(first, last):
            continue
        text = (
            f"the {name} went from {three(first)} to {three(last)} {column.unit} during the "
            "measurement: the senders' windows had not settled, and all numbers average over the "
            f"change. Set run.warmup to {at_least(end_of(result))} or more."
        )
        return Warned(text, abs(last - first) / max(first, last))
    return None


def windows_grow(result: Record) -> Warned | None:
    """A warning if the windows of closed-loop senders only grew: nothing has stopped them yet."""
    transport = result.data.transport
    if transport is None or any(senders.cut_packets(transport).values()):
        return None
    column = next((c for c in result.data.series.columns if c.name == "window"), None)
    values = [v for v in (column.values if column is not None else []) if v is not None]
    if len(values) < 2 or values[-1] <= (1 + ONLY_GROWING) * values[0]:
        return None
    text = (
        f"no window was cut in the {time(result.data.measured_ns)} measured, and the mean window "
        f"grew from {three(values[0])} to {three(values[-1])} packets: what it will come to is not "
        f"seen yet, nor are the delays and drops there. Set run.warmup to "
        f"{at_least(end_of(result))} or more."
    )
    return Warned(text, values[-1] / values[0])


def filling(result: Record) -> Warned | None:
    """A warning if the number of packets in the server kept growing: its rings were filling."""
    found = settled.rings_fill(result)
    if found is None:
        return None
    grew = (
        f"the number of packets in the server grew from {found.begin:,} to {found.end:,} while "
        f"{result.data.packets.offered:,} arrived"
    )
    if result.peak is not None:
        text = (
            f"{grew}: the server may not keep up with this rate for long. Increase run.duration "
            "for a peak that it can sustain."
        )
        return Warned(text, found.end - found.begin)
    text = (
        f"{grew}: its rings were still filling, so drops and latencies are not yet those of full "
        f"rings. Set run.warmup to {at_least(found.full_ns)} or more."
    )
    return Warned(text, found.full_ns)


def sending_queue_fills(result: Record) -> Warned | None:
    """A warning if cores give the NIC more packets to send than it sends."""
    found = settled.send_queues_fill(result)
    if found is None:
        return None
    text = (
        f"the number of packets that wait to be sent grew from {found.begin:,} to {found.end:,}: "
        "the NIC sends fewer than the cores complete, which they can do until transmit queues are "
        f"full. Set run.warmup to {at_least(found.full_ns)} or more."
    )
    return Warned(text, found.full_ns)
