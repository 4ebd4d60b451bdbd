"""The IOMMU measurements of "pcie-bench" on a Broadwell server: real hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from nic2core.studies import palette
from nic2core.studies.chart import Curves, Line
from nic2core.studies.claim import load_claims
from nic2core.studies.evaluate import Evaluator, at_one
from nic2core.studies.point import Point, base_scenario, merge, point
from nic2core.studies.study import Figure, Study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Judged
    from nic2core.studies.evaluate import At

Direction = Literal["read", "write"]

SIZES = (64, 256, 512)
WINDOWS_KIB = (16, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 16384, 32768, 65536)
LATENCY_WINDOWS_KIB = (256, 512, 1024, 2048, 4096, 16384, 65536)
OFF_WINDOWS_KIB = (256, 65536)
"""Only the two ends: without the IOMMU the window makes no difference."""

INTERVAL_PS: dict[Direction, int] = {"read": 14_900, "write": 21_100}
"""Time that the card needs to start a DMA, from its rates of 16-byte transfers without an IOMMU:
67.0 and 47.5 million per second (data set, `bw_dma_sz_sweep`)."""


def max_read_request(size: int) -> str:
    """The card's largest read request for DMAs of this size.

    Without an IOMMU its rate drops from 128 to 129 bytes and rises from 256 to 257 (data set,
    `bw_dma_sz_sweep`), so it requests 128 bytes at a time for up to 256 bytes, and 256 beyond.
    """
    return "128 B" if size <= 256 else "256 B"


def dma(direction: Direction, size: int, window_kib: int, *, iommu: bool) -> Point:
    """DMA transactions as fast as the card issues them."""
    changes: dict[str, Any] = {
        "dma_bench": {
            "direction": direction,
            "size": f"{size} B",
            "window": f"{window_kib} KiB",
            "interval": f"{INTERVAL_PS[direction]} ps",
        }
    }
    machine: dict[str, Any] = {"pcie": {"max_read_request": max_read_request(size)}}
    if not iommu:
        machine["iommu"] = None
    changes["machine"] = machine
    name = f"{direction}s of {size} B in {window_kib} KiB, IOMMU {'on' if iommu else 'off'}"
    return point("run", merge(base_scenario("pcie-bench"), changes), name)


def latency(window_kib: int, *, iommu: bool, warm: bool = False) -> Point:
    """Plain read requests of 64 bytes, bypassing the DMA engine, one at a time (`lat_cmd`)."""
    machine: dict[str, Any] = {"pcie": {"non_posted_credits": 1}}
    if not iommu:
        machine["iommu"] = None
    bench = {"window": f"{window_kib} KiB", "warm": warm, "overhead": "0 ns"}
    changes = {"dma_bench": bench, "machine": machine}
    where = f"in {window_kib} KiB, IOMMU {'on' if iommu else 'off'}{', LLC warm' if warm else ''}"
    return point("run", merge(base_scenario("pcie-bench"), changes), f"one read at a time {where}")


def rate(point: Point) -> Evaluator:
    """Payload, Gbit/s."""
    return at_one(point, lambda reading: reading.dma_gbps)


def mean_latency(point: Point) -> Evaluator:
    """Mean latency of a read, ns."""
    return at_one(point, lambda reading: reading.dma_latency_ns)


def _measured(ids: Sequence[str]) -> list[float]:
    published = {c.id: c.published_low for c in load_claims("pcie-bench").claims}
    return [value for claim in ids if (value := published[claim]) is not None]


def _lines(
    label: str, windows: Sequence[int], ids: Sequence[str], simulated: Sequence[float], color: str
) -> list[Line]:
    xs = [float(w) for w in windows]
    return [
        Line(f"{label}, measured", xs, _measured(ids), color, marked=True),
        Line(f"{label}, simulated", xs, simulated, color, dashed=True, marked=True),
    ]


def _rates(direction: Direction) -> Callable[[At], list[Panel]]:
    def panel(at: At, size: int) -> Panel:
        def at_all(windows: Sequence[int], *, iommu: bool) -> tuple[list[str], list[float]]:
            points = [dma(direction, size, w, iommu=iommu) for w in windows]
            ids = [_rate_id(direction, size, w, iommu=iommu) for w in windows]
            return ids, [at(p).dma_gbps for p in points]

        lines = [
            *_lines("off", OFF_WINDOWS_KIB, *at_all(OFF_WINDOWS_KIB, iommu=False), palette.SKY),
            *_lines("on", WINDOWS_KIB, *at_all(WINDOWS_KIB, iommu=True), palette.ORANGE),
        ]
        return Curves(f"{size} B", "Window (KiB)", "Payload (Gbit/s)", lines, log_x=True)

    return lambda at: [panel(at, size) for size in SIZES]


def _latencies(at: At) -> list[Panel]:
    simulated = [at(latency(w, iommu=True)).dma_latency_ns for w in LATENCY_WINDOWS_KIB]
    ids = [f"pcie-bench/figlatency/on-{w}k" for w in LATENCY_WINDOWS_KIB]
    lines = _lines("on", LATENCY_WINDOWS_KIB, ids, simulated, palette.ORANGE)
    return [Curves("64 B reads, one at a time", "Window (KiB)", "Mean (ns)", lines, log_x=True)]


def _rate_id(direction: Direction, size: int, window_kib: int, *, iommu: bool) -> str:
    return f"pcie-bench/fig{direction}s/{size}-{'on' if iommu else 'off'}-{window_kib}k"


def _cases(direction: Direction) -> list[tuple[str, Point]]:
    return [
        (
            _rate_id(direction, size, window, iommu=iommu),
            dma(direction, size, window, iommu=iommu),
        )
        for size in SIZES
        for iommu, windows in ((False, OFF_WINDOWS_KIB), (True, WINDOWS_KIB))
        for window in windows
    ]


LATENCIES = {
    "pcie-bench/figlatency/off-cold": latency(256, iommu=False),
    "pcie-bench/figlatency/off-warm": latency(256, iommu=False, warm=True),
    **{f"pcie-bench/figlatency/on-{w}k": latency(w, iommu=True) for w in LATENCY_WINDOWS_KIB},
}


def summary(judged: Sequence[Judged]) -> str:
    """Mean and worst error over all simulated points."""
    errors = [100 * abs(j.error[0]) for j in judged if j.error is not None]
    if not errors:
        return "no point was simulated"
    within = sum(error <= 10 for error in errors)
    mean = sum(errors) / len(errors)
    return (
        f"{within} of {len(errors)} points within 10 %: "
        f"mean error {mean:.1f} %, worst {max(errors):.1f} %"
    )


STUDY = Study(
    paper="pcie-bench",
    evaluators={
        **{claim: rate(point) for claim, point in [*_cases("read"), *_cases("write")]},
        **{claim: mean_latency(point) for claim, point in LATENCIES.items()},
    },
    figures=[
        Figure(
            "latency",
            "Latency of DMA reads over the window, 4 KiB pages",
            list(LATENCIES.values()),
            _latencies,
        ),
        Figure(
            "reads",
            "DMA reads over the window, 4 KiB pages, IOMMU off and on",
            [point for _, point in _cases("read")],
            _rates("read"),
            columns=3,
        ),
        Figure(
            "writes",
            "DMA writes over the window, 4 KiB pages, IOMMU off and on",
            [point for _, point in _cases("write")],
            _rates("write"),
            columns=3,
        ),
    ],
    summary=summary,
)
