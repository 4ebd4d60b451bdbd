"""What can be run: files, shipped scenarios and results, found from any folder."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from small_demo import DEMO, ROOT, SMALL

import nic2core
from nic2core import UserError, api, shipped, sources
from nic2core.api import WithoutEffect
from nic2core.rerun import run_changes
from nic2core.results.models import Peak
from nic2core.sources import prepare

if TYPE_CHECKING:
    from nic2core import Result, Scenario


def test_another_machine_needs_the_file_of_the_scenario() -> None:
    base = {"machine.base": "skylake-6140"}
    with pytest.raises(UserError, match=r"machine\.base = 'skylake-6140': a loaded scenario"):
        sources.prepare(api.load("explain-cpu"), base)
    assert sources.prepare("explain-cpu", base).scenario["machine"]["core"]["count"] == 18


def test_what_is_no_scenario_says_what_would_be() -> None:
    with pytest.raises(UserError, match=r"^dict is nothing that can run; expected the path of a"):
        nic2core.run({"run": {}})  # type: ignore[arg-type]


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
    told = r"holds the result whose scenario is to run; choose another directory for out\.$"
    for source, out in ((saved, saved), (tmp_path / "ways/00", tmp_path / "ways")):
        with pytest.raises(UserError, match=told):
            nic2core.sweep(source, {"placement.io_ways": [2, 3]}, out=out)
        with pytest.raises(UserError, match=told):
            nic2core.sensitivity(source, "machine.llc", out=out)
    assert nic2core.Result.load(saved) == result


def test_a_result_in_memory_stands_for_its_scenario_as_the_saved_one_does(
    result: Result, tmp_path: Path
) -> None:
    saved = result.save(tmp_path)
    again, changed = nic2core.run(result), nic2core.run(result, {"placement.io_ways": 3})
    assert (again.scenario, again.data) == (result.scenario, result.data)
    assert changed == nic2core.run(saved, {"placement.io_ways": 3})
    assert changed.settings == {**result.settings, "placement.io_ways": 3}
    ways = nic2core.sweep(result, {"placement.io_ways": [2, 3]})
    assert [run.data for run in ways] == [result.data, changed.data]
    with pytest.raises(UserError, match="holds the result whose scenario is to run"):
        nic2core.sweep(result, {"placement.io_ways": [2, 3]}, out=saved)
    with pytest.raises(UserError, match=r"machine\.base = 'skylake-6140': a loaded scenario, like"):
        nic2core.run(result, {"machine.base": "skylake-6140"})
    # Several have no scenario in common.
    with pytest.raises(UserError, match=r"^Sweep is nothing that can run; .*, or a result\.$"):
        nic2core.run(ways)  # type: ignore[arg-type]


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
    # What is completed is less, where the objective allows drops.
    found = Peak(peak_mpps=3.0, rate_mpps=3.2, fails_at_mpps=4, failed_by="p99", probes=[],
                 results=result.data)  # fmt: skip
    traffic = result.scenario["traffic"] | {"rate": "3200 kpps"}
    result = replace(result, scenario=result.scenario | {"traffic": traffic})
    at_peak = replace(result, peak=found)
    saved = at_peak.save(tmp_path)
    told = (
        r"is the peak of a search, .*; expected a search \(nic2core\.find_peak, or peak=True\), or "
        r'a rate, such as traffic\.rate = "3\.2 Mpps"'
    )
    for again, name in (
        (lambda: nic2core.run(saved), str(saved)),
        (lambda: nic2core.run(at_peak), repr(at_peak.label)),
        (lambda: nic2core.sweep(saved, {"placement.io_ways": [2, 3]}), str(saved)),
    ):
        with pytest.raises(UserError, match=f"^{re.escape(name)} {told}"):
            again()
    rate = {"traffic.rate": "3.2 Mpps"}
    for source in (saved, at_peak):
        assert prepare(source, peak=True).scenario == result.scenario
        assert prepare(source, rate).scenario["traffic"]["rate"] == "3200 kpps"


def test_no_scenario_is_said_to_be_shipped_that_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "mine.toml").touch()
    monkeypatch.setattr(shipped, "SCENARIOS", tmp_path / "scenarios")
    with pytest.raises(UserError, match=re.escape(f"one in {tmp_path / 'scenarios'}: mine.")):
        nic2core.load("nosuch")


def test_a_directory_is_no_scenario_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    assert sources.find("demo") == shipped.SCENARIOS / "demo.toml"


def test_a_file_named_machines_is_no_folder_to_look_in(tmp_path: Path) -> None:
    scenario = tmp_path / "scenarios" / "s.toml"
    scenario.parent.mkdir()
    shutil.copyfile(str(nic2core.sources.find("explain-cpu")), scenario)
    (tmp_path / "machines").write_text("notes")
    (scenario.parent / "machines").write_text("notes")
    assert prepare(scenario).scenario["machine"]["core"]["count"] > 0


def test_a_name_that_is_no_utf8_can_be_saved_and_shown(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"b\xff.toml")
    shutil.copy(ROOT / "scenarios/explain-cpu.toml", file)
    run = nic2core.run(file, {"run.warmup": "0 us", "run.duration": "10 us"})
    assert run.scenario_name == "b\ufffd"
    run.report(run.save(tmp_path / "out") / "report.html")


def test_keys_that_a_result_had_set_are_not_warned_of_again(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    sets = {"slo.drops": "1 %", "placement.policy": "dma", "placement.io_ways": 3}
    with pytest.warns(WithoutEffect, match=r"io_ways = 3"):
        saved = nic2core.run(DEMO, SMALL | sets).save(tmp_path)
    recwarn.clear()
    nic2core.run(saved, {"run.seed": 3})
    assert not [w for w in recwarn if w.category is WithoutEffect]
    # An objective can be set whole, too.
    whole = {"slo": {"p99_service_times": 10, "drops": "1 %"}}
    with pytest.warns(WithoutEffect, match=r"slo = .* only a peak search keeps an objective"):
        objective = nic2core.run(DEMO, SMALL | whole).save(tmp_path / "objective")
    recwarn.clear()
    nic2core.run(objective, {"run.seed": 3})
    assert not [w for w in recwarn if w.category is WithoutEffect]
    with pytest.warns(WithoutEffect, match=r"io_ways = 4"):
        nic2core.run(saved, {"placement.io_ways": 4})
    # Of what had an effect before, that run has not warned.
    saved = nic2core.run(DEMO, SMALL | {"placement.io_ways": 3}).save(tmp_path / "ddio")
    with pytest.warns(WithoutEffect, match=r"io_ways = 3"):
        nic2core.run(saved, {"placement.policy": "dma"})
