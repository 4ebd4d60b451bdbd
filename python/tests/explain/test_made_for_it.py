"""What limits is named, and what a change helps is what it really helps.

Of the scenarios that were made for it.
"""

from __future__ import annotations

from math import inf

import pytest

from nic2core import Result, api, names, words
from nic2core.command import explanation
from nic2core.describe import pools
from nic2core.describe.verdict import verdict
from nic2core.rerun import run_changes

SCENARIOS = {"explain-link": "wire", "explain-cpu": "cores", "explain-iommu": "iommu",
             "explain-memory": "dram"}  # fmt: skip
"""The scenarios made for it, and what limits each."""


MISSED = {("dram", "read-credits: 328 of them")}
"""Gains that are predicted wrongly, by what limits: D18 of docs/validation/DEVIATIONS.md."""


@pytest.fixture(scope="module", params=SCENARIOS)
def explained(request: pytest.FixtureRequest) -> tuple[str, Result]:
    return SCENARIOS[request.param], api.run(request.param)


def test_what_limits_is_named_and_what_a_change_helps_is_right(
    explained: tuple[str, Result],
) -> None:
    limits, result = explained
    assert result.limited
    assert result.model.cause == limits
    assert " inf " not in verdict(result)
    helps = {f"{h.change.domain}: {h.change.what}": h for h in run_changes(result, jobs=2)}
    assert len(helps) >= 10
    for name, said in helps.items():
        assert said.measured is not None, name
        # The rate, to 20 %, and what it gains, to 20 % or five points.
        assert said.error == pytest.approx(0.0, abs=0.2), name
        right = said.predicted == pytest.approx(said.measured, rel=0.2, abs=0.05)
        assert right is ((limits, name) not in MISSED), (name, said.predicted, said.measured)
    harmful = {name for name, said in helps.items() if said.harm}
    assert harmful == ({"io-credits: 184 of them"} if limits == "iommu" else set())
    best = max(helps.values(), key=lambda said: said.predicted)
    assert best.change.domain == limits
    assert (best.measured or 0.0) > 0.2


def test_the_model_gives_the_rate_that_was_measured(explained: tuple[str, Result]) -> None:
    _, result = explained
    assert result.model.rate == pytest.approx(result.mpps, rel=0.05)


def test_the_time_that_is_shown_is_the_one_by_which_a_domain_allows(
    explained: tuple[str, Result],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    _, result = explained
    explanation.show(result, [])
    shown = capsys.readouterr().out.splitlines()
    for use in (u for u in result.model.used if u.name in {"nic-sram", "descriptors"}):
        row = next(line for line in shown if line.startswith(names.stage(use.name)))
        assert f" {pools.held(use)} " in row
        assert words.time(use.latency_ns) in pools.held(use)
        # What counts is another queue's where that is shorter of descriptors.
        if use.core == use.short_core and use.own_ns <= use.latency_ns:
            assert pools.held(use).startswith(words.time(use.own_ns))
        # Little's law with the two numbers of the row, one for the use and one for the rate.
        assert use.occupancy == pytest.approx(use.uses_per_us * use.latency_ns / 1e3)
        rate = result.model.allows[use.name]
        assert rate * use.uses_per_work * use.own_ns / 1e3 == pytest.approx(use.credits) or (
            use.own_ns == 0 and rate == inf
        )


def test_no_credit_is_held_without_a_cause(explained: tuple[str, Result]) -> None:
    _, result = explained
    for name, pool in result.model.pools.items():
        assert all(ns >= 0 for ns in pool.spent_ns.values()), name
        if name != "cores":
            held = result.model.use(name).own_ns
            assert sum(pool.spent_ns.values()) == pytest.approx(held), name


def test_more_cores_move_those_behind(explained: tuple[str, Result]) -> None:
    _, result = explained
    cores = next(h.change for h in result.helps if h.change.domain == "cores")
    tenants = result.scenario["tenants"]
    for number in range(1, len(tenants)):
        moved = cores.overrides[f"tenants.{number}.cores.first"]
        assert moved > tenants[number]["cores"]["first"]


def test_trackers_that_stream_takes_limit_dma() -> None:
    result = api.run("explain-trackers")
    model = result.model
    assert (model.cause, model.tightest, result.limited) == ("home-trackers", "io-credits", True)
    assert model.rate == pytest.approx(result.mpps, rel=0.05)
    assert model.use("home-trackers").load > 0.95
    helps = run_changes(result, jobs=2).by_domain
    assert (helps["home-trackers"].measured or 0.0) > 0.2
    for name, said in helps.items():
        assert said.predicted == pytest.approx(said.measured, rel=0.2, abs=0.05), name
    # STREAM gets more miss registers too, and takes the trackers.
    registers = helps["miss-registers"]
    assert "for a tracker" in registers.harm
    assert (registers.measured or 0.0) < -0.2
    # With more of them than cores and STREAM's prefetchers ask for, nothing waits for one.
    plenty = api.run("explain-trackers", {"machine.llc.home_trackers": 1024})
    waits = next(d for d in plenty.data.domains if d.domain == "home-trackers")
    assert (waits.starved_ps, waits.holds_writes_ps, waits.holds_cores_ps) == (0, 0, 0)
    assert plenty.model.cause != "home-trackers"
