import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from synthetic import Silent, SyntheticEngine

from nic2core.studies import command
from nic2core.studies.engine import NativeEngine
from nic2core.studies.point import Point, plan
from nic2core.studies.runner import Outcome, Runner, WorkerLost
from nic2core.studies.store import Finished, Store
from nic2core.studies.sweeper import fig1, fig6
from nic2core.studies.sweeper.points import ddio, kvs

ENGINE = SyntheticEngine()
POINTS = plan(fig6.FIGURE.points)


def run(
    points: list[Point], folder: Path, engine: SyntheticEngine = ENGINE, jobs: int = 2
) -> Outcome:
    return Runner(engine, Store(folder, engine.version), jobs, Silent()).run(points)


def test_a_second_run_simulates_nothing(tmp_path: Path) -> None:
    first = run(POINTS, tmp_path)
    second = run(POINTS, tmp_path)
    assert (first.cached, second.cached) == (0, len(POINTS))
    assert {p: f.result for p, f in first.finished.items()} == {
        p: f.result for p, f in second.finished.items()
    }


def test_another_engine_does_not_see_the_points_of_the_first(tmp_path: Path) -> None:
    run(POINTS[:1], tmp_path)
    other = replace(ENGINE, version="another")
    assert run(POINTS[:1], tmp_path, other).cached == 0


def test_results_do_not_depend_on_jobs(tmp_path: Path) -> None:
    points = plan([*fig1.POINTS, *fig6.FIGURE.points])
    one = run(points, tmp_path / "one", jobs=1)
    two = run(points, tmp_path / "two", jobs=2)
    assert {p: f.result for p, f in one.finished.items()} == {
        p: f.result for p, f in two.finished.items()
    }
    names = sorted(file.name for file in (tmp_path / "one").iterdir())
    assert names == sorted(file.name for file in (tmp_path / "two").iterdir())


def test_a_dependent_point_runs_at_the_peak_that_was_found(tmp_path: Path) -> None:
    outcome = run(POINTS, tmp_path)
    peak = outcome.finished[fig6.TWO_WAYS].result["peak_mpps"]
    for point in fig6.RIGHT[1:]:
        offered = outcome.finished[point].result["packets"]["offered_mpps"]
        assert offered == pytest.approx(peak, abs=1e-6)


def test_a_refused_point_fails_alone_and_with_what_needs_it(tmp_path: Path) -> None:
    other = kvs(ddio(2), buffers=512)
    engine = replace(ENGINE, refuse_buffers=1024)
    outcome = run([*POINTS, other], tmp_path, engine)
    assert list(outcome.finished) == [other]
    assert outcome.failed[fig6.TWO_WAYS] == "the ring is refused"
    assert "whose rate it needs, failed" in outcome.failed[fig6.RIGHT[1]]
    assert len(list(tmp_path.iterdir())) == 1


class Panic(BaseException):
    """What a panic of the engine is in Python: no `Exception`."""


def test_a_panic_of_the_engine_is_a_failure_of_its_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: object) -> None:
        raise Panic("index out of bounds")

    for name in ("run", "find_peak"):
        monkeypatch.setattr(f"nic2core.engine.{name}", panics)
        with pytest.raises(NativeEngine().failures, match="Panic: index out of bounds"):
            getattr(NativeEngine(), name)({})


def test_a_point_whose_source_is_not_in_the_plan_is_a_bug(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not in the plan"):
        run([fig6.RIGHT[1]], tmp_path)


def test_the_key_names_kind_scenario_and_engine(tmp_path: Path) -> None:
    store = Store(tmp_path, "1")
    keys = {
        store.key("run", {"a": 1, "b": 2}),
        store.key("peak", {"a": 1, "b": 2}),
        store.key("run", {"a": 1, "b": 3}),
        Store(tmp_path, "2").key("run", {"a": 1, "b": 2}),
    }
    assert len(keys) == 4
    assert store.key("run", {"b": 2, "a": 1}) in keys


def test_what_is_kept_is_what_was_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "folder", "1")
    finished = Finished({"x": 0.1 + 0.2}, 1.5)
    assert store.get("key") is None
    store.put("key", "name", finished)
    assert store.get("key") == finished
    assert [f.name for f in store.directory.iterdir()] == ["key.json"]
    # What a crash of the machine has left of it.
    whole = (store.directory / "key.json").read_bytes()
    for damaged in (b"", whole[:20], b"{}", b"null"):
        (store.directory / "key.json").write_bytes(damaged)
        assert store.get("key") is None, damaged


