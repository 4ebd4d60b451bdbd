"""The path of a packet as a picture: each stage is a vessel filled according to its load."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from nic2core import names, words
from nic2core.describe.limiter import mark
from nic2core.explain.stages import LEAKS
from nic2core.explain.use import uneven
from nic2core.results.bases import is_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nic2core.results.models import CacheResults
    from nic2core.run_record import Record

WIDTH = 1272
"""Width of the drawing, in its own units."""

TOP, TALL = 16, 388
"""Upper edge and height of the largest frames."""

MARGIN = 8
"""What stays free below everything."""

SENDS = {
    "tx-descriptors": "TX descriptors",
    "tx-fetches": "TX reads",
    "read-tags": "read tags",
    "read-credits": "read credits",
}
"""Transmit stages. There is room for one: the one that limits, otherwise the fullest."""

RINGS = ("descriptors", "RX descriptors")
"""The stage shown behind the SRAM, unless one of the following limits or would be next."""

IN_PLACE_OF_RINGS = {"rx-fetches": "RX reads", "packet-engine": "packet rate"}

CHANNELS = (210.0, 184.0)
"""Upper edge and height of the bars of memory channels."""

CHANNEL = 34
"""Largest distance of these bars."""

FEW_CHANNELS, LEGIBLE_CHANNELS = 8, 16
"""Number of channels up to which they are in one column, and up to which they have labels."""

LETTER = 6.2
"""Mean width of a character of the small text, in the drawing's units."""


@dataclass(frozen=True)
class Frame:
    """A part of the server that holds stages."""

    title: str
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True)
class Gauge:
    """A stage, filled from below by its load."""

    stage: str
    title: str
    load: float
    detail: str
    badge: str
    """`LIMITS` on the stage that limits the run, `NEXT` on the one that would be next."""
    x: float
    y: float
    w: float
    h: float

    @property
    def severity(self) -> str:
        """How heavily it is loaded: `low`, `medium` or `high`."""
        return words.severity(self.load).name

    @property
    def has_capacity(self) -> bool:
        """Whether the load is a share of the stage's capacity and not of the requests it serves."""
        return self.stage not in ("llc", "io-ways")

    @property
    def percent(self) -> str:
        """The load as displayed."""
        return f"{100 * self.load:.0f} %"

    @property
    def fill(self) -> float:
        """Height of the fill."""
        return self.h * min(max(self.load, 0.0), 1.0)

    @property
    def lines(self) -> list[str]:
        """The detail, wrapped to the gauge's width."""
        # Keep a number together with its percent sign, and with what it is the number of.
        text = re.sub(r" (?=%)|(?<=core) (?=\d)", "\N{NO-BREAK SPACE}", self.detail)
        return textwrap.wrap(text, int((self.w - 18) / LETTER))[: int((self.h - 60) / 15)][:3]


@dataclass(frozen=True)
class Link:
    """Traffic between two parts; the width of the stroke shows the amount of traffic."""

    kind: str
    points: tuple[tuple[float, float], ...]
    width: float
    label: str
    x: float
    y: float
    tip: str = ""

    @property
    def shaft(self) -> str:
        """The stroke as an SVG path."""
        return "M" + " L".join(f"{x:g} {y:g}" for x, y in self.points)

    @property
    def head(self) -> str:
        """The arrow head as polygon points; the last segment is horizontal or vertical."""
        (x0, y0), (x, y) = self.points[-2:]
        dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
        half = self.width / 2 + 4
        corners = (
            (x - dy * half, y - dx * half),
            (x + dx * half, y + dy * half),
            (x + dy * half, y + dx * half),
        )
        return " ".join(f"{a:g},{b:g}" for a, b in corners)


@dataclass(frozen=True)
class Bar:
    """A thin bar with a label: a channel's load or a cache's hit ratio."""

    label: str
    share: float
    text: str
    kind: str
    x: float
    y: float
    w: float


@dataclass(frozen=True)
class Caption:
    """Text in place of a stage that has no capacity, and therefore no load."""

    title: str
    value: str
    lines: list[str]
    x: float
    y: float


@dataclass(frozen=True)
class Picture:
    """Everything that is drawn."""

    frames: list[Frame]
    gauges: list[Gauge]
    links: list[Link]
    bars: list[Bar]
    captions: list[Caption]
    description: str

    @property
    def height(self) -> float:
        """Height of the drawing: down to the lowest of what is drawn."""
        frames = [frame.y + frame.h for frame in self.frames]
        shafts = [y + link.width / 2 for link in self.links for _, y in link.points]
        return max(*frames, *shafts, *(link.y for link in self.links)) + MARGIN


