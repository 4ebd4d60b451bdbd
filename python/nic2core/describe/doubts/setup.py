"""Warnings about the setup: pools, late posting, rivals, application bugs, other versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.describe.doubts.warned import Warned
from nic2core.engine import version
from nic2core.scenario.closed_loop import groups, most_kept
from nic2core.scenario.quantity import nanoseconds
from nic2core.scenario.queues import room_to_send
from nic2core.words import time

if TYPE_CHECKING:
    from nic2core.run_record import Record


def other_version(result: Record) -> Warned | None:
    """A warning if the result was saved by another version of nic2core."""
    made, here = result.data.engine_version, _core.__version__
    if made == here:
        return None
    return Warned(
        f"nic2core {made} simulated this run, and {here} may simulate it differently. To compare "
        f"it with runs of {here}, run it again."
    )


def other_build(result: Record) -> Warned | None:
    """A warning if another build simulated the result: that of a changed engine, for example."""
    if result.engine in ("", version()):
        return None
    return Warned(
        f"another build of nic2core simulated this run ({result.engine}; this is {version()}). "
        "If what is simulated was changed in between, run it again before you compare it."
    )


def never_there(result: Record) -> Warned | None:
    """A warning if rivals begin only after the run has ended."""
    transport, run = result.data.transport, result.scenario["run"]
    if transport is None:
        return None
    end_ns = nanoseconds(run["warmup"]) + nanoseconds(run["duration"])
    late = [of for of in groups(result.scenario["traffic"]) if of.start_ns >= end_ns]
    if not late:
        return None
    return Warned(
        f"the rivals never send: traffic.rivals.start is {time(late[0].start_ns)}, and the run "
        f"ends at {time(end_ns)}. Mean windows are over them as well."
    )


def small_pool(result: Record) -> Warned | None:
    """A warning if packets being sent occupy the buffers that a full receive ring needs."""
    queues = result.scenario["queues"]
    in_place = any(tenant.sends_in_place for tenant in result.data.tenants)
    receive, transmit = int(queues["rx_descriptors"]), room_to_send(queues)
    buffers = int(queues.get("pool_buffers") or receive)
    kept = most_kept(result.scenario)
    if kept and buffers < receive + kept:
        return Warned(
            f"each core's pool has {buffers:,} buffers, but the receive ring needs {receive:,}, "
            f"and up to {kept:,} packets wait in theirs until their read is complete (copied = "
            f'"on-completion"). Set queues.pool_buffers to {receive + kept:,} or more, unless your '
            "real pool is this small."
        )
    if not in_place or not result.scenario.get("traffic") or buffers >= receive + transmit:
        return None
    return Warned(
        f"each core's pool has {buffers:,} buffers, but its queues need {receive + transmit:,} "
        f"({receive:,} receive descriptors, and room for {transmit:,} packets that wait to be "
        "sent): packets are sent from the buffer they arrived in, so the receive ring cannot stay "
        "full while they are being sent. "
        f"Set queues.pool_buffers to {receive + transmit:,} or more, unless your real pool is this "
        "small."
    )


LARGE_PART = 0.5
"""Share of a receive ring above which the descriptors that are posted together are told."""


def late_posting(result: Record) -> Warned | None:
    """A warning if packets are dropped while much of the receive ring waits to be posted again."""
    queues, packets = result.scenario["queues"], result.data.packets
    ring, batch = int(queues["rx_descriptors"]), int(queues["post_batch"])
    if packets.dropped_no_descriptor == 0 or batch <= LARGE_PART * ring:
        return None
    fewer = max(1, ring // 4)
    return Warned(
        f"packets are dropped for lack of receive descriptors, and up to {batch - 1:,} of a "
        f"queue's {ring:,} wait until {batch:,} can be posted together. Set queues.post_batch to "
        f"{fewer:,} or less, or queues.rx_descriptors to more, unless your driver does the same.",
        packets.drop_share,
    )


def premature_reads(result: Record) -> Warned | None:
    """A warning if an application read data that it had swept."""
    reads = result.data.reads_after_sweep
    if reads == 0:
        return None
    text = (
        f"an application has a bug: it relinquished data and read it afterwards, "
        f"{reads:,} time{'s' if reads > 1 else ''}. Such a read returns stale data. Relinquish a "
        "buffer only after the last read of it."
    )
    return Warned(text, reads)
