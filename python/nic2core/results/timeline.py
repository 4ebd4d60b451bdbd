"""The timeline of a run: the paths of individual packets, for ui.perfetto.dev.

It is written in Chrome's Trace Event Format, which Perfetto reads: one process per queue, whose
threads are rows for packets in flight at the same time, with counters beside them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nic2core import names, words
from nic2core._core import UserError
from nic2core.files import write_whole
from nic2core.results.plain import Plain

if TYPE_CHECKING:
    from collections.abc import Iterator

Event = dict[str, Any]

HOST = 1
"""The process ID for what belongs to no queue; queues are numbered from the next ID on."""

VIEWER = "https://ui.perfetto.dev"

HEAD = '{"displayTimeUnit":"ns","traceEvents":['
"""How the file of a timeline begins."""


@dataclass(frozen=True)
class Recording:
    """Which packets a timeline traces, from the end of the warm-up on."""

    every: int = 10
    """One in this many arriving packets is traced."""
    packets: int = 1000
    """Number of packets to trace; the recording ends with the last of them."""
    interval_ns: int = 1000
    """Simulated time between two readings of the counters, ns."""

    def __post_init__(self) -> None:
        for name in ("every", "packets", "interval_ns"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or not 1 <= int(value) < 2**32:
                raise UserError(
                    f"A timeline with {name} = {value!r}: whole numbers from 1 to {2**32 - 1} are "
                    "allowed."
                )


class Slice(Plain):
    """A step of a packet's path."""

    stage: str
    """The stage of the latency histograms that it belongs to."""
    step: str
    """Name of the step."""
    begin_ps: int
    """Its start, picoseconds."""
    end_ps: int
    """Its end, picoseconds."""


class PacketWay(Plain):
    """The path of one packet."""

    number: int
    """Number of the packet within the traffic; with closed-loop traffic, within its connection."""
    flow: int
    """Its flow or connection."""
    bytes: int
    """Bytes on arrival."""
    queue: int
    """The queue it arrived at."""
    dropped: str | None
    """Why it was dropped, if it was."""
    slices: list[Slice]
    """What it waited for or went through, in order; steps that took no time are omitted."""


class DroppedPacket(Plain):
    """A packet that the NIC dropped."""

    at_ps: int
    """When, picoseconds."""
    number: int
    """Number of the packet, as in `PacketWay`."""
    flow: int
    """Its flow or connection."""
    queue: int
    """Its queue."""
    reason: str
    """Why."""


class Counter(Plain):
    """A counter over time."""

    name: str
    """What it counts."""
    unit: str
    """Unit of the values."""
    queue: int | None
    """The queue that it belongs to; absent for counters of the whole host."""
    values: list[float]
    """One value per reading."""


