"""Timings of a memory that is made one of another standard."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import nic2core
from nic2core import api, sources

SHORT = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us"}
SOURCES = [lambda: "sweeper-kvs", lambda: nic2core.load("sweeper-kvs")]


def _told(source: sources.Source, overrides: dict[str, Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", api.DoubtfulNumbers)
        warnings.simplefilter("always", api.WithoutEffect)
        nic2core.run(source, SHORT | overrides)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("source", SOURCES)
def test_timings_that_another_standard_drops_are_told(source: Any) -> None:
    sets = {"machine.dram.timings.faw": 40, "machine.dram.standard": "DDR4-2933"}
    timings = sources.prepare(source(), sets).scenario["machine"]["dram"]["timings"]
    assert {key for key, clocks in timings.items() if clocks is not None} == {"faw"}
    told = (
        "machine.dram.timings of DDR4-3200AA are dropped (ccd_l, cwl, rank_switch, rd_to_wr, "
        "rd_to_wr_other_rank, rfc, rrd_l, rrd_s, wtr_l): they are in its clocks, and DDR4-2933 "
        "has timings of its own."
    )
    assert _told(source(), sets) == [told]


@pytest.mark.parametrize("source", SOURCES)
def test_timings_of_the_same_standard_stay(source: Any) -> None:
    sets = {"machine.dram.standard": "DDR4-3200AA", "machine.dram.timings.faw": 40}
    timings = sources.prepare(source(), sets).scenario["machine"]["dram"]["timings"]
    assert (timings["faw"], timings["rfc"]) == (40, 256)
    assert _told(source(), sets) == []


@pytest.mark.parametrize("overrides", [{}, {"machine.dram.standard": "DDR4-2933"}])
def test_a_standard_assigned_in_python_drops_them_too(overrides: dict[str, Any]) -> None:
    scenario = nic2core.load("sweeper-kvs")
    scenario.machine.dram.standard = "DDR4-2933" if not overrides else "DDR4-2400"
    scenario.machine.dram.timings.faw = 40
    prepared = sources.prepare(scenario, overrides)
    dram = prepared.scenario["machine"]["dram"]
    assert dram["standard"] == "DDR4-2933"
    own = {key: clocks for key, clocks in dram["timings"].items() if clocks is not None}
    # What is set for a run comes after what was assigned, and another standard drops that.
    assert own == ({} if overrides else {"faw": 40})
    assert prepared.dropped.startswith("machine.dram.timings of DDR4-3200AA are dropped (ccd_l, ")


def test_the_standard_of_the_file_set_again_keeps_its_timings() -> None:
    scenario = nic2core.load("sweeper-kvs")
    scenario.machine.dram.standard = "DDR4-2933"
    prepared = sources.prepare(scenario, {"machine.dram.standard": "DDR4-3200AA"})
    assert prepared.scenario["machine"]["dram"]["timings"]["rfc"] == 256
    assert prepared.dropped == ""


def test_a_file_that_needs_what_is_set_tells_nothing(tmp_path: Path) -> None:
    text = Path(str(sources.find("explain-cpu"))).read_text()
    scenario = tmp_path / "s.toml"
    scenario.write_text(text.replace("seed = 1", "seed = 0.5"))
    sets = {"run.seed": 1, "machine.dram.standard": "DDR4-2933"}
    assert sources.prepare(scenario, sets).dropped == ""
