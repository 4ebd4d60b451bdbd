"""Scenarios across the border between Python and Rust."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from pydantic import ValidationError

from nic2core import UserError, _core
from nic2core.scenario.models import KvsApp, Scenario

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "crates/scenario/tests/data/kvs.toml"
SEEDS = sorted((ROOT / "fuzz/corpus/scenario").iterdir())


def load() -> Scenario:
    text, _ = _core.load_scenario(FIXTURE)
    return Scenario.model_validate_json(text)


def test_models_hold_what_rust_loads_and_rust_takes_it_back() -> None:
    text, _ = _core.load_scenario(FIXTURE)
    back = Scenario.model_validate_json(text).model_dump_json()
    assert json.loads(_core.check_scenario(back)) == json.loads(text)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_the_fuzzer_begins_with_scenarios_that_are_accepted(seed: Path, tmp_path: Path) -> None:
    scenario, machine, *sets = seed.read_bytes().split(b"\0")
    (tmp_path / "scenario.toml").write_bytes(scenario)
    (tmp_path / "machine.toml").write_bytes(machine)
    path = tmp_path / "scenario.toml"
    text, _ = _core.load_scenario(path, [key.decode() for key in sets if key], [tmp_path])
    assert json.loads(text)["run"]


def test_the_keys_that_whole_runs_are_fuzzed_with_are_keys_of_a_scenario() -> None:
    """Each may be refused beside other values of a scenario, but one of the three must know it."""
    runs = ROOT / "fuzz/runs"

    def refusal(scenario: str, key: str) -> str:
        try:
            _core.load_scenario(runs / f"{scenario}.toml", [key], [runs])
        except UserError as error:
            return str(error)
        return ""

    keys = (runs / "keys.txt").read_text().splitlines()
    assert len(keys) == len(set(keys)) > 250
    for key in keys:
        refusals = [refusal(scenario, key) for scenario in ("open", "closed", "device")]
        known = [
            why
            for why in refusals
            if "not a known key" not in why and "nothing is given" not in why
        ]
        assert any(not why or "cannot be simulated" in why for why in known), f"{key}: {refusals}"


def test_defaults_of_the_models_are_those_of_rust() -> None:
    full = json.loads(_core.load_scenario(FIXTURE)[0])["tenants"][0]["app"]
    assert KvsApp().model_dump(by_alias=True) == full


def test_a_model_refuses_unknown_keys_at_once_and_units_when_it_is_made() -> None:
    scenario = load()
    refused = r"Run has no key `sead`; allowed: seed, warmup, duration, sample; did you mean seed\?"
    with pytest.raises(UserError, match=refused):
        scenario.run.sead = 2  # type: ignore[attr-defined]
    with pytest.raises(ValidationError, match="pattern"):
        type(scenario.run).model_validate({"warmup": "2 mS", "duration": "1 ms"})
    with pytest.raises(ValidationError, match="io_wayz"):
        type(scenario.placement).model_validate({"policy": "dma", "io_wayz": 2})


def test_rust_refuses_what_only_relations_forbid() -> None:
    scenario = load()
    scenario.placement.io_ways = 7
    with pytest.raises(UserError, match=r"^scenario: placement\.io_ways = 7 .* 1 to 6") as caught:
        _core.check_scenario(scenario.model_dump_json())
    assert isinstance(caught.value, ValueError)


def test_an_error_has_its_problems_as_data_and_keeps_them_between_processes() -> None:
    sets = ["placement.io_ways=7", "queues.burst=0"]
    with pytest.raises(UserError) as caught:
        _core.load_scenario(FIXTURE, sets)
    error = caught.value
    ways, burst = error.problems
    assert (ways.place, ways.key, ways.given) == (f"--set {sets[0]}", "placement.io_ways", "7")
    assert (burst.key, burst.problem) == ("queues.burst", "cannot be simulated")
    assert ways.allowed.startswith("1 to 6")
    assert str(error) == f"{ways}\n{burst}"
    assert str(ways) == f"{ways.place}: {ways.without_place}"
    assert ways.without_place.startswith("placement.io_ways = 7 cannot be simulated; allowed: 1")
    assert repr(burst).startswith("Problem('--set queues.burst=0', 'queues.burst', '0', 'cannot ")
    # Studies simulate in processes of their own.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        again = pool.submit(_core.load_scenario, FIXTURE, sets).exception()
    assert isinstance(again, UserError)
    assert (str(again), again.problems) == (str(error), (ways, burst))
    with pytest.raises(UserError) as caught:
        _core.load_scenario("none.toml")
    assert [problem.key for problem in caught.value.problems] == [None]
    assert UserError("text").problems == ()


def test_origins_name_the_file_in_later_errors() -> None:
    text, origins = _core.load_scenario(FIXTURE, ["run.seed=4"])
    assert origins["run.seed"] == "--set run.seed=4"
    assert origins["placement.io_ways"].startswith(f"{FIXTURE}, line ")
    bad = text.replace('"io_ways":2', '"io_ways":0')
    with pytest.raises(UserError, match=r"kvs\.toml, line \d+: placement\.io_ways = 0"):
        _core.check_scenario(bad, origins)


def test_an_empty_capture_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.touch()
    replay = f"traffic={{ kind = 'replay', file = '{empty}', rate = '1 Gbps' }}"
    text, origins = _core.load_scenario(FIXTURE, [replay])
    with pytest.raises(UserError, match=r"traffic\.file = .*empty\.pcap.*\(the file is empty"):
        _core.Simulation(text, origins)
