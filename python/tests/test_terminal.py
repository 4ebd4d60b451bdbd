from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nic2core import terminal
from nic2core.report.page import report_html

if TYPE_CHECKING:
    from nic2core import Result


@pytest.mark.parametrize(
    ("share", "drawn"),
    [(0.0, "    "), (1.0, "████"), (0.5, "██  "), (1 / 32, "▏   "), (7.0, "████"), (-1.0, "    ")],
)
def test_a_bar_is_drawn_in_eighths(share: float, drawn: str) -> None:
    assert terminal.bar(share, 4) == drawn


def test_a_run_is_drawn_with_its_limit(ddio: Result, capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show_result(ddio)
    shown = capsys.readouterr().out
    limit = next(line for line in shown.splitlines() if "◀ limits" in line)
    assert limit.startswith("memory bus")
    assert "transmit (after total)" in shown
    for heading in ("Load of each stage", "Latency by stage", "Memory traffic by cause"):
        assert heading in shown


def test_a_short_warm_up_is_warned_of(ddio: Result, capsys: pytest.CaptureFixture[str]) -> None:
    # Three turns of 24 rings of 1024 at 20.92 Mpps take 3.52 ms.
    for start_ns, warned in ((3.6e6, False), (3.5e6, True)):
        series = ddio.data.series.model_copy(update={"start_ns": start_ns})
        run = replace(ddio, data=ddio.data.model_copy(update={"series": series}))
        terminal.show_result(run)
        said = " ".join(capsys.readouterr().out.split())
        assert ("Set run.warmup to 3.6 ms or more" in said) == warned
        assert ("Set run.warmup" in report_html([run])) == warned


def test_a_comparison_names_differences(
    ddio: Result, sweeper: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.show_comparison([ddio, sweeper])
    shown = capsys.readouterr().out
    assert "memory lines [per request]" in shown
    assert "limited by: memory bus → cores" in shown


def test_a_narrow_comparison_keeps_the_values_that_differ(
    ddio: Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    sizes = [256, 512, 1024, 2048]
    terminal.show_comparison([replace(ddio, label=f"rx_descriptors={n}") for n in sizes])
    table = capsys.readouterr().out.partition("against")[0]
    assert "…" not in table
    for size in sizes[:-1]:
        assert str(size) in table.replace("\n", "")


def test_nothing_finished_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show_comparison([])
    assert capsys.readouterr().out == ""


def test_a_run_without_packets_is_drawn(
    packetless: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.show_result(packetless)
    assert "Memory traffic by cause" in capsys.readouterr().out
