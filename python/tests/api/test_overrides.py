"""What users set: overrides and assignments do the same to files and to loaded scenarios."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small_demo import DEMO, ROOT, SMALL

import nic2core
from nic2core import UserError, sources
from nic2core.api import WithoutEffect
from nic2core.scenario.toml_text import toml_value
from nic2core.sources import prepare

if TYPE_CHECKING:
    from nic2core import Scenario


def test_a_scenario_knows_its_file_and_what_was_changed(small: Scenario) -> None:
    changed = small.copy()
    assert changed == small
    changed.placement.io_ways = 3
    changed.tenants[0].app = {"kind": "l3fwd", "rules": 16}  # type: ignore[assignment]
    prepared = prepare(changed, {"tenants.0.app.rules": "32", "run.duration": "1 ms"})
    assert prepared.name == "demo"
    kept = {key: value for key, value in SMALL.items() if not key.startswith("tenants")}
    app = prepared.settings["tenants.0.app"]
    assert (app["kind"], app["rules"]) == ("l3fwd", 16)
    assert prepared.settings == kept | {
        "placement.io_ways": 3,
        "tenants.0.app": app,
        "tenants.0.app.rules": 32,
        "run.duration": "1 ms",
    }
    assert small.placement.io_ways == 2, "a copy is changed alone"


def test_an_error_in_a_loaded_scenario_names_file_and_line_of_what_is_unchanged() -> None:
    scenario = nic2core.load("sweeper-kvs", {"run.seed": 3})
    scenario.machine.llc.ways = 1
    with pytest.raises(UserError, match=r"sweeper-kvs\.toml, line \d+: placement\.io_ways = "):
        prepare(scenario)
    scenario = nic2core.load("sweeper-kvs")
    scenario.placement.io_ways = 99
    with pytest.raises(UserError, match=r"^scenario: placement\.io_ways = 99 cannot"):
        prepare(scenario)
    # Nor is what is found beside an assigned key the file's.
    scenario = nic2core.load("host-congestion")
    scenario.traffic.control = {"kind": "dctcp", "gain": -1.0}  # type: ignore[union-attr]
    with pytest.raises(UserError, match=r"^scenario: traffic\.control\.gain = -1.0 "):
        prepare(scenario)


def test_what_was_set_when_it_was_loaded_is_warned_of_when_it_runs() -> None:
    short = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us"}
    sets = {**SMALL, **short, "placement.policy": "dma", "placement.io_ways": 6}
    scenario = nic2core.load("demo", sets)
    with pytest.warns(WithoutEffect, match="io_ways = 6 has no effect here: placement"):
        result = nic2core.run(scenario)
    assert (result.settings, result.scenario_name) == (sets, "demo")


@pytest.mark.parametrize(
    "overrides",
    [
        {"placement.io_ways": "4"},
        {"traffic.control": '{ kind = "dctcp" }'},
        {"traffic.control": {"kind": "dctcp", "gain": None}},
        {"machine.iommu": None},
        {"run.seed": np.int64(3), "tenants.0.cores": {"first": np.uint8(0), "count": 2}},
        {"machine.nic.link": '"25 Gbps"', "run.duration": "4 \u00b5s"},
    ],
)
def test_overrides_do_the_same_to_a_file_and_to_its_scenario(overrides: dict[str, Any]) -> None:
    of_file = prepare("host-congestion", overrides)
    of_scenario = prepare(nic2core.load("host-congestion"), overrides)
    assert of_scenario.scenario == of_file.scenario
    assert of_scenario.settings == of_file.settings
    key = next(iter(overrides))
    assert of_scenario.origins[key] == of_file.origins[key]


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (
            {"placement.io_ways": 4, "placement": {"policy": "dma"}},
            "contradicts --set placement.io",
        ),
        (
            {"placement.io_ways": None},
            '--set placement.io_ways=none: placement.io_ways = "none" has the wrong type; allowed:',
        ),
        ({"placement.io_ways": "[4"}, "has a value that is not TOML"),
        ({"run.seed": {1}}, "has a value that is not TOML"),
    ],
)
def test_overrides_are_refused_alike(small: Scenario, overrides: dict[str, Any], told: str) -> None:
    for source in (small, DEMO):
        with pytest.raises(UserError, match=told):
            prepare(source, overrides)


def test_none_leaves_out_a_key_that_may_be_absent(tmp_path: Path) -> None:
    short = {"run.warmup": "20 us", "run.duration": "20 us"}
    assert nic2core.load("host-congestion").machine.iommu is not None
    done = nic2core.sweep(
        "host-congestion", {"traffic.rivals": [None, {"senders": 4, "think": "1 us"}]},
        overrides={**short, "machine.iommu": None},
    )  # fmt: skip
    assert [run.scenario["machine"].get("iommu") for run in done] == [None, None]
    assert [run.scenario["traffic"].get("rivals") is None for run in done] == [True, False]
    assert done.table["traffic.rivals"][0] == "none"
    rivals = done[1].save(tmp_path)
    again = prepare(rivals, {"traffic.rivals": None})
    assert again.settings["traffic.rivals"] == "none"
    assert again.scenario == done[0].scenario


def test_a_path_is_set_as_such(small: Scenario, tmp_path: Path) -> None:
    capture = Path(shutil.copy(ROOT / "captures/memcached.pcap", tmp_path))
    prepared = prepare(small, {"traffic.file": capture})
    assert prepared.scenario["traffic"]["file"] == str(capture)


def test_a_table_replaces_the_whole_table_whatever_the_scenario_came_from() -> None:
    for sets in ({"traffic.control": {"kind": "swift"}}, {"traffic.control": {"kind": "dctcp"}}):
        of_file = prepare("host-congestion", sets).scenario
        assert prepare(nic2core.load("host-congestion"), sets).scenario == of_file
        assert of_file["traffic"]["control"]["max_cwnd"] != 4, "the file's"
    with pytest.raises(UserError, match=r"run\.duration = nothing is given"):
        prepare("host-congestion", {"run": {"seed": 2}})


def test_a_table_that_is_assigned_has_keys_to_set() -> None:
    scenario: Any = nic2core.load("host-congestion")
    scenario.traffic.control = {"kind": "dctcp"}
    scenario.traffic.control.gain = 0.25
    with pytest.raises(UserError, match=r"has no key `gian`.*did you mean gain\?"):
        scenario.traffic.control.gian = 1
    scenario.queues = scenario.queues.model_dump() | {"burst": 16}
    scenario.queues.burst = 8
    prepared = prepare(scenario).scenario
    control = prepared["traffic"]["control"]
    assert (control["kind"], control["gain"], prepared["queues"]["burst"]) == ("dctcp", 0.25, 8)
    # What is no such table the checker of files refuses, in its words.
    for wrong in ({"kind": "dctcp", "gian": 1}, {"kind": "dctcp", "gain": "1"}, {"max_cwnd": 4}):
        scenario.traffic.control = wrong
        with pytest.raises(UserError, match=r"^scenario: traffic\.control"):
            prepare(scenario)


def test_a_kind_that_is_set_alone_is_refused_with_what_to_do() -> None:
    whole = (
        r"additive_increase, endpoint_target; .* set the whole table: traffic\.control = \{ kind ="
    )
    with pytest.raises(UserError, match=whole) as e:
        prepare("host-congestion", {"traffic.control.kind": "dctcp"})
    assert [p.key for p in e.value.problems] == ["traffic.control.kind"]
    scenario: Any = nic2core.load("host-congestion")
    scenario.traffic.control.kind = "dctcp"
    with pytest.raises(UserError, match=r"^scenario: .* set the whole table"):
        prepare(scenario)
    prepare("host-congestion", {"traffic.control": {"kind": "dctcp"}})


def test_a_part_of_the_machine_that_is_only_begun_says_where_to_copy_it_from() -> None:
    with pytest.raises(UserError, match=r"Copy the tables \[iommu\] of a machine that has it") as e:
        nic2core.load("demo", {"machine.iommu.mode": "strict", "run.sead": 2})
    # One paragraph for all seven keys that are missing, and one for what is wrong besides.
    assert str(e.value).count("\n") == 1
    assert "which also takes iotlb, paging_structures, " in str(e.value)
    assert "did you mean seed" in str(e.value)
    assert len(e.value.problems) == 8
    with pytest.raises(UserError) as one:
        nic2core.load("explain-iommu", {"machine.iommu.pages": "{ payload = '4 KiB' }"})
    assert len(one.value.problems) == 3
    assert "Copy the tables" not in str(one.value), "a table inside of it"
    with pytest.raises(UserError) as wrong:
        nic2core.load("explain-iommu", {"machine.iommu.walkers": 0})
    assert "Copy the tables" not in str(wrong.value)


def test_a_table_is_set_whole() -> None:
    scenario = nic2core.load(DEMO, {"tenants.0.app": {"kind": "l3fwd", "rules": 16}})
    assert scenario.tenants[0].app.kind == "l3fwd"


def test_an_edited_scenario_runs_as_edited(small: Scenario) -> None:
    edited = small.model_copy(deep=True)
    edited.placement.sweeper = True
    edited.run.seed = 9
    done = nic2core.run(edited)
    assert done.data.seed == 9
    assert done.label == "DDIO, 2 ways, Sweeper"
    assert done.scenario["placement"]["sweeper"] is True
    assert small.placement.sweeper is False


@pytest.mark.parametrize(
    ("key", "value"),
    [("placement.sweepr", True), ("tenants.7.name", "x"), ("tenants.first.name", "x")],
)
def test_an_unknown_key_is_refused_for_files_and_scenarios(
    small: Scenario, key: str, value: object
) -> None:
    for source in (small, DEMO):
        with pytest.raises(UserError, match=key.split(".")[1]):
            nic2core.run(source, {key: value})


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("placment.sweeper", r"allowed: machine, .*; did you mean placement\?"),
        ("placement.sweepr", r"did you mean sweeper\?"),
        ("run.seed.x", "goes into run.seed, which is 1 and no table; allowed: to set run.seed"),
        ("tenants.kvs.cores.count", r'no element "kvs" in tenants.*mean tenants.0.cores.count\?'),
    ],
)
def test_what_was_meant_is_told_for_files_and_scenarios(
    small: Scenario, key: str, told: str
) -> None:
    for source in (small, DEMO):
        with pytest.raises(UserError, match=told):
            nic2core.run(source, {key: 2})


def test_units_may_be_written_as_people_do(small: Scenario) -> None:
    changed = small.model_copy(deep=True)
    changed.run.duration = "4 \u00b5s"
    overrides = {"run.warmup": "4 \u03bcs", "machine.nic.link": "25000 Mbit/s"}
    for source in (changed, small):
        prepared = sources.prepare(source, overrides).scenario
        assert (prepared["run"]["warmup"], prepared["machine"]["nic"]["link"]) == (
            "4 us",
            "25 Gbps",
        )
    assert sources.prepare(changed).scenario["run"]["duration"] == "4 us"


@pytest.mark.parametrize("value", [nan, inf])
def test_what_is_no_finite_number_is_refused_with_its_key(small: Scenario, value: float) -> None:
    name = json.dumps(value)
    refused = rf'tenants\.0\.app\.zipf = "{name}" has the wrong type; allowed: a number\.$'
    for source in (small, DEMO):
        with pytest.raises(UserError, match=refused):
            nic2core.run(source, {"tenants.0.app.zipf": value})
    edited = small.model_copy(deep=True)
    edited.tenants[0].app.zipf = value  # type: ignore[union-attr]
    with pytest.raises(UserError, match=refused):
        nic2core.run(edited)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("queues.buffer_size", 2048, "2048 has no unit; allowed: a number and one of the units B,"),
        ("run.duration", 5, "5 has no unit; allowed: a number and one of the units ps, ns, us,"),
        ("run.duration", "0 ms", '"0 ms" cannot be simulated; allowed: 1 ps to 1000 s.'),
        ("run.duration", "-5 ms", '"-5 ms" is negative; allowed: a number and one of the units'),
        ("run.seed", 1.5, "1.5 has the wrong type; allowed: an integer."),
        ("run.seed", {1}, '"{1}" has the wrong type; allowed: an integer.'),
        ("placement.policy", "ddoi", '"ddoi" is not one of the known names; allowed: dma, ddio,'),
    ],
)
def test_what_is_assigned_is_refused_in_the_words_that_a_file_gets(
    small: Scenario, key: str, value: object, told: str
) -> None:
    edited = small.model_copy(deep=True)
    table, _, name = key.partition(".")
    setattr(getattr(edited, table), name, value)
    with pytest.raises(UserError, match=re.escape(f"scenario: {key} = {told}")) as error:
        nic2core.run(edited)
    assert "\n" not in str(error.value)
    if not isinstance(value, set):
        at = f"--set {key}={value}: {key} = "
        with pytest.raises(UserError, match=re.escape(f"{at}{told}")) as error:
            nic2core.run(small, {key: value})
        assert "\n" not in str(error.value)


def test_numbers_of_numpy_are_numbers(small: Scenario, tmp_path: Path) -> None:
    one = np.int64(1)
    edited = small.model_copy(deep=True)
    edited.placement.io_ways = one  # type: ignore[assignment]
    short = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us", "run.seed": one}
    for source in (edited, DEMO):
        result = nic2core.run(source, short)
        assert result.data.seed == 1
        assert nic2core.Result.load(result.save(tmp_path)) == result


def test_a_key_without_effect_is_warned_of_unless_another_run_feels_it(small: Scenario) -> None:
    dma = small.model_copy(deep=True)
    dma.placement.policy = "dma"
    short = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us"}
    for source in (dma, DEMO):
        sets = {**SMALL, **short, "placement.policy": "dma", "placement.io_ways": 4}
        with pytest.warns(WithoutEffect, match=r"io_ways = 4 has no effect here: placement"):
            nic2core.run(source, sets)
    with pytest.warns(WithoutEffect, match=r"placement\.io_ways = 2, 4 has no effect"):
        nic2core.sweep(dma, {"placement.io_ways": [2, 4]}, overrides=short)
    with pytest.warns(
        WithoutEffect, match=r"slo\.drops = 1 % has no effect here: only a peak search"
    ):
        nic2core.run(dma, {**short, "slo.drops": "1 %"})
    with warnings.catch_warnings():
        warnings.simplefilter("error", WithoutEffect)
        nic2core.run(dma, short)
        policies = ["dma", "ddio"]
        nic2core.sweep(small, {"placement.policy": policies, "placement.io_ways": [2, 4]})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (4, "4"),
        ("5 ms", "5 ms"),
        ([1, 2], "[1, 2]"),
        ({"a b": 1}, '{ "a b" = 1 }'),
        ({"kind": "mix", "of": [{"weight": 1}]}, '{ kind = "mix", of = [{ weight = 1 }] }'),
    ],
)
def test_values_are_written_as_toml(value: object, text: str) -> None:
    assert toml_value(value) == text


def test_settings_that_came_as_text_are_what_the_scenario_makes_of_them() -> None:
    given = {
        "placement.io_ways": "4",
        "placement.sweeper": "true",
        "tenants.0.cores.count": "8",
        "run.duration": "1000 ns",
        "placement.policy": "ddio",
    }
    read = {"placement.io_ways": 4, "placement.sweeper": True, "tenants.0.cores.count": 8}
    assert sources.prepare("sweeper-kvs", given).settings == given | read


def test_a_machine_may_lie_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "machines/icelake-8360y.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace("home_trackers = 288", "home_trackers = 287"))
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "./mine.toml"):
        machine = prepare("memory-latency", {"machine.base": name}).scenario["machine"]
        assert machine["llc"]["home_trackers"] == 287
