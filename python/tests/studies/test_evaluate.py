import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from synthetic import SyntheticEngine

from nic2core.studies import PAPERS, load_study
from nic2core.studies.claim import Simulated, load_claims
from nic2core.studies.evaluate import At, Evaluator, every, largest, span, steadily, steps
from nic2core.studies.point import Point, plan
from nic2core.studies.reading import Reading
from nic2core.studies.sweeper import STUDY, fig1, fig5, fig9, fig10


@cache
def synthetic_results(paper: str, engine: SyntheticEngine) -> dict[Point, dict[str, Any]]:
    """Every point of a study, simulated by the toy rule."""
    results: dict[Point, dict[str, Any]] = {}
    for point in plan(p for figure in load_study(paper).figures for p in figure.points):
        peak = None if point.rate_of is None else results[point.rate_of]["peak_mpps"]
        scenario = point.ready_scenario(peak)
        simulate = engine.find_peak if point.kind == "peak" else engine.run
        results[point] = simulate(scenario)
    return results


SOUND = SyntheticEngine()


def evaluate(claim: str, engine: SyntheticEngine = SOUND) -> Simulated:
    paper = claim.partition("/")[0]
    found = load_study(paper).evaluators[claim](synthetic_results(paper, engine))
    assert found is not None
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_is_evaluated_from_its_own_points(paper: str) -> None:
    results = synthetic_results(paper, SyntheticEngine())
    study = load_study(paper)
    for claim in load_claims(paper).claims:
        evaluator = study.evaluators[claim.id]
        found = evaluator({point: results[point] for point in evaluator.points})
        assert found is not None, claim.id
        assert math.isfinite(found.low), claim.id
        assert found.low <= found.high, claim.id
        assert (found.holds is not None) == (claim.kind == "ordering"), claim.id


def test_points_of_claims_are_points_of_figures() -> None:
    drawn = {p for figure in STUDY.figures for p in figure.points}
    for name, evaluator in STUDY.evaluators.items():
        assert set(evaluator.points) <= drawn, name


def test_reading_an_undeclared_point_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="not declared"):
        At({})(fig1.POINTS[0])


def test_ranges_are_over_all_configurations() -> None:
    results = synthetic_results("sweeper", SyntheticEngine())
    ratios = [
        results[fig5.at_cluster(fig5.SWEEPER[w], c)]["peak_mpps"]
        / results[fig5.at_cluster(fig5.PLAIN[w], c)]["peak_mpps"]
        for c in fig5.CLUSTERS
        for w in range(4)
    ]
    found = evaluate("sweeper/fig5a/sweeper-boost")
    assert (found.low, found.high) == (min(ratios), max(ratios))


@pytest.mark.parametrize(
    "claim",
    [
        "sweeper/fig5c/consumed-evictions-gone",
        "sweeper/fig5c/accesses-match-ideal",
        "sweeper/fig7b/consumed-evictions-gone",
        "sweeper/fig7b/2way-net-gain",
    ],
)
def test_a_sweeper_that_does_not_sweep_is_noticed(claim: str) -> None:
    assert evaluate(claim).holds
    assert not evaluate(claim, replace(SyntheticEngine(), leaks_after_sweep=True)).holds


def test_where_nothing_differs_no_ordering_between_points_holds() -> None:
    """Every point of a claim has the same result: what the paper varies has no effect."""
    held = set()
    for paper in ("sweeper", "host-congestion", "ddio-bench"):
        results = synthetic_results(paper, SOUND)
        for claim in (c for c in load_claims(paper).claims if c.kind == "ordering"):
            evaluator = load_study(paper).evaluators[claim.id]
            # One with all that the claim may ask for.
            same = max((results[p] for p in evaluator.points), key=lambda r: bool(r.get("iommu")))
            found = evaluator(dict.fromkeys(evaluator.points, same))
            if len(set(evaluator.points)) > 1 and found is not None and found.holds:
                held.add(claim.id)
    in_each_point = {
        *(f"host-congestion/fig3/{name}" for name in ("above-81-to-12-threads", "below-81-then")),
        *(f"host-congestion/fig3/{name}" for name in ("drops-remain", "steady-drops")),
        *(f"host-congestion/fig3/{name}" for name in ("at-most-six-misses", "miss-latency")),
        *(f"host-congestion/fig3/{name}" for name in ("flows-minimal", "host-delay-idle")),
        "host-congestion/fig3/software-congestion-handled",
        "host-congestion/fig6/hundreds-of-microseconds",
        "host-congestion/fig6/off-headroom",
        *(f"sweeper/fig1c/{name}" for name in ("consumed-dominate", "leak-where-rings-fit")),
        "sweeper/fig1c/premature-negligible",
        *(f"sweeper/fig2c/{name}" for name in ("app-data-small", "consumed-dominate")),
        "sweeper/fig2c/premature-overshadowed",
    }
    alike = {
        "sweeper/fig5c/accesses-match-ideal",
        "sweeper/fig9b/l3fwd-indifferent",
    }
    assert held == in_each_point | alike


def with_causes(result: dict[str, Any], **shares: float) -> dict[str, Any]:
    """The result with these causes at so many times the evictions of receive buffers."""
    broken: dict[str, Any] = deepcopy(result)
    run = broken.get("results", broken)
    lines = {row["cause"]: row["lines"] for row in run["memory"]["causes"]}
    changed = {name.replace("_", "-"): share for name, share in shares.items()}
    lines |= {name: share * lines["rx-evct"] for name, share in changed.items()}
    run["memory"]["causes"] = [{"cause": name, "lines": n} for name, n in lines.items()]
    return broken