@dataclass(frozen=True)
class Killed(SyntheticEngine):
    """Its process is ended from outside at a point."""

    at: int = 1024

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        if scenario["queues"]["rx_descriptors"] == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run(scenario)


def test_a_killed_process_is_told_and_the_rest_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [kvs(ddio(2), buffers=buffers) for buffers in (512, 1024)]
    with pytest.raises(WorkerLost, match="; 1 of 2 points are finished and kept"):
        run(points, tmp_path, Killed(), jobs=1)
    assert len(list(tmp_path.iterdir())) == 1
    code = command.run(
        "sweeper/fig6", as_json=False, jobs=2, claim=None, out=tmp_path, docs=None, engine=Killed()
    )
    assert code == command.EXIT_FAILED
    said = " ".join(capsys.readouterr().err.split())
    assert "a process ended before its point was finished" in said
    assert said.endswith("run the same command again, with fewer --jobs")


def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "study.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, sys, time
        from dataclasses import dataclass
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from synthetic import Silent, SyntheticEngine
        from nic2core.studies.runner import Runner
        from nic2core.studies.store import Store
        from nic2core.studies.sweeper.points import ddio, kvs

        @dataclass(frozen=True)
        class Slow(SyntheticEngine):
            def find_peak(self, scenario):
                Path({str(tmp_path)!r}, "worker").write_text(str(os.getpid()))
                time.sleep(300)

        if __name__ == "__main__":
            Runner(Slow(), Store(Path({str(tmp_path)!r}), "1"), 1, Silent()).run([kvs(ddio(2))])
        """)
    )
    study = subprocess.Popen([sys.executable, str(script)])
    pid = tmp_path / "worker"
    until(lambda: pid.exists() and pid.read_text() != "")
    worker = Path("/proc") / pid.read_text()
    assert worker.exists()
    study.terminate()
    study.wait()
    until(lambda: has_ended(worker))


def has_ended(process: Path) -> bool:
    """Whether a process is gone, or waits for a parent that asks how it ended."""
    try:
        return "Z (" in (process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that takes a moment."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_error_does_not_wait_for_the_points_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "put", full)
    slow = Slower()
    points = [kvs(ddio(2), buffers=buffers) for buffers in (512, 1024)]
    threads = set(threading.enumerate())
    begin = time.monotonic()
    with pytest.raises(OSError, match="No space left"):
        run(points, tmp_path, slow)
    assert time.monotonic() - begin < slow.wait
    # Python wakes the pool's thread when it exits, and complains when the thread just ends.
    assert set(threading.enumerate()) <= threads


@dataclass(frozen=True)
class Slower(SyntheticEngine):
    """Takes long for large rings."""

    wait: float = 60.0

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        time.sleep(self.wait if scenario["queues"]["rx_descriptors"] == 1024 else 0)
        return super().run(scenario)


SLOW = """
    import sys
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    from synthetic import SyntheticEngine
    from nic2core.studies import command

    if __name__ == "__main__":
        sys.exit(command.run("sweeper/fig1", as_json=True, jobs=2, claim=None,
            out=Path({out!r}), docs=None, engine=SyntheticEngine(seconds={seconds})))
"""


def test_ctrl_c_keeps_what_was_finished(tmp_path: Path) -> None:
    def script(seconds: float) -> str:
        file = tmp_path / f"run{seconds}.py"
        here = str(Path(__file__).parent)
        file.write_text(
            textwrap.dedent(SLOW.format(tests=here, out=str(tmp_path), seconds=seconds))
        )
        return str(file)

    points = tmp_path / "points"
    slow = subprocess.Popen(
        [sys.executable, script(0.5)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (points.exists() and len(list(points.glob("*.json"))) >= 2):
        assert time.monotonic() < deadline, "no point was finished"
        time.sleep(0.05)
    os.killpg(slow.pid, signal.SIGINT)
    _, errors = slow.communicate(timeout=10)
    assert slow.returncode == 130, errors
    assert "points finished and kept" in errors
    assert "Traceback" not in errors
    kept = {file.name: file.stat().st_mtime_ns for file in points.glob("*.json")}
    assert 2 <= len(kept) < len(fig1.POINTS)

    again = subprocess.run(
        [sys.executable, script(0.0)], capture_output=True, text=True, timeout=60, check=True
    )
    assert len(json.loads(again.stdout)) == len(fig1.CLAIMS)
    after = {file.name: file.stat().st_mtime_ns for file in points.glob("*.json")}
    assert len(after) == len(fig1.POINTS)
    assert kept.items() <= after.items()
