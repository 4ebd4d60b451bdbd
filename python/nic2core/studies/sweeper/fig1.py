"""Figure 1: the key-value store under DMA, DDIO and ideal DDIO (section IV-A)."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

from nic2core.studies.evaluate import (
    Evaluator,
    and_also,
    every,
    largest,
    percent_above,
    percent_below,
    span,
    steadily,
)
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.look import Clusters
from nic2core.studies.sweeper.points import DMA, IDEAL, Placement, ddio, kvs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point
    from nic2core.studies.reading import Reading

BUFFERS = (512, 1024, 2048)
DDIO = tuple(ddio(ways) for ways in (2, 4, 6))
PLACEMENTS = (DMA, *DDIO, IDEAL)
POINTS = [kvs(p, buffers=b) for b, p in product(BUFFERS, PLACEMENTS)]

COMPLETELY = 0.01
"""Share that may be left of what is "completely" gone: one percent."""
NEGLIGIBLE = 0.05
"""Share of the whole up to which a part is "negligible": five percent."""
RESOLUTION = 0.02
"""Each peak is known to one percent, so two peaks differ only if at least two percent apart."""


def _pairs(placement: Placement) -> list[tuple[Point, Point]]:
    """Every DDIO configuration, paired with the same one under another placement."""
    return [(kvs(d, buffers=b), kvs(placement, buffers=b)) for b, d in product(BUFFERS, DDIO)]


def gain_over_dma(at: At) -> Simulated:
    """Throughput of DDIO relative to DMA's."""
    return largest(at(d).mrps / at(dma).mrps for d, dma in _pairs(DMA))


def dma_bandwidth(at: At) -> Simulated:
    """By how much DMA's memory bandwidth exceeds DDIO's."""
    return span(percent_above(at(dma).bandwidth, at(d).bandwidth) for d, dma in _pairs(DMA))


def dma_slower_but_busier(at: At) -> Simulated:
    """The lesser of: DMA's bandwidth over DDIO's, DDIO's throughput over DMA's."""
    return every(
        (
            min(at(dma).bandwidth / at(d).bandwidth, at(d).mrps / at(dma).mrps)
            for d, dma in _pairs(DMA)
        ),
        lambda ratio: ratio > 1 + RESOLUTION,
    )


def amat_lower(at: At) -> Simulated:
    """Mean memory access time of DDIO relative to DMA's."""
    return every(
        (at(d).amat_ns / at(dma).amat_ns for d, dma in _pairs(DMA)), lambda r: r < 1 - RESOLUTION
    )


def dram_less_loaded(at: At) -> Simulated:
    """Mean latency of memory reads under DDIO relative to DMA's."""
    return every(
        (at(d).dram_mean_ns / at(dma).dram_mean_ns for d, dma in _pairs(DMA)),
        lambda r: r < 1 - RESOLUTION,
    )


def nic_traffic_gone(at: At) -> Simulated:
    """Memory traffic of the NIC itself under DDIO, as a share of that under DMA."""

    def nic(point: Point) -> float:
        return at(point).accesses("nic-rx-wr", "nic-tx-rd")

    return every((nic(d) / nic(dma) for d, dma in _pairs(DMA)), lambda share: share <= COMPLETELY)


def fewer_accesses(at: At) -> Simulated:
    """By how much DDIO's accesses per request fall below DMA's."""
    return largest(percent_below(at(d).accesses(), at(dma).accesses()) for d, dma in _pairs(DMA))


def premium_over_ideal(at: At) -> Simulated:
    """Accesses per request of DDIO relative to ideal DDIO's."""
    return span(at(d).accesses() / at(ideal).accesses() for d, ideal in _pairs(IDEAL))


def below_ideal(at: At) -> Simulated:
    """Throughput of DDIO relative to ideal DDIO's."""
    return every(
        (at(d).mrps / at(ideal).mrps for d, ideal in _pairs(IDEAL)), lambda r: r < 1 - RESOLUTION
    )


def fewer_buffers_faster(at: At) -> Simulated:
    """Throughput at each ring size relative to that at half the size, under DDIO."""
    sequences = ([at(kvs(d, buffers=b)).mrps for b in BUFFERS] for d in DDIO)
    return steadily(sequences, RESOLUTION, rising=False)