def picture(result: Record) -> Picture:
    """Lay out the path of one run."""
    stages = {stage.stage: stage.load for stage in result.stages}
    titles = {
        "pcie": "PCIe link",
        "nic-port": "NIC port",
        "posted-credits": "posted credits",
        "iommu": "IOMMU walkers",
        "invalidations": "IOMMU invalidations",
        "io-credits": "I/O write credits",
    }
    crossed = [name for name in titles if name in stages]
    # The details of four stages do not fit in a frame as high as the NIC's.
    io_y, io_h = (TOP, TALL) if len(crossed) > 3 else (76, 292)
    sending = [name for name in SENDS if name in stages]
    sending.sort(key=lambda name: (name != result.limiting_stage.stage, -stages[name]))
    nic_y, nic_h, third = (TOP, TALL, 120) if sending else (76, 292, 130)
    frames = [
        Frame("Wire", 8, 76, 136, 292),
        Frame("NIC", 176, nic_y, 164, nic_h),
        Frame("PCIe and I/O" if "pcie" in stages else "I/O controller", 372, io_y, 200, io_h),
        Frame("Processor", 604, TOP, 416, TALL),
        Frame("Memory", 1144, TOP, 120, TALL),
    ]
    # Without I/O ways (plain DMA), the LLC also takes their place.
    llc_x = 750 if "io-ways" in stages else 616
    places: dict[str, tuple[str, float, float, float, float]] = {
        "wire": ("link", 18, 106, 116, 252),
        "nic-sram": ("input SRAM", 188, nic_y + 30, 140, third - 8),
        "cores": ("cores", 616, 46, 230, 122),
        "miss-registers": ("miss registers", 854, 46, 154, 122),
        "io-ways": ("LLC: I/O ways", 616, 268, 126, 126),
        "llc": ("LLC", llc_x, 268, 876 - llc_x, 126),
        "home-trackers": ("home trackers", 884, 268, 124, 126),
        "dram": ("DRAM", 1154, 46, 100, 76 if "socket-link" in stages else 142),
        "socket-link": ("socket link", 1154, 128, 100, 60),
    }
    limits = result.limiting_stage.stage
    supply = (limits, IN_PLACE_OF_RINGS[limits]) if limits in IN_PLACE_OF_RINGS else RINGS
    places[supply[0]] = (supply[1], 188, nic_y + 30 + third, 140, third - 8)
    for row, name in enumerate(crossed):
        step = (io_h - 32) / len(crossed)
        places[name] = (titles[name], 384, io_y + 30 + row * step, 176, step - 8)
    if uneven(result.data):
        # Otherwise it is as full as the cores are.
        places["dispatch"] = ("dispatch", 616, 46, 111, 122)
        places["cores"] = ("cores", 735, 46, 111, 122)
    for name in sending[:1]:
        places[name] = (SENDS[name], 188, nic_y + 30 + 2 * third, 140, third - 8)
    gauges = []
    for stage in result.stages:
        if stage.stage in places:
            title, *box = places[stage.stage]
            badge = mark(result).upper()
            if stage.stage != result.limiting_stage.stage:
                badge = ""
            gauges.append(Gauge(stage.stage, title, stage.load, stage.detail, badge, *box))
    links = [*_packets(result, nic_y + nic_h + 2), *_memory(result, io_y + io_h + 2)]
    bars = [*_hits(result), *_channels(result)]
    captions = [] if "wire" in stages else [_arrivals(result)]
    return Picture(frames, gauges, links, bars, captions, _describe(result))


def _arrivals(result: Record) -> Caption:
    """What arrives, if the wire has no limit."""
    packets = result.data.packets
    if packets.offered == 0:
        return Caption("arrivals", "", ["no packets"], 18, 106)
    rates = [f"{words.three(packets.completed_gbps)} Gbit/s", "completed"]
    return Caption(
        "arrivals", words.three(packets.offered_mpps), ["Mpps offered", "", *rates], 18, 106
    )


