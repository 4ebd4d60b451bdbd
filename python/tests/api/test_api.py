"""The real engine behind the Python API: runs, sweeps and what they warn of."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import pytest
from small_demo import DEMO, SMALL

import nic2core
from nic2core import UserError, api
from nic2core.api import DoubtfulNumbers
from nic2core.engine import Stopped, Watch

if TYPE_CHECKING:
    from pathlib import Path

    from nic2core import Result, Scenario


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


def test_a_full_link_brings_a_warning(tmp_path: Path) -> None:
    short = {"run.warmup": "0.1 ms", "run.duration": "0.1 ms"}
    with pytest.warns(DoubtfulNumbers, match="asks for .* delivers"):
        full = nic2core.run("explain-link", {**short, "traffic.rate": "5 Mpps"})
    # The result tells it, too, after it was saved as well.
    for result in (full, nic2core.Result.load(full.save(tmp_path))):
        (told,) = (doubt for doubt in result.doubts if "25 Gbps link delivers" in doubt)
        assert told.startswith(
            "The traffic asks for 5.00 Mpps, but the 25 Gbps link delivers only "
        )
    with warnings.catch_warnings(record=True) as others:
        calm = nic2core.run("explain-link", {**short, "traffic.rate": "2 Mpps"})
    assert not any("link" in text for text in (*(str(w.message) for w in others), *calm.doubts))


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


def test_a_run_may_be_shorter_than_a_nanosecond() -> None:
    times = {"run.warmup": "0 ps", "run.duration": "500 ps", "run.sample": "500 ps"}
    assert nic2core.run("explain-cpu", times).data.measured_ns == 0.5


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