def faster_and_leaking_less(sequences: Iterable[Sequence[Reading]]) -> Simulated:
    """Throughput of each reading relative to the one before; evictions must fall as well."""
    found = [list(sequence) for sequence in sequences]
    faster = steadily(([r.mrps for r in sequence] for sequence in found), RESOLUTION, rising=True)
    pairs = [pair for sequence in found for pair in pairwise(sequence)]
    return and_also(faster, all(b.rx_evictions < a.rx_evictions for a, b in pairs))


def ways_reduce_churn(at: At) -> Simulated:
    """Throughput relative to that with two ways fewer; evictions must fall as well."""
    return faster_and_leaking_less([at(kvs(d, buffers=b)) for d in DDIO] for b in BUFFERS)


def ways_shrink_premium(at: At) -> Simulated:
    """Accesses per request over ideal DDIO's, relative to that ratio with two ways fewer."""

    def premium(placement: Placement, buffers: int) -> float:
        of, ideal = at(kvs(placement, buffers=buffers)), at(kvs(IDEAL, buffers=buffers))
        return of.accesses() / ideal.accesses()

    sequences = ([premium(d, b) for d in DDIO] for b in BUFFERS)
    return steadily(sequences, RESOLUTION, rising=False)


FITTING = (ddio(4), ddio(6))


def leak_where_rings_fit(at: At) -> Simulated:
    """Share of receive-buffer evictions in all accesses though all 512 buffers fit the I/O ways."""
    readings = [at(kvs(d, buffers=512)) for d in FITTING]
    return every(
        (r.rx_evictions / r.accesses() for r in readings), lambda share: share > COMPLETELY
    )


def premature_negligible(at: At) -> Simulated:
    """Share of reads of evicted receive buffers in all accesses."""
    readings = [at(d) for d, _ in _pairs(IDEAL)]
    return every(
        (r.premature_reads / r.accesses() for r in readings), lambda share: share <= NEGLIGIBLE
    )


def consumed_dominate(at: At) -> Simulated:
    """Share of consumed buffers in all evictions of receive buffers."""
    readings = [at(d) for d, _ in _pairs(IDEAL)]
    return every(
        (r.consumed_evictions / r.rx_evictions for r in readings),
        lambda share: share >= 1 - NEGLIGIBLE,
    )


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""
    clusters = [(str(b), lambda p, b=b: kvs(p, buffers=b)) for b in BUFFERS]
    shown = Clusters(at, PLACEMENTS, "RX buffers per core", clusters)
    return [
        shown.throughput("(a) Peak throughput", "Mrps"),
        shown.bandwidth(),
        shown.accesses("c", "request"),
    ]


FIGURE = Figure("1", "KVS: the effect of network data leaks", POINTS, draw, columns=3)

_WITH_DMA = [point for pair in _pairs(DMA) for point in pair]
_WITH_IDEAL = [point for pair in _pairs(IDEAL) for point in pair]
_DDIO = [point for point, _ in _pairs(IDEAL)]
CLAIMS = {
    "fig1a/ddio-over-dma": Evaluator(_WITH_DMA, gain_over_dma),
    "fig1a/amat-lower-than-dma": Evaluator(_WITH_DMA, amat_lower),
    "fig1a/dram-less-loaded": Evaluator(_WITH_DMA, dram_less_loaded),
    "fig1a/gap-to-ideal": Evaluator(_WITH_IDEAL, below_ideal),
    "fig1a/fewer-buffers-faster": Evaluator(_DDIO, fewer_buffers_faster),
    "fig1b/dma-bandwidth-over-ddio": Evaluator(_WITH_DMA, dma_bandwidth),
    "fig1b/dma-slower-but-busier": Evaluator(_WITH_DMA, dma_slower_but_busier),
    "fig1c/nic-traffic-gone": Evaluator(_WITH_DMA, nic_traffic_gone),
    "fig1c/accesses-below-dma": Evaluator(_WITH_DMA, fewer_accesses),
    "fig1c/accesses-over-ideal": Evaluator(_WITH_IDEAL, premium_over_ideal),
    "fig1c/ways-shrink-premium": Evaluator(_WITH_IDEAL, ways_shrink_premium),
    "fig1c/ways-reduce-churn": Evaluator(_DDIO, ways_reduce_churn),
    "fig1c/leak-where-rings-fit": Evaluator(
        [kvs(d, buffers=512) for d in FITTING], leak_where_rings_fit
    ),
    "fig1c/premature-negligible": Evaluator(_DDIO, premature_negligible),
    "fig1c/consumed-dominate": Evaluator(_DDIO, consumed_dominate),
}
