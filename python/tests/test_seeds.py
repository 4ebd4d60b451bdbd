"""Runs of a scenario with several seeds: means, and what chance explains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import Sweep, compare
from nic2core.command.terminal import show_comparison
from nic2core.describe import seeds
from nic2core.describe.compared import ONE_SEED, compared
from nic2core.describe.seeds import Spread
from nic2core.report.page import report_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core import Result


def runs(base: Result, rates: Sequence[float], **settings: Any) -> list[Result]:
    """The same run with seeds from 1 on, each with its own rate."""
    made = []
    for seed, mpps in enumerate(rates, start=1):
        packets = base.data.packets.model_copy(update={"completed_mpps": mpps})
        data = base.data.model_copy(update={"seed": seed, "packets": packets})
        scenario = base.scenario | {"run": base.scenario["run"] | {"seed": seed}}
        given = {**settings, "run.seed": seed}
        label = f"{base.label}, seed={seed}"
        made.append(replace(base, scenario=scenario, data=data, settings=given, label=label))
    return made


@pytest.fixture
def two(ddio: Result, sweeper: Result) -> Sweep:
    """Two scenarios with three seeds each, the second clearly faster."""
    slow = runs(ddio, [1.0, 1.1, 1.2], **{"placement.sweeper": False})
    fast = runs(sweeper, [1.5, 1.4, 1.3], **{"placement.sweeper": True})
    return Sweep([*slow, *fast], 6)


def test_runs_with_one_seed_each_are_not_grouped(ddio: Result, sweeper: Result) -> None:
    assert seeds.repeated([ddio, sweeper]) == []
    assert seeds.repeated([ddio, ddio]) == []
    assert compare(ddio, sweeper).over_seeds.is_empty()


def test_a_clear_difference_is_told_with_its_spread(two: Sweep, sweeper: Result) -> None:
    assert two.sentence.startswith(
        f"{sweeper.label} is fastest at 1.40 (1.30 to 1.50) M packets/s over 3 seeds, 27 % more "
        "than the slowest, "
    )
    ((pair, said),) = two.differences.items()
    assert "seed" not in pair
    assert "completed: 1.10 (1.00 to 1.20) → 1.40 (1.30 to 1.50) Mpps (+27 %)" in said


def test_a_difference_that_seeds_make_as_well_is_not_told_as_one(
    ddio: Result, sweeper: Result
) -> None:
    slow, fast = runs(ddio, [1.0, 1.3, 1.1]), runs(sweeper, [1.2, 1.5, 1.4])
    both = compare(*slow, *fast)
    assert both.sentence.startswith(
        "None is faster by more than chance, 1.00 to 1.50 M packets/s over 3 seeds; "
    )
    ((_, said),) = both.differences.items()
    assert not [s for s in said if s.startswith("completed: ")]
    (unclear,) = [s for s in said if s.startswith("no clearer than chance: ")]
    assert "completed (+21 %)" in unclear


def test_one_scenario_is_told_by_its_spread(ddio: Result) -> None:
    only = compare(*runs(ddio, [1.0, 2.0]))
    assert only.sentence.startswith("1.50 (1.00 to 2.00) M packets/s over 2 seeds; limited by ")
    assert only.differences == {}


def test_runs_of_another_engine_are_no_further_seeds(ddio: Result) -> None:
    here = runs(ddio, [1.0, 1.1])
    data = [r.data.model_copy(update={"engine_version": "other"}) for r in here]
    there = [replace(r, data=d) for r, d in zip(here, data, strict=True)]
    assert [len(group.runs) for group in seeds.repeated([*here, *there])] == [2, 2]


def test_the_table_has_means_and_extremes(two: Sweep) -> None:
    found = two.over_seeds
    assert found["seeds"].to_list() == [3, 3]
    assert found["placement.sweeper"].to_list() == [False, True]
    assert "run.seed" not in found.columns
    for column, wanted in (
        ("rate_mps", [1.1, 1.4]),
        ("rate_mps low", [1.0, 1.3]),
        ("rate_mps high", [1.2, 1.5]),
    ):
        assert found[column].to_list() == pytest.approx(wanted)


def test_means_are_plotted_with_bars_to_the_extremes(two: Sweep) -> None:
    (bars,) = two.plot().data
    assert list(bars.y) == pytest.approx([1.1, 1.4])
    assert list(bars.error_y.array) == pytest.approx([0.1, 0.1])
    assert list(bars.error_y.arrayminus) == pytest.approx([0.1, 0.1])
    # Without another key there is nothing but the seeds to draw over.
    alone = Sweep(two.results[:3], 3).plot()
    assert len(alone.data[0].y) == 3


def test_terminal_and_report_have_a_column_for_each_scenario(
    two: Sweep, capsys: pytest.CaptureFixture[str]
) -> None:
    show_comparison(two.results)
    shown = capsys.readouterr().out
    assert "1.40 (1.30 to 1.50)" in shown
    assert "seed=1" not in shown
    page = report_html(two.results)
    assert "Mean over the seeds, and in brackets the least and the greatest." in page
    assert page.count('<td class="num">1.40 (1.30 to 1.50)</td>') == 1


def test_a_number_that_looks_the_same_for_all_seeds_has_no_brackets() -> None:
    assert str(Spread([1.0, 1.0001])) == "1.00"
    assert str(Spread([1.0, 1.1])) == "1.05 (1.00 to 1.10)"


@pytest.mark.parametrize(("seeds_each", "chance"), [(2, 1 / 3), (3, 0.1), (4, 0.03), (5, 0.008)])
def test_how_often_chance_sets_two_groups_apart(seeds_each: int, chance: float) -> None:
    """All ways to deal the ranks to two groups are equally likely if only seeds differ."""
    from itertools import combinations

    ranks = set(range(2 * seeds_each))
    dealt = [set(one) for one in combinations(ranks, seeds_each)]
    apart = [Spread([*one]).apart_from(Spread([*(ranks - one)])) for one in dealt]
    assert sum(apart) / len(dealt) == pytest.approx(chance, rel=0.06)


@pytest.mark.parametrize(("faster", "caution"), [(1.0, ""), (1.05, ONE_SEED), (1.5, "")])
def test_small_differences_of_single_seeds_are_shown_with_a_caution(
    ddio: Result, sweeper: Result, faster: float, caution: str
) -> None:
    one, other = *runs(ddio, [1.0]), *runs(sweeper, [faster])
    assert compared([one, other]).caution == caution
    assert ("run.seed=1,2,3,4" in report_html([one, other])) == bool(caution)


def test_with_several_seeds_there_is_no_caution(two: Sweep) -> None:
    assert compared(two.results).caution == ""
