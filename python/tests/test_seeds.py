"""Runs of a scenario with several seeds: means, and what chance explains."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from nic2core import Sweep, UserError, compare
from nic2core.command.terminal import show_comparison, show_keys
from nic2core.describe import seeds
from nic2core.describe.compared import ONE_SEED, compared
from nic2core.describe.labels import name_cases
from nic2core.describe.spread import Spread
from nic2core.report.page import report_html
from nic2core.results.models import Peak
from nic2core.scenario.toml_text import as_table
from nic2core.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nic2core import Comparison, Result


def runs(base: Result, rates: Sequence[float], first: int = 1, **settings: Any) -> list[Result]:
    """The same run with seeds from the first on, each with its own rate."""
    made = []
    for seed, mpps in enumerate(rates, start=first):
        packets = base.data.packets.model_copy(update={"completed_mpps": mpps})
        data = base.data.model_copy(update={"seed": seed, "packets": packets})
        scenario = base.scenario | {"run": base.scenario["run"] | {"seed": seed}}
        given = {**settings, "run.seed": seed}
        label = f"{base.label}, seed={seed}"
        made.append(replace(base, scenario=scenario, data=data, settings=given, label=label))
    return made


def spread(*values: float, first: int = 1) -> Spread:
    return Spread(dict(enumerate(values, start=first)))


@pytest.fixture
def two(ddio: Result, sweeper: Result) -> Sweep:
    """Two scenarios with three seeds each, the second clearly faster."""
    slow = runs(ddio, [1.0, 1.1, 1.2], **{"placement.sweeper": False})
    fast = runs(sweeper, [1.3, 1.39, 1.51], **{"placement.sweeper": True})
    return Sweep([*slow, *fast], 6)


def test_the_interval_is_that_of_students_t() -> None:
    # Mean 2, standard deviation 1, and a quantile of 4.303 with two degrees of freedom.
    assert spread(1.0, 2.0, 3.0).half == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert str(spread(1.0, 2.0, 3.0)) == "2.00 ± 2.48"
    assert str(spread(412.0, 430.0)) == "421 ± 114"
    assert str(spread(1.0, 1.0001)) == "1.00"
    assert (str(spread(3.0)), spread(3.0).half) == ("3.00", None)


def test_runs_with_the_same_seeds_are_compared_seed_by_seed() -> None:
    base = spread(1.0, 1.1, 1.2, 1.3)
    three_percent_more = spread(*(1.03 * value for value in base.values))
    assert base.apart_from(three_percent_more)
    other_seeds = spread(*three_percent_more.values, first=7)
    assert base.apart_from(other_seeds) is False
    assert base.apart_from(spread(5.0)) is None
    assert spread(1.0, 1.0).apart_from(spread(1.1, 1.1, first=3))
    assert spread(1.0, 1.0).apart_from(spread(1.0, 1.0, first=3)) is False


def told(seeds_each: int, first: int, more: float) -> int:
    """In how many of 1000 draws two scenarios differ clearly, of which one has so much more."""
    found = 0
    for draw in range(1000):
        values = NormalDist(10.0, 1.0).samples(2 * seeds_each, seed=draw)
        one, other = values[:seeds_each], [value + more for value in values[seeds_each:]]
        found += spread(*one).apart_from(spread(*other, first=first)) or 0
    return found


@pytest.mark.parametrize(
    ("seeds_each", "first", "least", "most"),
    # Welch's t is cautious where there are few values.
    [(2, 1, 35, 65), (5, 1, 35, 65), (2, 100, 5, 50), (5, 100, 30, 65)],
)
def test_where_nothing_differs_at_most_one_number_in_twenty_is_told(
    seeds_each: int, first: int, least: int, most: int
) -> None:
    """With the same seeds in both, and with others."""
    assert least <= told(seeds_each, first, more=0.0) <= most


def test_more_seeds_tell_smaller_differences() -> None:
    assert told(3, 1, more=2.0) < told(5, 1, more=2.0) < told(12, 1, more=2.0)
    assert told(12, 1, more=2.0) > 950


def test_runs_with_one_seed_each_are_not_grouped(ddio: Result, sweeper: Result) -> None:
    assert seeds.repeated([ddio, sweeper]) == []
    assert seeds.repeated([ddio, ddio]) == []
    assert compare(ddio, sweeper).over_seeds.is_empty()


def test_what_differs_besides_the_seed_is_another_scenario(ddio: Result) -> None:
    here = runs(ddio, [1.0, 1.1])
    data = [r.data.model_copy(update={"engine_version": "other"}) for r in here]
    others = {
        "engine": [replace(r, data=d) for r, d in zip(here, data, strict=True)],
        "scenario": [replace(r, scenario_name="other") for r in here],
        "capture": [replace(r, capture="0123") for r in here],
    }
    for what, there in others.items():
        groups = seeds.repeated([*here, *there])
        assert [len(group.runs) for group in groups] == [2, 2], what
        assert len({group.case.label for group in groups}) == 2, what


def test_a_seed_that_was_run_twice_counts_once(ddio: Result) -> None:
    twice = compare(*runs(ddio, [1.0, 2.0]), *runs(ddio, [2.0, 3.0], first=2))
    assert twice.sentence.startswith("2.00 ± 2.48 M packets/s over 3 seeds; limited by ")
    assert twice.over_seeds["seeds"].to_list() == [3]


def test_groups_keep_what_labels_say_besides_the_seed(ddio: Result) -> None:
    def labels(*given: str) -> list[str]:
        named = [replace(r, label=g) for r, g in zip(runs(ddio, [1.0] * 2), given, strict=True)]
        return [group.case.label for group in seeds.repeated(named)]

    assert labels("seed=1, burst=8 (out)", "seed=2, burst=8 (out)") == ["burst=8 (out)"]
    assert labels("burst=8, run.seed=1", "burst=8, run.seed=2") == ["burst=8"]
    assert labels("mine, seed=1 (a)", "mine, seed=2 (a)") == ["mine (a)"]
    # Where that says nothing, or not the same, the scenario does.
    assert labels("seed=1", "seed=2") == [ddio.label]
    assert labels("seed=1 (a)", "seed=2 (a)") == [f"{ddio.label} (a)"]
    assert labels("b: seed=1", "b: seed=2") == [f"b: {ddio.label}"]
    assert labels("b: seed=1 (a)", "b: seed=2 (a)") == [f"b: {ddio.label} (a)"]
    assert labels("b: seed=1, burst=8", "b: seed=2, burst=8") == ["b: burst=8"]
    assert labels("b: burst=8, seed=1", "b: burst=8, seed=2") == ["b: burst=8"]
    assert labels("one", "two") == [ddio.label]


def test_a_clear_difference_is_told_with_how_well_it_is_known(two: Sweep, sweeper: Result) -> None:
    assert two.sentence.startswith(
        f"{sweeper.label} is fastest, with 1.40 ± 0.26 M packets/s over 3 seeds, 27 % more than "
        "the slowest, "
    )
    ((pair, said),) = two.differences.items()
    assert "seed" not in pair
    assert "completed: 1.10 ± 0.25 → 1.40 ± 0.26 Mpps (+27 %)" in said
    assert not [s for s in said if s.startswith("no clearer than chance: completed")]


def test_a_difference_that_chance_explains_is_not_told_as_one(
    ddio: Result, sweeper: Result
) -> None:
    both = compare(*runs(ddio, [1.0, 1.3, 1.1]), *runs(sweeper, [1.5, 1.2, 1.4]))
    assert both.sentence.startswith(
        "None is faster by more than chance over 3 seeds, 1.37 ± 0.38 M packets/s at most; "
    )
    ((_, said),) = both.differences.items()
    assert not [s for s in said if s.startswith("completed: ")]
    (unclear,) = [s for s in said if s.startswith("no clearer than chance: ")]
    assert "completed (+21 %)" in unclear


def test_all_that_cannot_be_told_from_the_best_are_fastest(ddio: Result, sweeper: Result) -> None:
    queues = sweeper.scenario["queues"] | {"burst": 7}
    third = replace(sweeper, scenario=sweeper.scenario | {"queues": queues}, label="third")
    rates = {"ddio": [1.0, 1.01, 1.02], "sweeper": [1.3, 1.5, 1.4], "third": [1.55, 1.3, 1.4]}
    found = [
        run
        for base, of in zip((ddio, sweeper, third), rates.values(), strict=True)
        for run in runs(base, of)
    ]
    said = seeds.in_a_sentence(seeds.repeated(found))
    assert said.startswith(
        f"third and {sweeper.label} are fastest, with up to 1.42 ± 0.31 M packets/s over 3 seeds, "
        f"40 % more than the slowest, {ddio.label}; "
    )


def test_more_load_is_not_faster_over_several_seeds_either(calm: Result) -> None:
    def seeds_of(mpps: float, done: float) -> list[Result]:
        found = []
        for run in runs(calm, [mpps * done] * 3):
            change = {"offered_mpps": mpps, "offered_gbps": 4 * mpps, "drop_share": 1 - done}
            packets = run.data.packets.model_copy(update=change)
            data = run.data.model_copy(update={"packets": packets, "demand_mpps": mpps})
            traffic = run.scenario["traffic"] | {"rate": f"{mpps:g} Mpps"}
            scenario = run.scenario | {"traffic": traffic}
            found.append(replace(run, data=data, scenario=scenario, label=f"rate={mpps:g}"))
        return found

    one, two, four = seeds_of(1.0, 1.0), seeds_of(2.0, 1.0), seeds_of(4.0, 0.8)
    said = seeds.in_a_sentence(seeds.repeated([*one, *two, *four]))
    assert said.startswith(
        "Over 3 seeds, what is offered is carried up to rate=2 (2.00 M packets/s); rate=4 "
        "completes 80.0 % of it; limited by "
    )
    said = seeds.in_a_sentence(seeds.repeated([*one, *two]))
    assert said.startswith("Over 3 seeds, what is offered is carried, 1.00 to 2.00 M packets/s; ")


def test_what_the_fastest_loses_is_told(ddio: Result, sweeper: Result) -> None:
    packets = sweeper.data.packets.model_copy(update={"drop_share": 0.5})
    lossy = replace(sweeper, data=sweeper.data.model_copy(update={"packets": packets}))
    dropped = ddio.drop_share
    both = compare(*runs(ddio, [1.0, 1.0]), *runs(lossy, [2.0, 2.0]))
    assert f"{sweeper.label} loses 50.0 % of the packets, {ddio.label} {percent(dropped)};" in (
        both.sentence
    )
    both = compare(*runs(ddio, [2.0, 2.0]), *runs(lossy, [1.0, 1.0]))
    assert " loses " not in both.sentence


def test_where_rates_are_equal_what_else_differs_is_told(ddio: Result, sweeper: Result) -> None:
    both = compare(*runs(ddio, [1.0, 1.0]), *runs(sweeper, [1.0, 1.0]))
    assert both.sentence.startswith("All are about as fast, 1.00 M packets/s over 2 seeds; ")
    assert " ranges from " in both.sentence
    alone = compare(*runs(ddio, [1.0, 1.0]), *runs(ddio, [1.0, 1.0]))
    assert " ranges from " not in alone.sentence


def test_equal_rates_are_told_as_such(ddio: Result, sweeper: Result) -> None:
    same = seeds.repeated([*runs(ddio, [1.0, 1.002]), *runs(sweeper, [1.004, 1.003, 1.005])])
    said = seeds.in_a_sentence(same)
    assert said.startswith("All are about as fast, 1.00 M packets/s over 2 to 3 seeds; ")
    idle = seeds.repeated([*runs(ddio, [0.0, 0.0]), *runs(sweeper, [1.0, 1.0])])
    assert seeds.in_a_sentence(idle) == ""


def test_changes_from_little_have_no_percentage(ddio: Result, sweeper: Result) -> None:
    grown = compare(*runs(ddio, [1e-3, 1.1e-3]), *runs(sweeper, [1.0, 1.1]))
    ((_, said),) = grown.differences.items()
    (completed,) = [s for s in said if "completed" in s]
    assert "%" not in completed.partition("completed")[2].partition(",")[0]


def test_a_number_that_some_runs_lack_is_told_as_not_known(two: Sweep) -> None:
    data = two[0].data.model_copy(update={"io": None})
    ((_, said),) = compare(replace(two[0], data=data), *two.results[1:]).differences.items()
    (unknown,) = [s for s in said if s.startswith("not known in all runs: ")]
    assert "DMA writes that hit" in unknown


def test_limits_that_some_seeds_share_are_no_change(two: Sweep) -> None:
    ((_, said),) = two.differences.items()
    assert [s for s in said if s.startswith("limited by: ")]
    slow, fast = two.results[:3], two.results[3:]
    # One of the faster runs is limited as the slower ones are.
    mixed = replace(fast[0], data=slow[0].data.model_copy(update={"seed": 1}))
    ((_, said),) = compare(*slow, mixed, *fast[1:]).differences.items()
    assert not [s for s in said if s.startswith("limited by: ")]


def test_the_table_has_means_intervals_and_extremes(two: Sweep) -> None:
    found = two.over_seeds
    assert found["seeds"].to_list() == [3, 3]
    assert found["placement.sweeper"].to_list() == [False, True]
    assert "run.seed" not in found.columns
    for column, wanted in (
        ("rate_mps", [1.1, 1.4]),
        ("rate_mps ±", [0.2484, 0.2617]),
        ("rate_mps low", [1.0, 1.3]),
        ("rate_mps high", [1.2, 1.51]),
    ):
        assert found[column].to_list() == pytest.approx(wanted, rel=1e-3)
    # Numbers that no run has, have their columns, too.
    assert found["goodput_gbps ±"].to_list() == [None, None]
    assert found["goodput_gbps ±"].dtype == pl.Float64


def test_the_table_is_saved_with_a_sweep(two: Sweep, tmp_path: Path) -> None:
    file = tmp_path / "over_seeds.parquet"
    two.save(tmp_path)
    assert_frame_equal(pl.read_parquet(file), two.over_seeds)
    assert len(Sweep.load(tmp_path)) == 6
    # A sweep without several seeds, or a single run, has none.
    Sweep([two[0], two[3]], 2).save(tmp_path)
    assert not file.exists()
    two.save(tmp_path)
    two[0].save(tmp_path)
    assert not file.exists()


def test_means_are_plotted_with_their_intervals(two: Sweep) -> None:
    (bars,) = two.plot().data
    assert list(bars.y) == pytest.approx([1.1, 1.4])
    assert list(bars.error_y.array) == pytest.approx([0.2484, 0.2617], rel=1e-3)
    for column in ("run.seed", "goodput_gbps"):
        with pytest.raises(UserError, match=f"no column '{re.escape(column)}'"):
            two.plot(column)
    # Without another key there is nothing but the seeds to draw over.
    assert len(Sweep(two.results[:3], 3).plot().data[0].y) == 3


def whole(base: Result, rates: Sequence[float], table: str) -> list[Result]:
    """The same run with seeds from 1 on, which are set with all of `run`, in Python or as TOML."""
    made = []
    for run in runs(base, rates):
        text = table.format(run.data.seed)
        given = as_table(text) or json.loads(text.removeprefix("json"))
        settings = {"run": text if text.startswith("{") else given}
        scenario = run.scenario | {"run": run.scenario["run"] | given}
        (label,) = name_cases([scenario], [settings])
        made.append(replace(run, scenario=scenario, settings=settings, label=label))
    return made


@pytest.mark.parametrize(
    "table",
    ["{{seed={}, warmup='5 ms', duration='9 ms'}}", "{{ warmup='5 ms', seed={},duration='9 ms' }}",
     'json{{"warmup": "5 ms", "duration": "9 ms", "seed": {}}}'],
)  # fmt: skip
def test_a_seed_that_is_set_with_its_whole_table_is_left_out_of_names(
    ddio: Result, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = whole(ddio, [1.0, 1.1, 1.2], table)
    other = whole(ddio, [1.3, 1.39, 1.51], table.replace("5 ms", "6 ms"))
    assert "seed" in one[0].label
    shown = [f'{{ warmup = "{warmup}", duration = "9 ms" }}' for warmup in ("5 ms", "6 ms")]
    groups = seeds.repeated([*one, *other])
    assert [(g.case.label, len(g.runs)) for g in groups] == [(f"run={of}", 3) for of in shown]
    # Of a scenario with a single seed, too.
    assert seeds.repeated([*one, other[0]])[1].case.label == f"run={shown[1]}"
    both = Sweep([*one, *other], 6)
    assert both.over_seeds["run"].to_list() == shown
    (bars,) = both.plot().data
    assert list(bars.y) == pytest.approx([1.1, 1.4])
    show_comparison(both.results)
    show_keys(both.results)
    assert "seed =" not in capsys.readouterr().out


def test_peaks_beside_runs_have_the_mean_of_the_rates_that_were_found(ddio: Result) -> None:
    def peaks(rates: Sequence[float | None]) -> list[Result]:
        found = []
        for run, gbps in zip(runs(ddio, [1.0] * len(rates)), rates, strict=True):
            peak = Peak(
                peak_mpps=20.0 + run.data.seed, rate_gbps=gbps, failed_by="p99", probes=[],
                results=run.data,
            )  # fmt: skip
            found.append(replace(run, peak=peak))
        return found

    def rate(found: Comparison) -> list[str]:
        (row,) = found.keys.filter(pl.col("key") == "traffic.rate").rows()
        return [str(value) for value in row[1:]]

    given = "80 Gbps"
    traffic = ddio.scenario["traffic"] | {"rate": given}
    ddio = replace(ddio, scenario=ddio.scenario | {"traffic": traffic})
    plain = runs(ddio, [1.0, 1.1, 1.2])
    both = compare(*plain, *peaks([90.0, 91.0, 92.0]))
    assert rate(both) == [given, "91.0 ± 2.5 Gbps"]
    assert rate(compare(*plain, *peaks([None, None, None]))) == [given, "22.0 ± 2.5 Mpps"]
    assert rate(compare(*plain, *peaks([90.0]))) == [given, "90.0 Gbps"]
    assert '<td class="num">91.0 ± 2.5 Gbps</td>' in report_html(both.results)
    # What differs between peaks is their result.
    assert compare(*peaks([90.0, 91.0])).keys.is_empty()


def test_terminal_report_and_prompt_have_a_column_for_each_scenario(
    two: Sweep, capsys: pytest.CaptureFixture[str]
) -> None:
    show_comparison(two.results)
    show_keys(two.results)
    shown = capsys.readouterr().out
    assert "1.40 ± 0.26" in shown
    assert "seed=1" not in shown
    assert "run.seed" not in shown
    assert "1.40 ± 0.26" in repr(two)
    assert set(two.keys.columns) == {"key", *(r.label for r in compared(two.results).shown)}
    page = report_html(two.results)
    assert page.count('<td class="num">1.40 ± 0.26</td>') == 1
    assert "95 % confidence interval" in page
    assert "Over run.seed" not in report_html(two.results[:3])


@pytest.mark.parametrize(("faster", "caution"), [(1.0, ""), (1.05, ONE_SEED), (1.5, "")])
def test_small_differences_of_single_seeds_are_shown_with_a_caution(
    ddio: Result, faster: float, caution: str
) -> None:
    one, other = *runs(ddio, [1.0]), *runs(ddio, [faster], **{"queues.burst": 16})
    assert compared([one, other]).caution == caution
    assert ("run.seed=1,2,3,4" in report_html([one, other])) == bool(caution)


def test_a_single_run_beside_several_seeds_is_shown_with_a_caution(
    two: Sweep, sweeper: Result
) -> None:
    assert compared(two.results).caution == ""
    alone = [*two.results[:3], *runs(sweeper, [1.5])]
    assert compared(alone).caution == ONE_SEED
    ((_, said),) = compare(*alone).differences.items()
    assert "completed: 1.10 ± 0.25 → 1.50 Mpps (+36 %)" in said