def _packets(result: Record, nic_end: float) -> Iterator[Link]:
    """Packets from the wire to the cores and back; dropped ones leave the NIC at the bottom."""
    packets = result.data.packets
    if packets.offered == 0:
        return
    yield Link("net", ((146, 222), (168, 222)), 5, "", 0, 0)
    yield Link("net", ((342, 222), (364, 222)), 5, "", 0, 0)
    yield Link("net", ((574, 332), (604, 332)), 5, "", 0, 0)
    yield Link("net", ((679, 264), (679, 244)), 5, "", 0, 0)
    yield Link("net", ((679, 196), (679, 179)), 5, "", 0, 0)
    if packets.drop_share > 0:
        label = (
            f"{words.percent(packets.drop_share)} dropped: no room in {words.no_room_in(packets)}"
        )
        yield Link("drop", ((258, nic_end), (258, nic_end + 20)), 5, label, 258, nic_end + 40)
    if packets.transmitted > 0:
        yield Link("net", ((364, 346), (342, 346)), 5, "", 0, 0)
        yield Link("net", ((168, 346), (146, 346)), 5, "", 0, 0)


def _memory(result: Record, io_end: float) -> Iterator[Link]:
    """Traffic to and from memory; a saturated bus is drawn 26 units wide.

    Traffic that bypasses the caches leaves the I/O frame at its lower end.
    """
    memory = result.data.memory
    causes = {c.cause: c.gbytes_per_s for c in memory.causes}
    # What the NIC moves past the caches; leaks are shown apart from other write-backs.
    direct = {c for c in causes if c.startswith("nic-")}
    reads = {c for c in causes if is_read(c)} - direct
    writes = set(causes) - reads - direct - LEAKS
    flows = (
        ("read", "read", reads, 288.0, 1142, 1036),
        ("write", "written", writes, 332.0, 1022, 1128),
        ("leak", "leaked", LEAKS, 376.0, 1022, 1128),
        ("direct", "NIC ↔ memory", direct, 432.0, 472, 1204),
    )
    for kind, what, those, y, begin, end in flows:
        # In the order of the results: that of a set differs from one process to the next.
        found = [name for name in causes if name in those]
        gbytes_per_s = sum(causes[name] for name in found)
        if gbytes_per_s < 0.05:
            continue
        width = 2 + 24 * min(1.0, gbytes_per_s / (memory.bus_limit_gbytes_per_s or 1.0))
        points: tuple[tuple[float, float], ...] = ((begin, y), (end, y))
        if kind == "direct":
            points = ((begin, io_end), (begin, y), (end, y), (end, TOP + TALL + 8 + width / 2))
        parts = sorted(found, key=lambda name: -causes[name])
        tip = ", ".join(f"{names.CAUSES.get(n, n)} {words.three(causes[n])} GB/s" for n in parts)
        label = f"{words.three(gbytes_per_s)} GB/s {what}"
        middle = 812 if kind == "direct" else 1082
        yield Link(kind, points, width, label, middle, y - width / 2 - 5, tip)


def _hits(result: Record) -> Iterator[Bar]:
    """Hit ratios of the private caches, over all kinds of lines."""
    for place, (level, name) in enumerate((("l1d", "L1d"), ("l2", "L2"))):
        share = _hit_ratio(c for c in result.data.caches if c.level == level)
        if share is not None:
            text = f"{100 * share:.0f} % hits"
            yield Bar(name, share, text, "hits", 616 + 200 * place, 206, 192)


def _hit_ratio(rows: Iterable[CacheResults]) -> float | None:
    hits = misses = 0
    for row in rows:
        hits += row.hits
        misses += row.misses
    return hits / (hits + misses) if hits + misses else None


def _channels(result: Record) -> Iterator[Bar]:
    """The load of each memory channel, in two columns if there are many."""
    channels = result.data.dram.bus_busy
    columns = 1 if len(channels) <= FEW_CHANNELS else 2
    rows = ceil(len(channels) / columns)
    top, height = CHANNELS
    step, width = min(CHANNEL, height / max(1, rows)), 100 / columns
    for number, busy in enumerate(channels):
        label, text = (f"ch {number}", f"{100 * busy:.0f} %") if columns == 1 else (str(number), "")
        if len(channels) > LEGIBLE_CHANNELS:
            label = ""
        column, row = divmod(number, rows)
        x, kind = 1154 + column * width, words.severity(busy).name
        yield Bar(label, busy, text, kind, x, top + step * row, width - 8 * (columns - 1))


def _describe(result: Record) -> str:
    loads = ", ".join(f"{names.stage(s.stage)} {100 * s.load:.0f} %" for s in result.stages)
    return f"Load of each stage from wire to memory: {loads}."
