"""The command loses nothing and ends in words, whoever ends it and wherever it prints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import Result, engine
from nic2core.command import ending, terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., int]

SHORT = ("--set", "run.warmup=20 us", "--set", "run.duration=50 us")


def nic2core(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The installed command, in a process of its own."""
    return subprocess.run(
        [Path(sys.executable).with_name("nic2core"), *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("fake_engine")
def test_ctrl_c_when_all_has_run_ends_the_command_when_it_is_shown(
    number: signal.Signals,
    command: Command,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*given: Any) -> None:
        signal.raise_signal(number)
        show(*given)

    show = terminal.show_comparison
    monkeypatch.setattr(terminal, "show_comparison", interrupted)
    runs = ("any.toml", "--vary", "run.seed=1,2", "--out", tmp_path)
    assert command("compare", *runs) == ending.EXIT_STOPPED
    said = capfd.readouterr()
    assert "memory bus" in said.out
    assert "Ctrl-C again ends without them" in said.err
    assert (tmp_path / "report.html").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_at_once() -> None:
    def twice() -> None:
        with ending.shown_whole():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_search_that_is_stopped_tells_what_it_has_found(
    command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        stop = KeyboardInterrupt()
        stop.add_note("so far 2.000 Mpps holds.")
        raise stop

    monkeypatch.setattr(engine, "find_peak", stopped)
    assert command("peak", "explain-cpu") == ending.EXIT_STOPPED
    said = capsys.readouterr().err
    assert "Stopped before the run finished: so far 2.000 Mpps holds." in said


@pytest.mark.usefixtures("fake_engine")
def test_the_end_of_a_batch_job_is_as_ctrl_c(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def ended(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(engine, "run", ended)
    try:
        assert command("run", "any.toml") == ending.EXIT_STOPPED
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_terminal_without_a_character_shows_another() -> None:
    shown = nic2core("run", "explain-cpu", *SHORT, PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert "?s) =" in shown.stdout


def test_a_closed_stdout_swallows_what_is_printed(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert command("schema") == 0


def test_a_working_directory_that_is_gone_is_told(
    command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "cwd", gone)
    assert command("schema") == ending.EXIT_USER
    assert "the working directory does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--out", ""), "names no directory"),
        (("--set", "traffic.file=caf\udce9.pcap"), "traffic.file=caf\\udce9.pcap` is not text"),
        (("--timeline-every", "5"), "expected --timeline FILE"),
        (("--set", "traffic={kind='replay', file='/dev/zero'}"), "is a device or a pipe"),
        (("--set", 'traffic={kind="replay", file="x\\u0000"}'), "cannot be read"),
    ],
)
def test_what_would_go_wrong_is_refused(
    command: Command,
    arguments: tuple[str, ...],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("run", "demo", *SHORT, *arguments) == ending.EXIT_USER
    assert says in " ".join(capsys.readouterr().err.split())


def test_a_timeline_does_not_replace_the_result_beside_it(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("result.json", "report.html", "latency.parquet"):
        out = ("--out", tmp_path, "--timeline", tmp_path / name)
        assert command("run", "explain-cpu", *SHORT, *out) == ending.EXIT_USER
        assert "--out writes a file of this name" in " ".join(capsys.readouterr().err.split())
    beside = ("--out", tmp_path / "out", "--timeline", tmp_path / "out" / "timeline.json")
    assert command("run", "explain-cpu", *SHORT, *beside) == 0
    assert Result.load(tmp_path / "out").data.packets.offered > 0


@pytest.mark.usefixtures("fake_engine")
def test_a_sweep_goes_on_after_one_of_its_runs_was_damaged(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = ("compare", "any.toml", "--vary", "run.seed=1,2", "--out", tmp_path)
    assert command(*again) == 0
    damaged = tmp_path / "01" / "result.json"
    damaged.write_text(damaged.read_text()[:1000])
    assert command(*again) == 0
    said = capsys.readouterr().err
    assert "1 of 2 runs were there already." in said
    assert "runs that are the same are kept" in " ".join(said.split())
    # What no comparison lists is somebody else's.
    (tmp_path / "07").mkdir()
    (tmp_path / "07" / "result.json").write_text("{}")
    assert command(*again) == ending.EXIT_USER


def test_a_scenario_is_not_compared_without_a_key_to_vary(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("compare", "explain-cpu", "explain-link") == ending.EXIT_USER
    assert "`nic2core compare explain-cpu --vary KEY=V1,V2`" in capsys.readouterr().err


@pytest.mark.usefixtures("fake_engine")
def test_results_in_a_directory_with_the_name_of_a_scenario_are_results(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("demo", "other"):
        assert command("run", "any.toml", "--out", name) == 0
    assert command("compare", "demo", "other") == 0


def test_a_report_is_the_same_in_every_process(tmp_path: Path) -> None:
    # Several causes of next to no traffic, whose order is that in which they are listed.
    saved = tmp_path / "run"
    assert nic2core("run", "demo", *SHORT, "--out", saved).returncode == 0
    pages = []
    for seed in ("1", "2", "3", "4"):
        page = tmp_path / f"{seed}.html"
        assert nic2core("report", saved, "--out", page, PYTHONHASHSEED=seed).returncode == 0
        pages.append(page.read_bytes())
    assert len({*pages}) == 1
