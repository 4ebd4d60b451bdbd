"""A peak is tried from a cold start."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from nic2core import Result, api, confirm
from nic2core.command.cli import app
from nic2core.results.models import Peak

if TYPE_CHECKING:
    from nic2core.sources import Prepared

SHORT = {"run.warmup": "200 us", "run.duration": "500 us"}


def test_a_peak_that_a_cold_server_holds_is_not_warned_of() -> None:
    found = api.find_peak("explain-cpu", SHORT)
    with warnings.catch_warnings():
        warnings.simplefilter("error", confirm.PeakNotHeld)
        run = confirm.confirm(found)
    assert run is not None
    assert run.scenario["run"]["warmup"] == "800 us"
    assert run.data.packets.offered_mpps == pytest.approx(found.mpps, rel=0.05)


@pytest.mark.parametrize(
    ("dropped", "completed", "warnings_"), [(0.0, 1.0, 0), (0.4, 0.6, 1), (0.0, 0.9, 1)]
)
def test_one_that_it_does_not_hold_is(
    monkeypatch: pytest.MonkeyPatch, calm: Result, dropped: float, completed: float, warnings_: int
) -> None:
    offered = calm.data.packets.offered
    packets = {"drop_share": dropped, "completed": round(completed * offered)}
    data = calm.data.model_copy(update={"packets": calm.data.packets.model_copy(update=packets)})

    def cold(prepared: Prepared, *_: object) -> Result:
        assert prepared.settings["run.warmup"] == "800000 ns"
        return replace(calm, data=data)

    found = api.find_peak("explain-cpu", SHORT)
    monkeypatch.setattr(api, "run_prepared", cold)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        confirm.confirm(found)
    said = [str(w.message) for w in caught if w.category is confirm.PeakNotHeld]
    assert len(said) == warnings_
    assert all("after a warm-up of 800 µs, it drops" in text for text in said)


def test_traffic_whose_rate_changes_is_left_out(calm: Result) -> None:
    peak = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", probes=[], results=calm.data)
    bursts = calm.scenario | {"traffic": calm.scenario["traffic"] | {"kind": "bursts"}}
    assert confirm.confirm(replace(calm, peak=peak, scenario=bursts)) is None
    assert confirm.confirm(calm) is None


def test_what_was_found_is_shown_where_that_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: Result) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nic2core.command.run.confirm", stopped)
    sets = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    shown = CliRunner().invoke(app, ["peak", "explain-cpu", *sets])
    assert shown.exit_code == 0
    assert "Peak: " in shown.output
    assert "Stopped before the peak was tried from a cold start." in shown.output


def test_the_command_confirms_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Result] = []
    monkeypatch.setattr("nic2core.command.run.confirm", asked.append)
    sets = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    for more, times in (([], 1), (["--no-confirm"], 1)):
        assert CliRunner().invoke(app, ["peak", "explain-cpu", *sets, *more]).exit_code == 0
        assert len(asked) == times
