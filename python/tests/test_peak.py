"""The peak search from Python, on one core and so small that it takes about a second."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import nic2core
from nic2core import UserError, _core

FIXTURE = Path(__file__).parents[2] / "crates/scenario/tests/data/kvs.toml"


def small(*sets: str, rate: str = "4 Mpps") -> tuple[str, dict[str, str]]:
    one_core = (
        "tenants=[{ name = 'one', cores = { first = 0, count = 1 }, app = { kind = 'l2fwd' } }]"
    )
    short = [f"traffic.rate={rate}", "run.warmup=100 us", "run.duration=1 ms"]
    return _core.load_scenario(FIXTURE, [one_core, *short, *sets])


def test_the_peak_lies_between_a_rate_that_holds_and_one_that_fails() -> None:
    shares: list[float] = []
    text, origins = small()
    peak = json.loads(_core.find_peak(text, shares.append, origins))
    assert 0 < peak["peak_mpps"] < peak["fails_at_mpps"]
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    assert len(shares) >= len(peak["probes"])


def test_progress_begins_anew_with_a_search_that_does() -> None:
    """Many times what a core does: the first rates are forgotten, and their bracket with them."""
    shares: list[float] = []
    text, origins = small(rate="400 Mpps")
    _core.find_peak(text, shares.append, origins)
    falls = [i for i, (a, b) in enumerate(pairwise(shares), start=1) if b < a]
    assert falls
    assert all(shares[i] == 0.0 for i in falls)
    assert shares[-1] == 1.0


def test_an_objective_that_cannot_be_met_is_refused_with_its_place() -> None:
    text, origins = small("slo.p99_service_times=1")
    place = r"^--set slo.p99_service_times=1: slo\.p99_service_times = 1 cannot be met: at"
    with pytest.raises(UserError, match=place):
        _core.find_peak(text, None, origins)


def test_traffic_without_a_rate_has_no_peak() -> None:
    text, origins = small()
    scenario = json.loads(text)
    sizes = {"kind": "fixed", "size": "1 KiB"}
    scenario["traffic"] = {"kind": "backlog", "depth": 4, "flows": 10, "sizes": sizes}
    with pytest.raises(UserError, match=r"kvs\.toml, line \d+: traffic\.kind = .backlog. has no"):
        _core.find_peak(json.dumps(scenario), None, origins)
    bench = FIXTURE.parents[4] / "scenarios/pcie-bench.toml"
    text, origins = _core.load_scenario(bench, [], [bench.parents[1] / "machines"])
    place = r"pcie-bench\.toml, line 1 \(by default\): traffic\.kind = nothing has no peak"
    with pytest.raises(UserError, match=place):
        _core.find_peak(text, None, origins)
    with pytest.raises(UserError, match=r"--vary 'traffic\.load=1 Gbps,2 Gbps'`\.$"):
        nic2core.find_peak("host-congestion")


def test_a_measured_time_too_short_to_tell_is_refused_with_its_place() -> None:
    text, origins = small(rate="10 kpps")
    with pytest.raises(
        UserError, match=r": run\.duration = 1 ms is too short to tell .* at least 200 ms"
    ):
        _core.find_peak(text, None, origins)


def test_a_search_that_is_ended_notes_what_it_has_found() -> None:
    def three(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    text, origins = small()
    with pytest.raises(KeyboardInterrupt) as end:
        _core.find_peak(text, three, origins)
    (note,) = end.value.__notes__
    assert re.fullmatch(r"so far [0-9.]+ Mpps holds( and [0-9.]+ Mpps does not)?\.", note)


def test_the_caller_ends_a_search_by_raising() -> None:
    class Enough(Exception):
        pass

    def enough(_: float) -> None:
        raise Enough

    with pytest.raises(Enough):
        _core.find_peak(small()[0], enough)
