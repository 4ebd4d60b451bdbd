"""Colours with a meaning; each works on light and dark backgrounds and for colour-blind readers.

The hues are spread after Okabe and Ito ("Color Universal Design", 2008), at a lightness near 60 %
so that one value serves both backgrounds. Nothing relies on colour alone: everything is labelled.
"""

from __future__ import annotations

from typing import Any

RUNS = ["#7c86a6", "#0f9d8c", "#cc7a29", "#8d6cc3", "#3f8fd0", "#c65d86"]
"""One colour per run of a comparison; the first, the base, is subdued."""

CAUSES = {
    "rx-evct": "#d8492f",
    "nic-rx-wr": "#2f74bd",
    "cpu-rx-rd": "#6ba8de",
    "nic-tx-rd": "#7c5cb8",
    "cpu-tx-rd": "#a78cd8",
    "tx-evct": "#c7589a",
    "cpu-other-rd": "#2f9b80",
    "other-evct": "#dba03a",
    "mbuf-rd": "#a6305f",
    "prefetch-rd": "#75bd92",
    "iommu-walk-rd": "#893f0b",
}
"""Receive traffic is blue and its leak red, transmit violet, the application green and gold.

The last three keep an OKLab distance of 0.1 from every other, even without red or green cones.
"""

CONTENTS = {
    "rx": CAUSES["nic-rx-wr"],
    "rx-consumed": CAUSES["rx-evct"],
    "tx": CAUSES["tx-evct"],
    "mbuf": CAUSES["mbuf-rd"],
    "bench": CAUSES["cpu-rx-rd"],
}
"""What the LLC holds, in the colour of its traffic."""

PAGE_TABLES = CAUSES["iommu-walk-rd"]
"""Those that the LLC holds, which belong to no tenant, in the colour of their traffic."""

TENANTS = [
    CAUSES[name] for name in ("cpu-other-rd", "other-evct", "prefetch-rd", "nic-tx-rd", "cpu-tx-rd")
]
"""The data of applications, one colour each, in the order of the tenants."""

OTHER_CAUSE = "#8b909b"
"""Descriptors, evicted metadata and other small causes, drawn as one."""

AS_PACKETS = {"nic-bench-rd": "nic-tx-rd", "nic-bench-wr": "nic-rx-wr", "bench-evct": "rx-evct"}
"""Data of the DMA benchmark takes the place of packets and uses their colours."""

LATENCIES = {
    "nic": "#2f74bd",
    "dma": "#6ba8de",
    "queue": "#d8492f",
    "service": "#2f9b80",
    "transmit": "#a78cd8",
}
"""The stages of a packet's latency; waiting is red."""

QUEUES = {
    "received": LATENCIES["nic"],
    "not received": LATENCIES["queue"],
    "busy": LATENCIES["service"],
    "in use": LATENCIES["nic"],
}
"""What cores and their queues do; what is lost is red."""

DASHES = ["solid", "dash", "dashdot", "longdash"]
"""Line styles to distinguish runs when all colours are taken. Dotted lines are bounds."""

SYMBOLS = ["circle", "diamond-open", "x", "square-open"]
"""Marks on lines that may lie on each other, one for each of `DASHES`."""

PATTERNS = ["", "/", "x", "."]
"""The same for bars."""


def run(number: int) -> str:
    """The colour of a run by its place in the comparison."""
    return RUNS[number % len(RUNS)]


def line(number: int, width: float = 2.5) -> dict[str, str | float]:
    """The line of a run in a plot."""
    dash = DASHES[number // len(RUNS) % len(DASHES)]
    return {"color": run(number), "dash": dash, "width": width}


def crossing(number: int) -> dict[str, str | float]:
    """The line of a run that may lie on another's: dashed, except for the first, which is wide.

    Dashes and colours together tell as many runs apart as those of `line`.
    """
    return line(number, 5 if number == 0 else 2.5) | {"dash": DASHES[_style(number)]}


def mark(number: int) -> dict[str, str | int]:
    """The marks of such a line: those of the first are in the middle of the others."""
    return {"symbol": SYMBOLS[_style(number)], "size": 9 + _style(number)}


def _style(number: int) -> int:
    """The style of a line that may lie on another's: that of the next run is another."""
    return (number + number // len(RUNS)) % len(DASHES)


def bar(number: int) -> dict[str, Any]:
    """The bars of a run in a plot."""
    return {"color": run(number), "pattern_shape": PATTERNS[number // len(RUNS) % len(PATTERNS)]}


def cause(name: str) -> str:
    """The colour of a cause of memory traffic: its own, or the one for small causes."""
    return CAUSES.get(AS_PACKETS.get(name, name), OTHER_CAUSE)