class Timeline(Plain):
    """What was recorded."""

    packets: list[PacketWay]
    """Packets that completed their path, in order of arrival."""
    unfinished: int
    """Packets still in flight when the run ended: they are not in `packets`."""
    drops: list[DroppedPacket]
    """Drops of any packets, traced or not, in order of time."""
    drops_left_out: int = 0
    """Drops beyond the capacity of a recording: they are not in `drops`."""
    times_ps: list[int]
    """When the counters were read, picoseconds."""
    readings_left_out: int = 0
    """Readings beyond the capacity of a recording, up to its end: they are not in `times_ps`."""
    counters: list[Counter]
    """The counters, each with a value for every reading."""

    def __repr__(self) -> str:
        """The number of packets and drops, for an interactive prompt."""
        return f"Timeline of {len(self.packets)} packets and {len(self.drops)} drops"

    def left_out(self) -> str:
        """A sentence on what happened during the recording but is not in it; empty if nothing."""
        if not (self.packets or self.unfinished or self.drops):
            return "The timeline has no packets: none came while it was recorded."
        parts = {
            f"{words.count(self.unfinished, 'packet')} still on the way at its end": (
                self.unfinished
            ),
            f"{words.count(self.drops_left_out, 'drop')} beyond the first {len(self.drops):,}": (
                self.drops_left_out
            ),
            f"{words.count(self.readings_left_out, 'reading')} of the counters beyond the first "
            f"{len(self.times_ps):,}": self.readings_left_out,
        }
        missing = [text for text, number in parts.items() if number]
        return f"The timeline does not have {', '.join(missing)}." if missing else ""

    def write(self, path: str | Path) -> Path:
        """Write a trace that ui.perfetto.dev can open, and return its path."""
        path = Path(path)
        # One event per line keeps large files readable and searchable.
        events = ",\n".join(json.dumps(e, separators=(",", ":")) for e in self.events())
        write_whole(path, f"{HEAD}\n{events}\n]}}\n")
        return path

    def events(self) -> Iterator[Event]:
        """The events of the trace."""
        queues = {p.queue for p in self.packets} | {d.queue for d in self.drops}
        queues |= {c.queue for c in self.counters if c.queue is not None}
        yield from _process(None)
        for queue in sorted(queues):
            yield from _process(queue)
            ways = [p for p in self.packets if p.queue == queue and p.slices]
            rows: list[int] = []
            for packet in ways:
                row = _row(rows, packet)
                if rows[row] == 0:
                    yield _meta("thread_name", queue, f"packets, row {row + 1}", row + 1)
                rows[row] = packet.slices[-1].end_ps
                yield from _way(packet, row + 1)
        for drop in self.drops:
            yield {
                "ph": "i", "s": "p", "pid": _pid(drop.queue), "tid": 0, "ts": _us(drop.at_ps),
                "cat": "drop", "name": f"dropped: {drop.reason}",
                "args": {"packet": drop.number, "flow": drop.flow},
            }  # fmt: skip
        for counter in self.counters:
            yield from self._readings(counter)

    def _readings(self, counter: Counter) -> Iterator[Event]:
        """The readings at which a counter changed; a trace keeps a value until the next."""
        before = None
        for at, value in zip(self.times_ps, counter.values, strict=True):
            if value != before:
                before = value
                yield {
                    "ph": "C", "pid": _pid(counter.queue), "ts": _us(at),
                    "name": f"{counter.name} ({counter.unit})", "args": {counter.unit: value},
                }  # fmt: skip


def _us(ps: int) -> float:
    """Microseconds, cut to whole nanoseconds as Perfetto does, so that slices stay adjacent."""
    return ps // 1000 / 1000


def _pid(queue: int | None) -> int:
    return HOST if queue is None else HOST + 1 + queue


def _meta(kind: str, queue: int | None, name: str, tid: int = 0) -> Event:
    return {"ph": "M", "pid": _pid(queue), "tid": tid, "name": kind, "args": {"name": name}}


def _process(queue: int | None) -> Iterator[Event]:
    yield _meta("process_name", queue, "host" if queue is None else f"queue {queue}")
    pid = _pid(queue)
    yield {"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}


def _row(rows: list[int], packet: PacketWay) -> int:
    """The first row that is free when the packet arrives, or a new one."""
    arrived = packet.slices[0].begin_ps
    free = (row for row, busy_until in enumerate(rows) if busy_until <= arrived)
    row = next(free, len(rows))
    if row == len(rows):
        rows.append(0)
    return row


def _way(packet: PacketWay, row: int) -> Iterator[Event]:
    """A packet as nested slices: the whole path, the stages of the histograms, their steps."""
    whole: dict[str, Any] = {"packet": packet.number, "flow": packet.flow, "bytes": packet.bytes}
    if packet.dropped is not None:
        whole["dropped"] = packet.dropped

    def span(name: str, kind: str, slices: list[Slice], **more: Any) -> Event:
        begin, end = slices[0].begin_ps, slices[-1].end_ps
        return {
            "ph": "X", "pid": _pid(packet.queue), "tid": row, "cat": kind, "name": name,
            "ts": _us(begin), "dur": (end // 1000 - begin // 1000) / 1000, **more,
        }  # fmt: skip

    # Closed-loop senders number the packets of each connection.
    yield span(f"flow {packet.flow}, packet {packet.number}", "packet", packet.slices, args=whole)
    # Slices shorter than the trace's resolution would look like instants.
    slices = [s for s in packet.slices if s.begin_ps // 1000 < s.end_ps // 1000]
    for stage, steps in groupby(slices, lambda s: s.stage):
        parts = list(steps)
        yield span(names.LATENCIES.get(stage, stage), "stage", parts)
        for part in parts:
            yield span(part.step, "step", [part])
