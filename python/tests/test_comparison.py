"""Runs side by side: what the command and the report say of them, in Python."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from nic2core import Comparison, ModelError, Sweep, UserError, compare, sweep
from nic2core.comparison import load_all
from nic2core.describe.differences import differences, overview, summary
from nic2core.report.page import report_html
from nic2core.words import sentence

if TYPE_CHECKING:
    from pathlib import Path

    from nic2core import Result


def test_a_comparison_says_what_the_report_says(ddio: Result, sweeper: Result) -> None:
    both = compare(ddio, sweeper)
    assert both.sentence == summary(ddio, sweeper)
    told = {f"{sweeper.label} against {ddio.label}": differences(ddio, sweeper)}
    assert both.differences == told
    assert both.table["case"].to_list() == [ddio.label, sweeper.label]
    keys = {row["key"]: row for row in both.keys.iter_rows(named=True)}
    switched = keys["placement.sweeper"]
    assert (switched[ddio.label], switched[sweeper.label]) == ("false", "true")
    assert len(both.plot_latency_cdf().data) == 2
    assert both.sentence in repr(both)
    three = compare(ddio, sweeper, replace(sweeper, label="more"))
    assert three.sentence == f"{sentence(overview(three.results))}."


def test_runs_that_do_the_same_are_named_together(ddio: Result) -> None:
    def run(label: str, times: float) -> Result:
        packets = ddio.data.packets
        faster = packets.model_copy(update={"completed_mpps": times * packets.completed_mpps})
        return replace(ddio, label=label, data=ddio.data.model_copy(update={"packets": faster}))

    a, b, c, d = (run(f"run {n}", 2.0) for n in "abcd")
    slow, slower = run("slow", 1.001), run("slower", 1.0)
    assert overview([slower, a, b]).startswith("run a and run b are fastest at ")
    assert overview([slow, slower, a]).startswith("run a is fastest at ")
    assert "% more than the slowest, slower and slow; " in overview([slow, slower, a])
    assert overview([a, b, c, d, slow]).startswith("run a and 3 more are fastest at ")
    # A run within a percent of both ends counts with the nearer one.
    low, high = (overview([slower, run("x", of), run("run a", 1.011)]) for of in (1.004, 1.007))
    assert low.startswith("run a is fastest at ")
    assert "the slowest, slower and x; " in low
    assert high.startswith("run a and x are fastest at ")
    assert "the slowest, slower; " in high


def test_labels_stay_as_they_are(ddio: Result, sweeper: Result) -> None:
    three = compare(*(replace(r, label=n) for r, n in ((ddio, "a"), (sweeper, "b"), (ddio, "c"))))
    assert three.sentence.startswith("b is fastest at ")
    # What begins like a label is none.
    same = compare(*(replace(ddio, label=name) for name in "abc"))
    assert same.sentence.startswith("All runs perform about the same, ")


def test_runs_with_traffic_complete_requests(ddio: Result, sweeper: Result) -> None:
    def idle(run: Result) -> Result:
        none = {"offered": 0, "completed": 0, "completed_mpps": 0.0, "drop_share": 0.0}
        packets = run.data.packets.model_copy(update=none)
        data = run.data.model_copy(update={"packets": packets, "latency": [], "tenants": []})
        return replace(run, data=data)

    assert summary(idle(ddio), idle(sweeper)) == "Neither run completes any requests."


def offered(calm: Result, mpps: float, drops: float = 0.0, allowed: str = "0 %") -> Result:
    """The run with another load, of which some is dropped, and an objective that allows drops."""
    change = {
        "offered_mpps": mpps,
        "offered_gbps": mpps * 4,
        "completed_mpps": mpps * (1 - drops),
        "drop_share": drops,
    }
    packets = calm.data.packets.model_copy(update=change)
    data = calm.data.model_copy(update={"packets": packets, "demand_mpps": mpps})
    slo = {**calm.scenario["slo"], "drops": allowed}
    traffic = {**calm.scenario["traffic"], "rate": f"{mpps:g} Mpps"}
    scenario = {**calm.scenario, "slo": slo, "traffic": traffic}
    return replace(calm, label=f"rate={mpps:g}", data=data, scenario=scenario)


def test_more_load_is_not_faster(calm: Result) -> None:
    run = partial(offered, calm)
    assert overview([run(4), run(1), run(2)]).startswith(
        "what is offered is carried, 1.00 to 4.00 M packets/s; all are limited by"
    )
    assert overview([run(1), run(4, 0.2), run(2), run(3, 0.1)]).startswith(
        "what is offered is carried up to rate=2 (2.00 M packets/s); rate=4 completes 80.0 % of it;"
    )
    # Drops that do not set in with the load have another cause.
    assert "carried" not in overview([run(1), run(2, 0.1), run(4)])
    assert "carried" not in overview([run(1, 0.1), run(2, 0.1), run(4, 0.1)])
    assert "carried" not in overview([run(1), run(1), run(1.05)])
    # Nor of two runs with the same load, of which only one carries it.
    assert "carried" not in overview([run(1), run(4), run(4, 0.1)])
    # What piles up is not carried, although nothing is dropped.
    late = run(4)
    half = {"completed_mpps": 2.0, "completed": late.data.packets.offered // 2}
    packets = late.data.packets.model_copy(update=half)
    late = replace(late, data=late.data.model_copy(update={"packets": packets}))
    assert "; rate=4 completes 50.0 % of it;" in overview([run(1), run(2), late])


def test_a_load_that_is_not_carried_is_not_fastest_beside_one_that_is(calm: Result) -> None:
    run = partial(offered, calm)
    # Loads that are near each other, too.
    assert overview([run(20), run(20.8, 0.02), run(21.6, 0.03)]).startswith(
        "what is offered is carried up to rate=20 (20.0 M packets/s); rate=21.6 completes 97.0 % of"
    )
    # Where what is lost has another cause than the load, the highest load that is carried is told.
    assert overview([run(1, 0.1), run(2), run(4, 0.3)]).startswith(
        "the highest load that is carried is that of rate=2 (2.00 M packets/s); rate=4 completes "
        "70.0 % of what it is offered; "
    )
    # The objective may allow some drops.
    some = [run(n, drops, "0.5 %") for n, drops in ((1, 0.001), (2, 0.004), (4, 0.006))]
    assert overview(some).startswith(
        "but for the drops that slo.drops allows, what is offered is carried up to rate=2 (2.00 M "
        "packets/s); rate=4 completes 99.4 % of it; "
    )
    assert overview([*some[:2], run(3, 0.005, "0.5 %")]).startswith(
        "but for the drops that slo.drops allows, what is offered is carried, 1.00 to 3.00 M"
    )
    # Where none carries its load, or where the fastest does, it is the fastest.
    assert overview([run(1, 0.001), run(2, 0.004), run(4, 0.006)]).startswith("rate=4 is fastest")
    assert overview([run(1), run(2, 0.1), run(4)]).startswith("rate=4 is fastest")
    # By means over seeds, too.
    seeds = [
        replace(
            of, label=f"{of.label}, seed={seed}", data=of.data.model_copy(update={"seed": seed})
        )
        for of in (run(20), run(20.8, 0.02), run(21.6, 0.03))
        for seed in (1, 2)
    ]
    assert compare(*seeds).sentence.startswith(
        "Over 2 seeds, what is offered is carried up to rate=20 (20.0 M packets/s); rate=21.6 "
    )


def test_what_is_compared_with_nothing_is_told_in_its_unit(ddio: Result) -> None:
    data = ddio.data
    idle = replace(ddio, label="idle", data=data.model_copy(update={
        "packets": data.packets.model_copy(update={"completed": 0, "completed_mpps": 0.0}),
        "memory": data.memory.model_copy(update={
            "bandwidth_gbytes_per_s": 0.0,
            "causes": [c.model_copy(update={"per_request": None}) for c in data.memory.causes],
        }),
    }))  # fmt: skip
    assert " instead of 0 M requests/s and causes " in summary(idle, ddio)
    assert " instead of 0 GB/s of memory traffic; " in summary(idle, ddio)
    for both in ((idle, ddio), (ddio, idle)):
        # There is no request of which they could be lines.
        assert not any("lines per request" in said for said in differences(*both))
    assert any("lines per request" in said for said in differences(ddio, with_half(ddio)))


def with_half(run: Result) -> Result:
    """The same with half of the memory traffic a request."""
    causes = [
        c.model_copy(update={"per_request": (c.per_request or 0.0) / 2})
        for c in run.data.memory.causes
    ]
    memory = run.data.memory.model_copy(update={"causes": causes})
    return replace(run, data=run.data.model_copy(update={"memory": memory}))


def test_runs_of_one_label_are_told_apart_by_their_directories(
    ddio: Result, tmp_path: Path
) -> None:
    a, b = (ddio.save(tmp_path / name) for name in ("a", "b"))
    assert [r.label for r in compare(a, str(b))] == [f"{ddio.label} (a)", f"{ddio.label} (b)"]
    assert [r.label for r in compare(ddio, ddio)] == [f"{ddio.label} (1)", f"{ddio.label} (2)"]
    page = report_html(compare(a, b).results)
    assert compare(a, b).report(tmp_path / "r.html").read_text() == page


def test_runs_of_several_scenarios_are_labelled_by_them(ddio: Result, sweeper: Result) -> None:
    one, two = replace(ddio, scenario_name="one"), replace(sweeper, scenario_name="two")
    assert [r.label for r in compare(one, two)] == [f"one: {ddio.label}", f"two: {sweeper.label}"]
    same = replace(two, scenario_name="one")
    assert [r.label for r in compare(one, same)] == [ddio.label, sweeper.label]
    # One that was built in Python has no file whose name could be told.
    built = replace(two, scenario_name="")
    assert [r.label for r in compare(one, built)] == [ddio.label, sweeper.label]
    labels = [f"one: {ddio.label} (1)", f"two: {sweeper.label}", f"one: {ddio.label} (3)"]
    assert [r.label for r in compare(one, two, one)] == labels


@pytest.mark.usefixtures("fake_engine")
def test_a_saved_sweep_is_loaded_as_it_was(tmp_path: Path, ddio: Result) -> None:
    done = sweep("any.toml", {"run.seed": [1, 2, 3]})
    again = Sweep.load(done.save(tmp_path / "all"))
    assert again == done
    assert list(again.plot("memory_gbytes_per_s").data[0].x) == [1, 2, 3]
    refused: dict[str, UserError | ModelError] = {"seed=4": UserError("no room")}
    first = replace(done, results=done.results[:2], points=[0, 1], refused=refused)
    stopped = replace(first, planned=4, stopped=True)
    part = Sweep.load(stopped.save(tmp_path / "part"))
    assert (len(part), part.planned, part.complete, part.stopped) == (2, 4, False, True)
    assert {name: str(why) for name, why in part.refused.items()} == {"seed=4": "no room"}
    there = "holds 2 of 4 runs: the sweep was stopped."
    assert load_all(tmp_path / "part").gaps == [f"{tmp_path / 'part'} {there}"]
    replace(stopped, stopped=False).save(tmp_path / "some")
    (missing,) = load_all(tmp_path / "some").gaps
    assert missing.endswith("holds 2 of 4 runs: the others were refused.")
    page = part.report(tmp_path / "part.html").read_text()
    assert "A sweep holds 2 of 4 runs: the sweep was stopped." in page
    assert "A sweep holds" not in again.report(tmp_path / "all.html").read_text()
    assert load_all(tmp_path / "all").gaps == load_all(ddio.save(tmp_path / "single")).gaps == []
    assert len(compare(done, ddio)) == len(compare(tmp_path / "all", ddio)) == 4
    assert isinstance(done, Comparison)
    # What is missing is told of a comparison with others, too.
    for both, said in (
        (compare(stopped, ddio), f"A sweep {there}"),
        (compare(tmp_path / "part"), f"{tmp_path / 'part'} {there}"),
    ):
        assert both.gaps == [said]
        assert said in both.report(tmp_path / "both.html").read_text()
    assert compare(done, tmp_path / "all").gaps == done.gaps == []
    with pytest.raises(UserError, match="holds no sweep; expected a directory that"):
        Sweep.load(ddio.save(tmp_path / "one"))


def test_what_is_no_two_runs_is_refused(ddio: Result) -> None:
    with pytest.raises(UserError, match="there is 1 run; expected two or more"):
        compare(ddio)
    with pytest.raises(UserError, match=r"dict is no run; expected .* the directories of saved"):
        compare(ddio, {})  # type: ignore[arg-type]
