"""The real engine behind the Python API, on the demo's scenario with a small store and short."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import warnings
from dataclasses import replace
from hashlib import file_digest
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import nic2core
from nic2core import UserError, api, sources
from nic2core.api import DoubtfulNumbers, WithoutEffect
from nic2core.engine import Stopped, Watch
from nic2core.rerun import run_changes
from nic2core.results.models import Peak
from nic2core.scenario.toml_text import toml_value
from nic2core.sources import prepare

if TYPE_CHECKING:
    from nic2core import Result, Scenario

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "scenarios/demo.toml"
SMALL = {
    "tenants.0.app.keys": 4096,
    "tenants.0.app.buckets": 2048,
    "tenants.0.app.log": "4 MiB",
    "run.warmup": "100 us",
    "run.duration": "200 us",
    "run.sample": "20 us",
}


@pytest.fixture(scope="module")
def small() -> Scenario:
    return nic2core.load(DEMO, SMALL)


@pytest.fixture(scope="module")
def result(small: Scenario) -> Result:
    return nic2core.run(small)


def test_another_machine_needs_the_file_of_the_scenario() -> None:
    base = {"machine.base": "skylake-6140"}
    with pytest.raises(UserError, match=r"machine\.base = 'skylake-6140': a loaded scenario"):
        sources.prepare(api.load("explain-cpu"), base)
    assert sources.prepare("explain-cpu", base).scenario["machine"]["core"]["count"] == 18


def test_only_what_is_public_is_listed() -> None:
    assert dir(nic2core) == sorted(nic2core.__all__)
    assert all(hasattr(nic2core, name) for name in nic2core.__all__)
    # What is not listed can be imported all the same.
    assert nic2core.api is api


def test_a_file_and_its_loaded_scenario_run_the_same(result: Result) -> None:
    from_file = nic2core.run(DEMO, SMALL)
    assert from_file.data == result.data
    assert from_file.scenario == result.scenario
    assert from_file.settings == SMALL
    assert result.settings == SMALL
    assert (from_file.scenario_name, result.scenario_name) == ("demo", "demo")
    assert nic2core.Result.from_json(from_file.to_json()) == from_file


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
        ({"placement.io_ways": None}, "placement.io_ways = None is no value"),
        ({"placement.io_ways": "[4"}, "has a value that is not TOML"),
        ({"run.seed": {1}}, "has a value that is not TOML"),
    ],
)
def test_overrides_are_refused_alike(small: Scenario, overrides: dict[str, Any], told: str) -> None:
    for source in (small, DEMO):
        with pytest.raises(UserError, match=told):
            prepare(source, overrides)


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
    with pytest.raises(
        UserError, match=r"Set it whole: traffic.control = \{ kind = \"dctcp\", "
    ) as e:
        prepare("host-congestion", {"traffic.control.kind": "dctcp"})
    assert {p.key for p in e.value.problems} == {
        "traffic.control.additive_increase", "traffic.control.endpoint_target"
    }  # fmt: skip
    prepare("host-congestion", {"traffic.control": {"kind": "dctcp"}})


def test_a_part_of_the_machine_that_is_only_begun_says_where_to_copy_it_from() -> None:
    with pytest.raises(UserError, match=r"Copy the tables \[iommu\] of a machine that has it"):
        nic2core.load("demo", {"machine.iommu.mode": "strict"})
    with pytest.raises(UserError) as one:
        nic2core.load("explain-iommu", {"machine.iommu.pages": "{ payload = '4 KiB' }"})
    assert len(one.value.problems) == 3
    assert "Copy the tables" not in str(one.value), "a table inside of it"
    with pytest.raises(UserError) as wrong:
        nic2core.load("explain-iommu", {"machine.iommu.walkers": 0})
    assert "Copy the tables" not in str(wrong.value)


def test_a_full_link_brings_a_warning() -> None:
    short = {"run.warmup": "0.1 ms", "run.duration": "0.1 ms"}
    with pytest.warns(DoubtfulNumbers, match="asks for .* delivers"):
        nic2core.run("explain-link", {**short, "traffic.rate": "5 Mpps"})
    with warnings.catch_warnings(record=True) as others:
        nic2core.run("explain-link", {**short, "traffic.rate": "2 Mpps"})
    assert not any("link" in str(warning.message) for warning in others)


def test_bursts_that_a_link_smooths_bring_a_warning() -> None:
    short = {"run.warmup": "0.1 ms", "run.duration": "0.5 ms"}

    def said(on: str) -> list[str]:
        # 42 frames are carried in the time of a hundred.
        bursts = {"kind": "bursts", "rate": "7 Mpps", "on": on, "off": "50 us", "flows": 64}
        bursts["sizes"] = {"kind": "fixed", "size": "1024 B"}
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", DoubtfulNumbers)
            nic2core.run("explain-link", {**short, "traffic": bursts})
        return [text for w in found if "can carry them" in (text := str(w.message))]

    assert said(on="1 us") == []
    (text,) = said(on="15 us")
    assert "Neither latencies nor the objective include this wait" in text


def test_each_run_of_a_sweep_brings_its_warnings() -> None:
    short = {"run.warmup": "0.1 ms", "run.duration": "0.1 ms"}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DoubtfulNumbers)
        nic2core.sweep("explain-link", {"traffic.rate": ["5 Mpps", "2 Mpps"]}, overrides=short)
    link = [str(w.message) for w in said if "25 Gbps link" in str(w.message)]
    assert [text.partition(": ")[0] for text in link] == ["rate=5 Mpps"]
    # Where it was called, not inside of nic2core.
    assert {w.filename for w in said} == {__file__}


def test_a_replay_whose_packets_come_in_other_sizes_brings_a_warning() -> None:
    drawn = {"tenants.0.app.requests": "drawn", "run.warmup": "10 us", "run.duration": "100 us"}
    with pytest.warns(
        DoubtfulNumbers, match=r"would carry 100 Gbps.* drawn requests .* carry 1\d\d Gbps"
    ):
        api.run("demo", drawn)
    # A rate of packets says nothing of their sizes.
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*drawn requests")
        api.run("demo", {**drawn, "traffic.rate": "10 Mpps"})


def test_a_rate_in_bits_is_what_the_wire_carries() -> None:
    """Frames of synthetic traffic with preamble, FCS and gap, as those of a replay."""
    short = {"run.warmup": "100 us", "run.duration": "200 us", "traffic.rate": "20 Gbps"}
    demand = api.run("explain-link", {**short, "traffic.sizes.size": "226 B"}).data.demand_mpps
    assert demand == pytest.approx(20e3 / (8 * (226 + 24)))


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


def test_measuring_lasts_as_long_as_asked(result: Result) -> None:
    assert result.data.measured_ns == 200_000
    assert result.data.series.interval_ns == 20_000


def test_a_sweep_is_bit_identical_for_any_number_of_jobs(small: Scenario) -> None:
    vary: dict[str, list[int]] = {"placement.sweeper": [False, True], "run.seed": [1, 2]}
    one, two = (nic2core.sweep(small, vary, jobs=jobs) for jobs in (1, 2))
    texts = [[json.dumps(r.to_json()) for r in s] for s in (one, two)]
    assert texts[0] == texts[1]
    assert [r.data.seed for r in one] == [1, 2, 1, 2]
    assert len({r.data.model_dump_json() for r in one}) == 4
    assert [r.label for r in one][::2] == [
        "DDIO, 2 ways, seed=1",
        "DDIO, 2 ways, Sweeper, seed=1",
    ]


def test_progress_is_told_to_the_end_and_rises(small: Scenario) -> None:
    told: list[float] = []
    nic2core.run(small, watch=Watch(told.append))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 100


def test_a_run_can_be_stopped_from_outside(small: Scenario) -> None:
    watch = Watch(lambda share: watch.stop.set() if share > 0.5 else None)
    with pytest.raises(Stopped):
        nic2core.run(small, watch=watch)


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


def test_what_is_no_scenario_says_what_would_be() -> None:
    with pytest.raises(UserError, match=r"^dict is nothing that can run; expected the path of a"):
        nic2core.run({"run": {}})  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers(small: Scenario, tmp_path: Path) -> None:
    one = np.int64(1)
    edited = small.model_copy(deep=True)
    edited.placement.io_ways = one  # type: ignore[assignment]
    short = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us", "run.seed": one}
    for source in (edited, DEMO):
        result = nic2core.run(source, short)
        assert result.data.seed == 1
        assert nic2core.Result.load(result.save(tmp_path)) == result


def test_a_run_may_be_shorter_than_a_nanosecond() -> None:
    times = {"run.warmup": "0 ps", "run.duration": "500 ps", "run.sample": "500 ps"}
    assert nic2core.run("explain-cpu", times).data.measured_ns == 0.5


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


def test_an_error_names_the_line_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "machines").mkdir()
    file = tmp_path / "bad.toml"
    text = DEMO.read_text().replace("io_ways = 2 ", "io_ways = 40 ")
    file.write_text(text.replace("../captures", str(ROOT / "captures")))
    line = next(n for n, t in enumerate(text.splitlines(), 1) if t.startswith("io_ways"))
    with pytest.raises(UserError, match=rf"bad\.toml, line {line}: placement\.io_ways"):
        nic2core.run(file)


def test_a_machine_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "machines", tmp_path / "machines")
    mine = tmp_path / "machines/sweeper-icelake24.toml"
    mine.write_text(mine.read_text().replace("count = 24", "count = 20"))
    (tmp_path / "scenarios").mkdir()
    shutil.copy(ROOT / "scenarios/sweeper-kvs.toml", tmp_path / "scenarios/mine.toml")
    for folder in (".", "scenarios", ".."):
        monkeypatch.chdir(tmp_path / folder)
        file = os.path.relpath(tmp_path / "scenarios/mine.toml")
        with pytest.raises(UserError, match=r"machine\.core\.count"):
            nic2core.load(file)


def test_only_an_error_in_a_table_of_another_kind_brings_its_hint() -> None:
    kvs = {"tenants.0.app.kind": "kvs"}
    with pytest.raises(UserError) as error:
        nic2core.load(DEMO, kvs | {"placement.io_ways": 99})
    assert "another kind" not in str(error.value)
    # The name of the table in a value makes no problem of that table.
    with pytest.raises(UserError) as error:
        nic2core.load(DEMO, kvs | {"placement.policy": "tenants.0.app.kind"})
    assert "another kind" not in str(error.value)
    with pytest.raises(UserError) as error:
        nic2core.load(DEMO, {"tenants.0.app.kind": '"xmem"'})
    assert 'tenants.0.app = { kind = "xmem", ... }' in str(error.value)


def test_a_saved_replay_runs_again_from_any_folder_and_with_its_own_capture_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "machines", tmp_path / "machines")
    shutil.copytree(ROOT / "captures", tmp_path / "captures")
    (tmp_path / "scenarios").mkdir()
    shutil.copy(DEMO, tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    short = {**SMALL, "run.warmup": "10 us", "run.duration": "10 us", "run.sample": "10 us"}
    saved = nic2core.run("scenarios/demo.toml", short).save("out")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    result = nic2core.Result.load(tmp_path / saved)
    assert result.record_again() is not None
    measured = {h.change.domain: h.measured for h in run_changes(result)}
    assert None not in measured.values()
    capture = Path(result.scenario["traffic"]["file"])
    assert capture.is_relative_to(tmp_path / "captures")
    capture.write_bytes(capture.read_bytes() * 2)
    every = (
        result.record_again,
        lambda: run_changes(result),
        lambda: nic2core.run(tmp_path / saved),
    )
    for again in every:
        with pytest.raises(UserError, match="is not the capture that this result replayed"):
            again()
    # Another capture is none of the result's concern.
    other = tmp_path / "other.pcap"
    shutil.copy(ROOT / "captures/memcached.pcap", other)
    assert nic2core.run(tmp_path / saved, {"traffic.file": str(other)}).capture is not None
    capture.unlink()
    for again in every:
        with pytest.raises(UserError, match=r"memcached\.pcap, the capture .* cannot be read"):
            again()


def test_a_run_with_the_iommu_off_is_loaded_again(tmp_path: Path) -> None:
    short = {"run.warmup": "10 us", "run.duration": "10 us", "run.sample": "10 us"}
    for mode in ("off", "loose"):
        run = nic2core.run("explain-iommu", short | {"machine.iommu.mode": mode})
        assert nic2core.Result.load(run.save(tmp_path)) == run
        assert ("iommu" in {d.domain for d in run.data.domains}) == (mode == "loose")


def test_a_capture_is_hashed_once_for_all_points(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copy(ROOT / "captures/memcached.pcap", tmp_path)
    hashed: list[str] = []

    def digest(content: Any, name: str) -> Any:
        hashed.append(content.name)
        return file_digest(content, name)

    monkeypatch.setattr(hashlib, "file_digest", digest)
    short = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us"}
    done = nic2core.sweep(small, {"run.seed": [1, 2, 3]}, overrides={**short, "traffic.file": copy})
    assert hashed == [copy]
    digests = {r.capture for r in done}
    Path(copy).write_bytes(Path(copy).read_bytes()[:-1] + b"x")
    assert nic2core.run(small, {**short, "traffic.file": copy}).capture not in digests


def test_a_shipped_scenario_is_found_by_its_name() -> None:
    assert sources.find("demo").resolve() == DEMO
    assert sources.find("demo.toml").resolve() == DEMO
    assert sources.find("elsewhere/demo.toml") == Path("elsewhere/demo.toml")


def test_a_missing_scenario_lists_those_that_are_shipped() -> None:
    with pytest.raises(UserError, match=r"^mine does not exist\..*\bdemo\b"):
        nic2core.load("mine")
    with pytest.raises(UserError, match=r"Did you mean demo\?"):
        nic2core.load("demoo")
    near = str(DEMO.with_name("dmo.toml"))
    with pytest.raises(UserError, match=re.escape(f"Did you mean {DEMO}?")):
        nic2core.load(near)


def test_a_capture_in_place_of_a_scenario_is_named_in_one(tmp_path: Path) -> None:
    corpus = ROOT / "fuzz" / "corpus"
    captures = [*corpus.glob("pcap/*.pcap"), *corpus.glob("pcapng/*.pcapng")]
    assert len(captures) > 5
    for capture in captures:
        with pytest.raises(UserError, match=rf'is a capture.*file = "{capture.name}"'):
            nic2core.run(capture)
    (tmp_path / "text").write_text("a1b2c3d4")
    with pytest.raises(UserError, match="text, line 1"):
        nic2core.run(tmp_path / "text")
    with pytest.raises(UserError, match="is a directory; name a scenario file or the result of a"):
        nic2core.run(tmp_path)
    (tmp_path / "result.json").write_text("{}")
    for result in (tmp_path, tmp_path / "result.json"):
        with pytest.raises(UserError, match=r"result\.json is not a result of this version"):
            nic2core.run(result)


def test_a_result_stands_for_the_scenario_that_it_ran(result: Result, tmp_path: Path) -> None:
    saved = result.save(tmp_path / "first")
    again = nic2core.run(saved)
    assert (again.scenario, again.data) == (result.scenario, result.data)
    assert again.scenario_name == "demo"
    assert again.settings == result.settings
    changed = nic2core.run(saved / "result.json", {"placement.io_ways": 3})
    assert changed.scenario["placement"]["io_ways"] == 3
    assert changed.settings == {**result.settings, "placement.io_ways": 3}
    assert nic2core.load(saved).placement.io_ways == result.scenario["placement"]["io_ways"]
    ways = nic2core.sweep(saved, {"placement.io_ways": [2, 3]}, out=tmp_path / "ways")
    assert [run.data for run in ways] == [result.data, changed.data]
    with pytest.raises(UserError, match=r"ways is a comparison of 2 runs; name one of them: "):
        nic2core.run(tmp_path / "ways")
    with pytest.raises(UserError, match=r"machine\.base = 'skylake-6140': a loaded scenario, like"):
        nic2core.run(saved, {"machine.base": "skylake-6140"})
    # A comparison does not replace what it goes on from.
    for source, out in ((saved, saved), (tmp_path / "ways/00", tmp_path / "ways")):
        with pytest.raises(UserError, match="holds the result whose scenario is to run; choose"):
            nic2core.sweep(source, {"placement.io_ways": [2, 3]}, out=out)
        with pytest.raises(UserError, match="holds the result whose scenario is to run; choose"):
            nic2core.sensitivity(source, "machine.llc", out=out)
    assert nic2core.Result.load(saved) == result


def test_a_result_comes_before_a_shipped_scenario_of_its_name(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo").mkdir()
    assert nic2core.load("demo").run.warmup == "12 ms"
    result.save("demo")
    assert nic2core.load("demo").run.warmup == SMALL["run.warmup"]


def test_a_peak_is_searched_again_or_runs_at_a_rate_that_is_given(
    result: Result, tmp_path: Path
) -> None:
    found = Peak(peak_mpps=3.2, fails_at_mpps=4, failed_by="p99", probes=[], results=result.data)
    saved = replace(result, peak=found).save(tmp_path)
    told = r'is the peak of a search, .* such as traffic\.rate = "3\.20 Mpps"'
    for again in (
        lambda: nic2core.run(saved),
        lambda: nic2core.sweep(saved, {"placement.io_ways": [2, 3]}),
    ):
        with pytest.raises(UserError, match=told):
            again()
    assert prepare(saved, peak=True).scenario == result.scenario
    rate = {"traffic.rate": "3.2 Mpps"}
    assert prepare(saved, rate).scenario["traffic"]["rate"] == "3200 kpps"


def test_no_scenario_is_said_to_be_shipped_that_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "mine.toml").touch()
    monkeypatch.setattr(sources, "SHIPPED", tmp_path)
    with pytest.raises(UserError, match=re.escape(f"one in {tmp_path / 'scenarios'}: mine.")):
        nic2core.load("nosuch")


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


def test_a_peak_says_between_which_rates_it_lies(small: Scenario) -> None:
    scenario = small.model_dump(exclude_none=True)
    scenario["traffic"] = {
        "kind": "poisson",
        "rate": "5 Mpps",
        "sizes": {"kind": "fixed", "size": "512 B"},
        "flows": 512,
    }
    scenario["run"]["duration"] = "1 ms"
    shares: list[float] = []
    found = nic2core.find_peak(type(small).model_validate(scenario), watch=Watch(shares.append))
    assert found.peak is not None
    assert found.peak.fails_at_mpps
    assert 0 < found.peak.peak_mpps < found.peak.fails_at_mpps
    assert found.data == found.peak.results
    assert shares
    assert type(found).from_json(found.to_json()) == found
    with pytest.raises(UserError, match=r"record_again: .* is the peak of a search.*nic2core.rec"):
        found.record_again()


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


def test_a_directory_is_no_scenario_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    assert sources.find("demo") == sources.SHIPPED / "scenarios" / "demo.toml"


def test_a_file_named_machines_is_no_folder_to_look_in(tmp_path: Path) -> None:
    scenario = tmp_path / "scenarios" / "s.toml"
    scenario.parent.mkdir()
    shutil.copyfile(str(nic2core.sources.find("explain-cpu")), scenario)
    (tmp_path / "machines").write_text("notes")
    (scenario.parent / "machines").write_text("notes")
    assert prepare(scenario).scenario["machine"]["core"]["count"] > 0
