"""The study of the host congestion paper: its points, and its claims evaluated both ways."""

import json
from functools import cache
from typing import Any

import pytest
from synthetic import SyntheticEngine
from synthetic_receiver import Fault

from nic2core.studies.claim import Simulated, judge, load_claims
from nic2core.studies.host_congestion import STUDY, fig3, fig4, fig5, fig6
from nic2core.studies.host_congestion.points import RUN, receiver
from nic2core.studies.point import Point, base_scenario, plan

CLAIMS = {
    claim.id.removeprefix("host-congestion/"): claim for claim in load_claims(STUDY.paper).claims
}


@cache
def simulated(fault: Fault | None) -> dict[Point, dict[str, Any]]:
    """Every point of the study under the toy rule."""
    engine = SyntheticEngine(receiver_fault=fault)
    points = plan(point for figure in STUDY.figures for point in figure.points)
    return {point: engine.run(json.loads(point.scenario)) for point in points}


def evaluate(claim: str, fault: Fault | None = None) -> Simulated | None:
    return STUDY.evaluators[f"host-congestion/{claim}"](simulated(fault))


@pytest.mark.parametrize("claim", [name for name, c in CLAIMS.items() if c.kind == "ordering"])
def test_the_orderings_hold_where_every_mechanism_is_there(claim: str) -> None:
    found = evaluate(claim)
    assert found is not None
    assert found.holds


BROKEN: dict[Fault, tuple[str, ...]] = {
    "walks-are-free": (
        "fig3/on-below-off",
        "fig3/on-throughput-falls",
        "fig3/steady-drops",
        "fig3/below-81-then",
        "fig4/earlier-bottleneck",
        "fig4/less-throughput",
        "fig5/throughput-falls",
        "fig6/on-loses-more",
        "fig6/on-low-without-stream",
    ),
    "endless-iotlb": (
        "fig3/misses-rise",
        "fig3/sudden-rise",
        "fig4/more-misses",
        "fig5/host-delay-rises",
        "fig5/misses-rise",
    ),
    "deaf-senders": (
        "fig3/drops-fall-then",
        "fig4/fewer-drops",
        "fig5/drops-fall-at-16mb",
        "fig6/on-drops-fall",
    ),
    "no-drops": (
        "fig3/drops-rise-to-12",
        "fig3/drops-remain",
        "fig3/lower-target-no-cure",
        "fig3/dctcp-no-cure",
        "fig6/off-drops",
    ),
    "flows-take-pages": ("fig3/flows-minimal",),
    "unmapping-is-free": ("fig4/unmapping-is-worse",),
    "private-bus": (
        "fig6/off-near-saturation",
        "fig6/on-falls-earlier",
        "fig6/off-drops",
        "fig6/write-latency-rises",
        "fig6/throughput-falls",
    ),
    "one-thread-works": ("fig3/linear-rise",),
    "always-drops": ("fig3/software-congestion-handled",),
    "slow-walks": ("fig3/miss-latency", "fig3/above-81-to-12-threads"),
    "lines-miss": ("fig3/at-most-six-misses",),
    "standing-queue": ("fig3/host-delay-idle",),
    "no-buffer": (
        "fig6/on-delay-above-target",
        "fig6/hundreds-of-microseconds",
        "fig6/read-tail",
    ),
    "idle-credits": (
        "fig3/closed-form",
        "fig4/closed-form",
        "fig5/closed-form",
        "fig6/closed-form",
    ),
    "narrow-bus": ("fig6/off-headroom",),
    "idle-stream": ("fig6/cpus-get-more",),
}


@pytest.mark.parametrize(
    ("fault", "claim"), [(fault, claim) for fault, claims in BROKEN.items() for claim in claims]
)
def test_a_missing_mechanism_is_noticed(fault: Fault, claim: str) -> None:
    judged = judge(CLAIMS[claim], evaluate(claim, fault), load_claims(STUDY.paper).tolerance)
    assert judged.holds is False


def test_every_ordering_can_fail() -> None:
    orderings = {name for name, claim in CLAIMS.items() if claim.kind == "ordering"}
    assert orderings == {claim for claims in BROKEN.values() for claim in claims}


def test_values_are_of_the_points_that_they_name() -> None:
    results = simulated(None)

    def goodput(point: Point) -> float:
        found: float = results[point]["transport"]["goodput_gbps"]
        return found

    off, on = fig3.OFF, fig3.ON
    loss = max(100 * (1 - goodput(on[n]) / goodput(off[n])) for n in off)
    assert evaluate("fig3/largest-loss") == Simulated(loss, loss)
    small = max(100 * (1 - goodput(fig4.SMALL[n]) / goodput(off[n])) for n in off)
    assert evaluate("fig4/loss") == Simulated(small, small)
    left = goodput(fig6.ON[15])
    assert evaluate("fig6/on-throughput-15-cores") == Simulated(left, left)
    assert evaluate("fig6/off-first-cores") == Simulated(10, 10)
    assert evaluate("fig6/on-first-cores") == Simulated(8, 8)
    assert evaluate("fig6/sublinear-cores") == Simulated(6, 6)


def test_the_rule_of_the_full_buffer() -> None:
    found = evaluate("fig3/buffer-rate")
    assert found is not None
    assert found.low == pytest.approx(2**20 * 8 / 90e3)


def test_a_threshold_that_is_never_met_is_absent() -> None:
    assert evaluate("fig6/off-first-cores", "private-bus") is None
    assert evaluate("fig4/threads-below-81", "walks-are-free") is None
    assert evaluate("fig4/utilization-with-drops", "no-drops") is None


def test_figures_share_the_baseline() -> None:
    base = receiver("on")
    assert fig3.ON[12] == fig5.ON[12] == fig6.ON[0] == base
    assert fig3.OFF[12] == fig6.OFF[0] == receiver("off")


def test_figures_vary_what_the_paper_varies_and_nothing_else() -> None:
    base = base_scenario("host-congestion")
    for point in plan(p for figure in STUDY.figures for p in figure.points):
        scenario = json.loads(point.scenario)
        for key in ("core", "l2", "llc", "noc", "dram", "nic", "pcie"):
            assert scenario["machine"][key] == base["machine"][key], point.name
        assert scenario["run"] == base["run"] | RUN, point.name
        assert scenario["placement"] == base["placement"], point.name
