"""The paper's closed form, C x size / (Tbase + M x Tmiss), with terms that the simulation counts.

`C` is the I/O controller's credits for lines on their way to memory, as many as whole write
transactions can hold; `size` is the payload of a line. `Tbase` is measured in the same scenario
with the IOMMU off: the time for which a line holds its credit, plus the time that it waits for the
link before that although credits are free, since the form has no other term for the link.
`M x Tmiss` is how long a line waits for translations. `Tmiss` is the cost per line of each miss of
its packet. This is less than the time of a walk, because a walk in progress delays what follows
only for its remaining time, and walks overlap. The number of misses therefore cancels. Where
credits limit, the comparison tests that all credits are in use or could be, that only translations
make a DMA take longer, and Little's law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.scenario.quantity import LINE_BYTES
from nic2core.studies.evaluate import Evaluator, every
from nic2core.studies.host_congestion.judge import CLOSE, VISIBLE, throughput, within
from nic2core.studies.point import base_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point
    from nic2core.studies.reading import Reading


def usable(lines: int) -> int:
    """Credits that whole write transactions of the maximum payload can hold."""
    payload = base_scenario("host-congestion")["machine"]["pcie"]["max_payload"]
    of_a_write = int(payload.removesuffix(" B")) // LINE_BYTES
    return lines // of_a_write * of_a_write


def closed_form_gbps(reading: Reading, base: Reading) -> float:
    """Throughput by the closed form, Gbps of payload; `base` is the run that gives `Tbase`."""
    payload_bits = 8 * LINE_BYTES * reading.goodput_gbps / reading.written_gbps
    base_ns = base.write_link_wait_ns + base.write_latency_ns
    return usable(reading.write_credits) * payload_bits / (base_ns + reading.write_wait_ns)


def closed_form(cases: Mapping[Point, Point]) -> Evaluator:
    """Throughput relative to the closed form, at the points where PCIe credits limit.

    `cases` maps each point with the IOMMU on to the same point with it off. Credits limit where the
    throughput with the IOMMU on is visibly lower.
    """
    points = list(dict.fromkeys([*cases, *cases.values()]))

    def evaluate(at: At) -> Simulated | None:
        found = [
            throughput(at(on)) / closed_form_gbps(at(on), at(off))
            for on, off in cases.items()
            if throughput(at(on)) < VISIBLE * throughput(at(off))
        ]
        return every(found, within(1 - CLOSE, 1 + CLOSE)) if found else None

    return Evaluator(points, evaluate)
