"""Timings of a memory that is made one of another standard."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import nic2core
from nic2core import api

SHORT = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us"}
SOURCES = [lambda: "sweeper-kvs", lambda: nic2core.load("sweeper-kvs")]


def _told(source: api.Source, overrides: dict[str, Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", api.DoubtfulNumbers)
        warnings.simplefilter("always", api.WithoutEffect)
        nic2core.run(source, SHORT | overrides)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("source", SOURCES)
def test_timings_that_another_standard_drops_are_told(source: Any) -> None:
    sets = {"machine.dram.timings.faw": 40, "machine.dram.standard": "DDR4-2933"}
    timings = api.prepare(source(), sets).scenario["machine"]["dram"]["timings"]
    assert {key for key, clocks in timings.items() if clocks is not None} == {"faw"}
    told = (
        "machine.dram.timings of DDR4-3200AA are dropped (ccd_l, ccd_l_wr, ras, rc, rfc, rrd_l, "
        "rrd_s): they are in its clocks, and DDR4-2933 has timings of its own."
    )
    assert _told(source(), sets) == [told]


@pytest.mark.parametrize("source", SOURCES)
def test_timings_of_the_same_standard_stay(source: Any) -> None:
    sets = {"machine.dram.standard": "DDR4-3200AA", "machine.dram.timings.faw": 40}
    timings = api.prepare(source(), sets).scenario["machine"]["dram"]["timings"]
    assert (timings["faw"], timings["rfc"]) == (40, 560)
    assert _told(source(), sets) == []


def test_a_file_that_needs_what_is_set_tells_nothing(tmp_path: Path) -> None:
    text = Path(str(api.find("explain-cpu"))).read_text()
    scenario = tmp_path / "s.toml"
    scenario.write_text(text.replace("seed = 1", "seed = 0.5"))
    sets = {"run.seed": 1, "machine.dram.standard": "DDR4-2933"}
    assert api.prepare(scenario, sets).dropped == ""
