"""The DDIO measurements of "ddio-bench" on a Xeon Gold 6140: real hardware, not simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import _core
from nic2core.studies import palette
from nic2core.studies.chart import Curves, Line
from nic2core.studies.claim import Simulated, load_claims
from nic2core.studies.evaluate import Evaluator, at_one, every, span
from nic2core.studies.point import Point, base_scenario, merge, point
from nic2core.studies.study import Figure, Study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Judged
    from nic2core.studies.evaluate import At

WAYS = (2, 3, 4, 5, 6, 11)
CORES = (1, 2, 4, 6, 8, 10, 12, 14, 16, 18)

OFFERED_BPS = 99_400_000_000
"""Rate that many cores forward in the data set (99.3 to 99.5 Gbps), so what its generator sent."""
OUTLIER = 2
"""With so many cores the data set's DMA reads hit less than with all others (D1)."""
FCS_BYTES = 4
"""Included in the packet sizes of the data set; the NIC strips it."""


WAYS_BYTES = 1024
"""Size of the packets of the series "Ways", with FCS."""
WAYS_GBPS = {2: 84.56, 3: 85.59, 4: 86.58, 5: 87.00, 6: 87.27, 11: 87.14}
"""What one core forwards in this series, by I/O ways."""


def forward(cores: int, packet: int, descriptors: int, ways: int) -> Point:
    """Forward packets of this size at the rate of the data set's generator."""
    frame = packet - FCS_BYTES
    scenario = base_scenario("ddio-bench")
    (tenant,) = scenario["tenants"]
    changes = {
        "placement": {"io_ways": ways},
        "queues": {"rx_descriptors": descriptors},
        "traffic": {
            "rate": f"{OFFERED_BPS // (8 * (frame + _core.WIRE_OVERHEAD_BYTES))} pps",
            "sizes": {"size": f"{frame} B"},
        },
        "tenants": [tenant | {"cores": {"first": 0, "count": cores}}],
    }
    name = f"L2fwd, {cores} cores, {packet} B x {descriptors}, {ways} ways"
    return point("run", merge(scenario, changes), name)


def ways_point(ways: int) -> Point:
    """A point of the series "Ways"."""
    return forward(cores=1, packet=WAYS_BYTES, descriptors=4096, ways=ways)


def cores_point(cores: int) -> Point:
    """A point of the series "Cores"."""
    return forward(cores=cores, packet=1500, descriptors=256, ways=2)


def more_ways_faster(at: At) -> Simulated:
    """Throughput of one core with 6 I/O ways over that with 2."""
    gain = at(ways_point(6)).mrps / at(ways_point(2)).mrps
    return every([gain], lambda gain: gain > 1.005)


def throughput(at: At) -> Simulated:
    """Simulated over measured throughput of one core, with all numbers of ways."""
    found = {n: _gbps(at(ways_point(n)).mrps, WAYS_BYTES) for n in WAYS}
    return every([found[n] / WAYS_GBPS[n] for n in WAYS], lambda ratio: abs(ratio - 1) <= 0.03)


def _gbps(mpps: float, packet: int) -> float:
    """Of packets with FCS, on the wire."""
    return mpps * 8 * (packet - FCS_BYTES + _core.WIRE_OVERHEAD_BYTES) / 1e3


def read_hits(at: At) -> Simulated:
    """Share of DMA reads that hit the LLC, with all numbers of cores but the outlier."""
    return span(at(cores_point(n)).read_hit_percent for n in CORES if n != OUTLIER)


def one_queue_is_short(at: At) -> Simulated:
    """Forwarded share of what is offered: one send queue, and the least of several."""
    forwarded = {n: 1 - at(cores_point(n)).drop_share for n in CORES}
    one = forwarded.pop(1)
    several = min(forwarded.values())
    return Simulated(one, several, one < 0.97 and several > 0.995)


def _curves(
    title: str, x: str, series: str, values: Sequence[int], where: Callable[[int], Point]
) -> Callable[[At], list[Panel]]:
    def draw(at: At) -> list[Panel]:
        published = {c.id: c.published_low for c in load_claims("ddio-bench").claims}
        measured = [published[f"ddio-bench/fig{series}/{n}"] for n in values]
        simulated = [at(where(n)).write_hit_percent for n in values]
        xs = [float(n) for n in values]
        lines = [
            Line(
                "measured", xs, [m for m in measured if m is not None], palette.BLACK, marked=True
            ),
            Line("simulated", xs, simulated, palette.ORANGE, dashed=True, marked=True),
        ]
        return [Curves(title, x, "DMA writes that hit the LLC (%)", lines)]

    return draw


WRITE_HITS = {
    **{f"ddio-bench/figways/{n}": ways_point(n) for n in WAYS},
    **{f"ddio-bench/figcores/{n}": cores_point(n) for n in CORES},
}
"""The points at which the data set has a share of write hits, by claim."""


def summary(judged: Sequence[Judged]) -> str:
    """Mean and worst error of the write hits over all simulated points."""
    errors = [abs(j.error[0]) for j in judged if j.error is not None and j.claim.id in WRITE_HITS]
    if not errors:
        return "no point was simulated"
    return (
        f"write-hit ratio over {len(errors)} points: mean error {sum(errors) / len(errors):.1f}, "
        f"worst {max(errors):.1f} percentage points"
    )


STUDY = Study(
    paper="ddio-bench",
    evaluators={
        **{
            claim: at_one(point, lambda reading: reading.write_hit_percent)
            for claim, point in WRITE_HITS.items()
        },
        "ddio-bench/figways/more-ways-faster": Evaluator(
            [ways_point(2), ways_point(6)], more_ways_faster
        ),
        "ddio-bench/figways/throughput": Evaluator([ways_point(n) for n in WAYS], throughput),
        "ddio-bench/figcores/reads": Evaluator(
            [cores_point(n) for n in CORES if n != OUTLIER], read_hits
        ),
        "ddio-bench/figcores/reads-2": at_one(
            cores_point(OUTLIER), lambda reading: reading.read_hit_percent
        ),
        "ddio-bench/figcores/one-queue-is-short": Evaluator(
            [cores_point(n) for n in CORES], one_queue_is_short
        ),
    },
    figures=[
        Figure(
            "ways",
            "Write hits over I/O ways: 1 core, 1024 B, 4096 descriptors",
            [ways_point(n) for n in WAYS],
            _curves("Series Ways", "I/O ways", "ways", WAYS, ways_point),
        ),
        Figure(
            "cores",
            "Write hits over cores: 2 ways, 1500 B, 256 descriptors",
            [cores_point(n) for n in CORES],
            _curves("Series Cores", "Cores", "cores", CORES, cores_point),
        ),
    ],
    summary=summary,
)