def with_half_the_progress(result: dict[str, Any]) -> dict[str, Any]:
    broken: dict[str, Any] = deepcopy(result)
    for tenant in broken.get("results", broken)["tenants"]:
        tenant["progress_mps"] /= 2
    return broken


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        ("fig1c/consumed-dominate", lambda r: with_causes(r, cpu_rx_rd=0.5)),
        ("fig1c/premature-negligible", lambda r: with_causes(r, cpu_rx_rd=2.0)),
        ("fig1c/leak-where-rings-fit", lambda r: with_causes(r, rx_evct=0.0)),
        ("fig2c/app-data-small", lambda r: with_causes(r, other_evct=0.5)),
        ("fig2c/consumed-dominate", lambda r: with_causes(r, tx_evct=2.0)),
        # Any other cause counts, also one that the figure does not show.
        ("fig2c/consumed-dominate", lambda r: with_causes(r, descriptor_evct=2.0)),
        *(
            ("fig2c/premature-overshadowed", lambda r, n=n: with_causes(r, cpu_rx_rd=n))
            # From 1 on, nothing is left for evictions of consumed ones.
            for n in (0.6, 1.0, 1.1)
        ),
        ("fig9b/l3fwd-indifferent", with_half_the_progress),
    ],
)
def test_an_ordering_of_each_point_fails_where_one_point_breaks_it(
    claim: str, fault: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    results = synthetic_results("sweeper", SOUND)
    evaluator = STUDY.evaluators[f"sweeper/{claim}"]
    sound = {point: results[point] for point in evaluator.points}
    assert evaluator(sound).holds  # type: ignore[union-attr]
    last = list(sound)[-1]
    assert evaluator(sound | {last: fault(sound[last])}).holds is False  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("swept", "beyond"),
    [
        # One split dominates within the resolution, though others equal what is without Sweeper.
        ({4: (1.5, 0.99)}, True),
        ({}, False),
        ({4: (1.5, 0.97)}, False),
        ({4: (1.01, 1.01)}, False),
    ],
)
def test_a_frontier_is_beyond_another_where_each_of_its_points_is_dominated(
    monkeypatch: pytest.MonkeyPatch, *, swept: dict[int, tuple[float, float]], beyond: bool
) -> None:
    does = {fig9.split(w, sweeper=s): (1.0, 1.0) for w in fig9.SPLITS for s in (False, True)}
    does |= {fig9.split(w, sweeper=True): both for w, both in swept.items()}
    monkeypatch.setattr(fig9, "l3fwd", lambda _, point: does[point][0])
    monkeypatch.setattr(fig9, "xmem", lambda _, point: does[point][1])
    assert fig9.frontier(At({})).holds is beyond


def test_a_sequence_rises_if_no_step_falls_and_the_whole_is_visible() -> None:
    rising = [([1.0, 1.0, 1.0], False), ([1.0, 1.01, 1.04], True), ([1.0, 1.2, 1.1], False)]
    for values, holds in rising:
        assert steadily([values], 0.02, rising=True).holds is holds, values
        inverse = [1 / value for value in values]
        assert steadily([inverse], 0.02, rising=False).holds is holds, values
    assert not steadily([[1.0, 2.0], [1.0, 1.0]], 0.02, rising=True).holds, "each has to"


def test_the_crossing_is_interpolated() -> None:
    def drops(share: float) -> dict[str, Any]:
        return {"packets": {"drop_share": share}}

    shallow = (0.01, 0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.14)
    deep = (0.00, 0.00, 0.00, 0.04, 0.10, 0.14, 0.18, 0.22)
    results = {
        fig10.at_rate(fig10.PLAIN, buffers, percent): drops(share)
        for buffers, shares in ((fig10.SHALLOW, shallow), (fig10.DEEP, deep))
        for percent, share in zip(fig10.RATES, shares, strict=True)
    }
    # Leads of +2 and -2 points at 110 and 120 %: they meet half way, where both drop 7 %.
    assert fig10.crossing(At(results)) == pytest.approx(7.0)
    never = {point: drops(0.01) for point in results}
    assert fig10.crossing(At(never)) is None
    evaluator = STUDY.evaluators["sweeper/fig10b/crossing-drop-rate"]
    assert evaluator(never) is None


def test_helpers() -> None:
    assert span([2.0, 1.0, 3.0]) == Simulated(1.0, 3.0)
    assert largest([2.0, 3.0]) == Simulated(3.0, 3.0)
    assert every([1.0, 2.0], lambda v: v > 1) == Simulated(1.0, 2.0, holds=False)
    assert steps([2.0, 4.0, 2.0]) == [2.0, 0.5]
    assert Evaluator([], lambda _: None)({}) is None
    nothing = Evaluator([], lambda _: Simulated(1 / 0.0, 1.0))
    assert nothing({}) is None


@pytest.mark.parametrize(
    ("us", "percent"), [(1, 0.0), (2, 50.0), (3, 60.0), (4, 70.0), (7, 88.75), (9, 100.0)]
)
def test_a_share_between_two_points_of_a_curve_is_interpolated(us: float, percent: float) -> None:
    cdf = [[2e3, 0.5], [4e3, 0.7], [8e3, 0.95], [8.5e3, 1.0]]
    reading = Reading({"transport": {"host_delay": {"cdf": cdf}}})
    assert reading.host_delay_percent_within(us) == pytest.approx(percent)
