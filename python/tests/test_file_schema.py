"""The schemas of files accept what users write and refuse what the program refuses."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from nic2core import shipped
from nic2core.scenario import file_schema

if TYPE_CHECKING:
    from pathlib import Path

SCENARIOS = sorted(shipped.SCENARIOS.glob("*.toml"))
MACHINES = sorted(shipped.MACHINES.glob("*.toml"))

SCENARIO = Draft202012Validator(file_schema.scenario_file())
MACHINE = Draft202012Validator(file_schema.machine_file())


def of(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def wrong(validator: Any, value: dict[str, Any]) -> list[str]:
    return [error.message for error in validator.iter_errors(value)]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_are_valid(path: Path) -> None:
    assert wrong(SCENARIO, of(path)) == []


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.stem)
def test_shipped_machines_are_valid_by_themselves_and_in_a_scenario(path: Path) -> None:
    assert wrong(MACHINE, of(path)) == []
    assert wrong(SCENARIO, of(SCENARIOS[0]) | {"machine": of(path)}) == []


def test_what_may_be_absent_can_be_left_out() -> None:
    scenario = of(SCENARIOS[0])
    machine = scenario["machine"] | {"iommu": "none", "nic": {"packet_rate": "none", "link": "no"}}
    assert ["'no'" in text for text in wrong(SCENARIO, scenario | {"machine": machine})] == [True]
    machine["dram"] = {"timings": {"bl": "none", "cl": "no"}}
    machine["nic"]["link"] = "none"
    assert ["'no'" in text for text in wrong(SCENARIO, scenario | {"machine": machine})] == [True]
    machine["llc"] = {"ways": "none"}
    assert len(wrong(SCENARIO, scenario | {"machine": machine})) == 2


def test_a_machine_without_base_needs_all_its_tables() -> None:
    scenario = of(SCENARIOS[0])
    machine = of(MACHINES[0])
    del machine["dram"]
    assert "'dram' is a required property" in wrong(SCENARIO, scenario | {"machine": machine})
    based = {"machine": machine | {"base": "any"}}
    assert wrong(SCENARIO, scenario | based) == []
    assert "'dram' is a required property" in wrong(MACHINE, machine)


def test_what_the_program_refuses_is_refused() -> None:
    scenario = of(SCENARIOS[0])
    (unknown,) = wrong(SCENARIO, scenario | {"machines": {}})
    assert "machines" in unknown
    machine = scenario["machine"] | {"core": {"frequency": "3 furlongs"}}
    (unit,) = wrong(SCENARIO, scenario | {"machine": machine})
    assert "3 furlongs" in unit
    assert wrong(SCENARIO, {key: of for key, of in scenario.items() if key != "run"})
