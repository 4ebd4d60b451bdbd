"""What of a sweep is on the disk, whatever goes wrong."""

from __future__ import annotations

import errno
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import NotSaved, Result, Sweep, UserError, api, engine, sources, sweep
from nic2core.scenario.capture import capture_digest
from nic2core.sweeps.vary import _tables_first

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = {"run.seed": [1, 2, 3]}


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def seeds(directory: Path) -> list[int]:
    return [r.data.seed for r in Sweep.load(directory)]


@pytest.mark.usefixtures("fake_engine")
def test_a_disk_that_is_full_at_the_end_loses_no_saved_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = sweep("any.toml", SEEDS, out=tmp_path)
    other = sweep("any.toml", {"run.seed": [4, 5]})
    with monkeypatch.context() as patched:
        patched.setattr("nic2core.run_record.write_parquet", full)
        with pytest.raises(OSError, match="No space"):
            done.save(tmp_path)
        assert seeds(tmp_path) == [1, 2, 3]
        # Of another sweep some runs would be replaced, and some not.
        with pytest.raises(OSError, match="No space"):
            other.save(tmp_path)
        assert not (tmp_path / "comparison.json").exists()


@pytest.mark.usefixtures("fake_engine")
def test_a_sweep_of_which_all_points_are_refused_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep("any.toml", SEEDS, out=tmp_path)
    before = (tmp_path / "comparison.json").read_bytes()

    def refuses(*_: object) -> None:
        raise UserError("too small a memory")

    monkeypatch.setattr(engine, "run", refuses)
    none = sweep("any.toml", {"run.seed": [4, 5]}, skip_refused=True, out=tmp_path)
    assert (len(none), len(none.refused)) == (0, 2)
    assert (tmp_path / "comparison.json").read_bytes() == before
    assert seeds(tmp_path) == [1, 2, 3]


@pytest.mark.usefixtures("fake_engine")
def test_what_cannot_be_saved_is_told_and_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = Result.save

    def fails_for_the_second(result: Result, directory: Path) -> Path:
        if result.data.seed == 2:
            full()
        return save(result, directory)

    monkeypatch.setattr(Result, "save", fails_for_the_second)
    with pytest.warns(NotSaved, match="Not all runs are saved: .*No space left"):
        done = sweep("any.toml", SEEDS, out=tmp_path)
    assert [r.data.seed for r in done] == [1, 2, 3]
    assert seeds(tmp_path) == [1, 3]


@pytest.mark.usefixtures("fake_engine")
def test_what_could_not_be_saved_is_tried_again_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, tried = Result.save, []

    def fails_once(result: Result, directory: Path) -> Path:
        tried.append(result.data.seed)
        if tried == [1, 2]:
            full()
        return save(result, directory)

    monkeypatch.setattr(Result, "save", fails_once)
    assert sweep("any.toml", SEEDS, out=tmp_path).not_saved is None
    # Each once, but for the one that failed.
    assert tried == [1, 2, 3, 2]
    assert seeds(tmp_path) == [1, 2, 3]


def test_one_run_that_cannot_be_read_is_run_again(fake_engine: list[int], tmp_path: Path) -> None:
    sweep("any.toml", SEEDS, out=tmp_path)
    shutil.rmtree(tmp_path / "01")
    (tmp_path / "02" / "result.json").write_text("{")
    fake_engine.clear()
    assert sweep("any.toml", SEEDS, out=tmp_path).reused == 1
    assert fake_engine == [2, 3]


@pytest.mark.usefixtures("fake_engine")
def test_means_of_an_earlier_sweep_do_not_stay(tmp_path: Path) -> None:
    means = tmp_path / "over_seeds.parquet"
    sweep("any.toml", SEEDS, out=tmp_path)
    assert means.exists()
    sweep("any.toml", {"run.seed": [1]}, out=tmp_path)
    assert not means.exists()


def test_a_run_that_replaces_a_comparison_is_one_whatever_fails_after_it(
    fake_engine: list[int], tmp_path: Path, ddio: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep("any.toml", SEEDS, out=tmp_path)
    assert fake_engine
    monkeypatch.setattr("nic2core.run_record.write_parquet", full)
    with pytest.raises(OSError, match="No space"):
        ddio.save(tmp_path)
    assert Result.load(tmp_path).label == ddio.label


def test_the_capture_of_a_result_is_the_one_that_was_replayed(
    tmp_path: Path, ddio: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = tmp_path / "own.pcap"
    capture.write_bytes(b"before")
    scenario = {**ddio.scenario, "traffic": {"kind": "replay", "file": str(capture)}}
    before = capture_digest(scenario)

    def changes(*_: object) -> Any:
        capture.write_bytes(b"another one, while the engine runs")
        return ddio.data

    monkeypatch.setattr(engine, "run", changes)
    prepared = sources.prepare("explain-link")
    monkeypatch.setattr(sources.Prepared, "scenario", property(lambda _: scenario))
    result = api.run_prepared(prepared, "label", engine.Watch())
    assert before is not None
    assert result.capture == before
    assert capture_digest(scenario) != before


def test_the_engine_of_a_process_is_the_one_that_it_has_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = engine.version()
    built = tmp_path / "_core.so"
    built.write_bytes(b"a later build")
    monkeypatch.setattr("nic2core._core.__file__", str(built))
    assert engine.version() == before


def test_tables_go_before_tables_in_them() -> None:
    keys = {"traffic.control": {}, "traffic.control.target": 1, "traffic": {}, "run.seed": 2}
    assert list(_tables_first(keys)) == [
        "traffic", "traffic.control", "traffic.control.target", "run.seed",
    ]  # fmt: skip
