from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from nic2core import (
    ModelError,
    Sweep,
    UserError,
    api,
    engine,
    find_peak,
    load,
    run,
    sensitivity,
    sources,
    sweep,
)
from nic2core.describe import rows
from nic2core.progress import Progress, of_run, of_sweep
from nic2core.sweeps import cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nic2core import Result
    from nic2core.results.models import Results


def test_cases_are_the_product_with_the_last_key_fastest() -> None:
    assert cases({"a": [1, 2], "b": ["x", "y"]}) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_the_order_is_that_of_the_values_for_any_jobs(fake_engine: list[int], jobs: int) -> None:
    done = sweep("any.toml", {"run.seed": [1, 2, 3, 4]}, jobs=jobs)
    assert [r.data.seed for r in done] == [1, 2, 3, 4]
    assert done[-1] is list(done)[3]
    assert [r.settings for r in done] == [{"run.seed": n} for n in (1, 2, 3, 4)]
    assert done.complete
    assert sorted(fake_engine) == [1, 2, 3, 4]


def test_ctrl_c_keeps_the_finished_points(
    fake_engine: list[int], request: pytest.FixtureRequest
) -> None:
    # A shell starts what runs in the background deaf to Ctrl-C; the test must not depend on it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        request.addfinalizer(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))

    def told(point: int, share: float) -> None:
        if (point, share) == (2, 0.5):
            # As the terminal does it; then the point goes on until it is told to stop.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.5)
            # Once more, while the command waits for it.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.5)

    progress = Progress(told=told)
    done = sweep("any.toml", {"run.seed": [1, 2, 3, 4]}, progress=progress)
    assert [r.data.seed for r in done] == [1, 2]
    assert fake_engine == [1, 2]
    assert not done.complete
    assert done.planned == 4


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize("progress", [None, Progress()])
def test_a_terminal_shows_bars_unless_progress_is_followed_otherwise(
    progress: Progress | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    sweep("any.toml", {"run.seed": [1, 2]}, progress=progress)
    assert ("all runs" in capsys.readouterr().err) == (progress is None)


@pytest.mark.usefixtures("fake_engine")
def test_lines_tell_progress_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep("any.toml", {"run.seed": [1, 2]})
    assert capsys.readouterr().err == "", "it is over before a line is due"
    monkeypatch.setattr("nic2core.progress.LINE_S", 0.0)
    with of_sweep(None) as follow:
        follow.planned(["a", "b"])
        follow.told(0, 1.0)
        follow.told(1, 0.5)
    with of_run(None, "simulating") as watch:
        watch.tell(0.25)
    assert capsys.readouterr().err.splitlines() == [
        "1 of 2 runs are finished: 50 %",
        "1 of 2 runs are finished: 75 %",
        "simulating: 25 %",
    ]


@pytest.mark.usefixtures("fake_engine")
def test_ctrl_c_after_the_last_run_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "warn_of_doubts", interrupted)
    assert len(sweep("any.toml", {"run.seed": [1, 2]})) == 2


def test_progress_that_cannot_be_told_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nic2core.progress.LINE_S", 0.0)
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        monkeypatch.setattr("sys.stderr", full)
        with of_run(None, "simulating") as watch:
            watch.tell(0.25)
        # What is left in its buffer.
        monkeypatch.undo()
        with suppress(OSError):
            full.close()


def test_a_mistake_in_the_last_point_is_told_before_the_first_runs(fake_engine: list[int]) -> None:
    with pytest.raises(UserError, match="bad luck"):
        sweep("any.toml", {"run.seed": [1, 2, 13]})
    assert fake_engine == []


def test_an_error_in_one_point_stops_the_others(
    fake_engine: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = engine.run

    def failing(scenario_json: str, watch: engine.Watch, origins: None) -> Results:
        if '"seed": 2' in scenario_json:
            raise UserError("a peak that cannot be found")
        return run(scenario_json, watch, origins)

    monkeypatch.setattr(engine, "run", failing)
    with pytest.raises(UserError, match="cannot be found"):
        sweep("any.toml", {"run.seed": [1, 2, 3]})
    assert fake_engine == [1]
    assert threading.active_count() == 1


def test_a_progress_can_follow_several_sweeps(fake_engine: list[int]) -> None:
    progress = Progress()
    for _ in range(2):
        assert sweep("any.toml", {"run.seed": [1, 2]}, progress=progress).complete
    assert not progress.stop.is_set()
    assert sorted(fake_engine) == [1, 1, 2, 2]
    # Its owner may stop them.
    progress.stop.set()
    stopped = sweep("any.toml", {"run.seed": [1, 2]}, progress=progress)
    assert (len(stopped), stopped.stopped) == (0, True)


class Panic(BaseException):
    """What a panic of the engine is in Python: no `Exception`."""


@pytest.fixture
def _panics(fake_engine: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed 2 panics, and seed 3 is refused, before others end."""
    run = engine.run

    def failing(scenario_json: str, watch: engine.Watch, origins: None) -> Results:
        if '"seed": 2' in scenario_json:
            time.sleep(0.1)
            raise Panic("index out of bounds")
        if '"seed": 3' in scenario_json:
            raise UserError("a peak that cannot be found")
        return run(scenario_json, watch, origins)

    monkeypatch.setattr(engine, "run", failing)
    assert fake_engine == []


@pytest.mark.usefixtures("_panics")
def test_a_panic_in_one_point_loses_no_other(tmp_path: Path) -> None:
    seeds = {"run.seed": [1, 2, 3, 4]}
    done = sweep("any.toml", seeds, jobs=2, skip_refused=True, out=tmp_path)
    assert [r.data.seed for r in done] == [1, 4]
    # In the order of the values, whichever ended first.
    assert [str(why) for why in done.refused.values()] == [
        "Panic: index out of bounds",
        "a peak that cannot be found",
    ]
    assert [isinstance(why, ModelError) for why in done.refused.values()] == [True, False]
    done.save(tmp_path)
    # Every run is in the directory with the number of its point.
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["00", "03"]
    again = Sweep.load(tmp_path)
    assert (list(again.points), list(again.refused)) == ([0, 3], list(done.refused))
    with pytest.raises(Panic):
        sweep("any.toml", seeds)


@pytest.mark.usefixtures("fake_engine")
def test_what_has_finished_is_saved_while_the_others_run(tmp_path: Path) -> None:
    saved: list[Sweep] = []

    def told(point: int, share: float) -> None:
        if (point, share) == (2, 0.5):
            time.sleep(0.5)
            saved.append(Sweep.load(tmp_path))

    vary = {"run.seed": [1, 2, 3]}
    done = sweep("any.toml", vary, progress=Progress(told=told), out=tmp_path)
    (early,) = saved
    assert [r.data.seed for r in early] == [1, 2]
    assert (early.planned, early.stopped) == (3, True)
    late = Sweep.load(tmp_path)
    assert ([r.data.seed for r in late], late.complete) == ([1, 2, 3], True)
    assert not late.stopped
    assert not done.stopped


SEEDS = {"run.seed": [1, 2, 3]}


def test_what_an_earlier_sweep_has_saved_is_not_run_again(
    fake_engine: list[int], tmp_path: Path
) -> None:
    sweep("any.toml", {"run.seed": [2, 3]}, out=tmp_path)
    fake_engine.clear()
    done = sweep("any.toml", SEEDS, out=tmp_path)
    assert fake_engine == [1]
    assert ([r.data.seed for r in done], done.reused, done.complete) == ([1, 2, 3], 2, True)
    # Everything is as if it had been run now.
    fresh = sweep("any.toml", SEEDS)
    assert [(r.label, r.settings) for r in done] == [(r.label, r.settings) for r in fresh]
    assert [r.data.seed for r in Sweep.load(tmp_path)] == [1, 2, 3]
    assert sweep("any.toml", {"run.seed": [1]}, out=tmp_path / "other").reused == 0


def test_what_was_saved_is_kept_when_the_sweep_that_goes_on_is_stopped(
    fake_engine: list[int], tmp_path: Path
) -> None:
    sweep("any.toml", {"run.seed": [2, 3]}, out=tmp_path)
    fake_engine.clear()

    def told(point: int, _share: float) -> None:
        if point == 0:
            progress.stop.set()

    progress = Progress(told=told)
    stopped = sweep("any.toml", SEEDS, out=tmp_path, progress=progress)
    assert fake_engine == []
    assert ([r.data.seed for r in stopped], stopped.stopped) == ([2, 3], True)
    assert [r.data.seed for r in Sweep.load(tmp_path)] == [2, 3]
    assert sweep("any.toml", SEEDS, out=tmp_path).reused == 2


@pytest.mark.usefixtures("fake_engine")
def test_only_the_same_engine_and_question_are_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ddio: Result
) -> None:
    done = sweep("any.toml", SEEDS, out=tmp_path)
    # A run answers no search for a peak.
    searched: list[str] = []

    def search(_prepared: sources.Prepared, name: str, _watch: engine.Watch) -> Result:
        searched.append(name)
        return ddio

    with monkeypatch.context() as patched:
        patched.setattr(api, "peak_prepared", search)
        assert sweep("any.toml", SEEDS, out=tmp_path, peak=True).reused == 0
    assert len(searched) == 3
    # The capture that was replayed may have changed since.
    done.save(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("nic2core.sweeps.kept.capture_digest", lambda _scenario: "another")
        assert sweep("any.toml", SEEDS, out=tmp_path).reused == 0
    monkeypatch.setattr(engine, "version", lambda: "another")
    done.save(tmp_path)
    # Saving what was loaded does not make it the work of this engine.
    Sweep.load(tmp_path).save(tmp_path)
    assert sweep("any.toml", SEEDS, out=tmp_path).reused == 0


def test_the_table_has_a_row_per_point(fake_engine: list[int]) -> None:
    table = sweep("any.toml", {"run.seed": [1, 2]}).table
    assert table["run.seed"].to_list() == [1, 2]
    assert set(table.columns) > {"rate_mps", "of", "p99_ns", "memory_gbytes_per_s", "limited_by"}
    assert fake_engine == [1, 2]


@pytest.mark.usefixtures("fake_engine")
def test_a_column_is_drawn_over_the_first_key_with_a_line_for_each_value_of_the_others() -> None:
    done = sweep("any.toml", {"queues.burst": [1, 2], "placement.io_ways": [2, 4]})
    figure = done.plot("memory_gbytes_per_s")
    assert [line.name for line in figure.data] == ["placement.io_ways = 2", "placement.io_ways = 4"]
    assert list(figure.data[0].x) == [1, 2]
    shown = done.table.filter(pl.col("placement.io_ways") == 4)["memory_gbytes_per_s"]
    assert list(figure.data[1].y) == shown.to_list()
    assert "…" not in repr(done), "all columns are shown"
    for column in ("speed", "limited_by"):
        with pytest.raises(UserError, match=f"no column '{column}' of numbers; exp"):
            done.plot(column)
    other = done.plot("memory_gbytes_per_s", over="placement.io_ways")
    assert [line.name for line in other.data] == ["queues.burst = 1", "queues.burst = 2"]
    assert list(other.data[0].x) == [2, 4]
    with pytest.raises(UserError, match=r"over = 'run.seed' is no key that .* of queues.burst, pl"):
        done.plot(over="run.seed")
    # Names are no axis, whatever the order of the keys.
    both = sweep("any.toml", {"placement.policy": ["ddio", "dma"], "queues.burst": [1, 2]})
    named = both.plot("memory_gbytes_per_s")
    assert [line.name for line in named.data] == [
        "placement.policy = ddio",
        "placement.policy = dma",
    ]
    assert list(named.data[0].x) == [1, 2]
    # Nothing lies between two policies.
    alone = sweep("any.toml", {"placement.policy": ["ddio", "dma"]}).plot()
    assert [(bar.type, list(bar.x)) for bar in alone.data] == [("bar", ["ddio", "dma"])]


@pytest.mark.usefixtures("fake_engine")
def test_varied_keys_come_first_in_the_table_and_fixed_ones_last() -> None:
    fixed = {"traffic.rate": "3 Mpps"}
    done = sweep(
        "any.toml",
        {"placement.sweeper": [False, True], "queues.burst": [1, 2]},
        overrides=fixed,
    )
    columns = done.table.columns
    assert columns[:3] == ["case", "placement.sweeper", "queues.burst"]
    assert columns[-1] == "traffic.rate"
    lines = [line.name for line in done.plot(over="queues.burst").data]
    assert lines == ["placement.sweeper = false", "placement.sweeper = true"]


@pytest.mark.usefixtures("fake_engine")
def test_tables_are_varied_like_names() -> None:
    controls = [{"kind": "swift", "beta": 0.4}, {"kind": "dctcp"}]
    done = sweep("any.toml", {"traffic.control": controls, "queues.burst": [1, 2]})
    swift, dctcp = '{ kind = "swift", beta = 0.4 }', '{ kind = "dctcp" }'
    assert done.table["traffic.control"].to_list() == [swift, swift, dctcp, dctcp]
    assert done[0].label == "control=swift, burst=1", "a kind tells tables apart where it can"
    names = [line.name for line in done.plot("rate_mps").data]
    assert names == ["traffic.control = swift", "traffic.control = dctcp"]


@pytest.mark.usefixtures("fake_engine")
def test_of_several_keys_runs_are_compared_that_differ_in_one() -> None:
    policies = {"placement.policy": ["ddio", "dma", "ideal-ddio"]}
    done = sweep("any.toml", {"run.seed": [1, 2], **policies})
    told = [[tuple(r.settings.values()) for r in pair] for pair in rows.pairs(done.results)]
    assert told == [
        [(1, "ddio"), (1, "dma")],
        [(1, "ddio"), (1, "ideal-ddio")],
        [(2, "ddio"), (2, "dma")],
        [(2, "ddio"), (2, "ideal-ddio")],
        # And what the other key does, for each policy.
        [(1, "ddio"), (2, "ddio")],
        [(1, "dma"), (2, "dma")],
        [(1, "ideal-ddio"), (2, "ideal-ddio")],
    ]
    one = sweep("any.toml", policies).results
    assert rows.pairs(one) == [(one[0], one[1]), (one[0], one[2])]


@pytest.mark.usefixtures("fake_engine")
def test_runs_are_compared_by_what_is_no_number_also_where_both_came_as_text() -> None:
    vary = {"run.seed": ["1", "2"], "placement.sweeper": ["false", "true"]}
    pairs = rows.pairs(sweep("any.toml", vary).results)
    told = [[tuple(r.settings.values()) for r in pair] for pair in pairs]
    assert told == [
        [("1", "false"), ("1", "true")],
        [("2", "false"), ("2", "true")],
        [("1", "false"), ("2", "false")],
        [("1", "true"), ("2", "true")],
    ]


@pytest.mark.usefixtures("fake_engine")
def test_nothing_is_drawn_over_a_key_of_one_value() -> None:
    with pytest.raises(UserError, match="no key was varied between the 1 finished runs"):
        sweep("any.toml", {"run.seed": [1]}).plot()


def test_a_column_that_begins_late_is_a_column(closed_loop: Result, ddio: Result) -> None:
    table = rows.table([*[ddio] * 101, closed_loop])
    assert table["goodput_gbps"].to_list()[-1] == 75.0


def test_each_tenant_has_its_columns_and_they_can_be_drawn() -> None:
    short = {"run.warmup": "50 us", "run.duration": "50 us"}
    done = sweep("explain-trackers", {"tenants.1.cores.count": [0, 8]}, overrides=short)
    table, tenants = done.table, [t.name for t in done[0].data.tenants]
    assert len(tenants) == 2
    for number, name in enumerate(tenants):
        for column in ("amat_ns", "progress_mps"):
            shown = table[f"{column} ({name})"].to_list()
            assert shown == [getattr(r.data.tenants[number], column) for r in done]
            assert list(done.plot(f"{column} ({name})").data[0].y) == shown
    assert not {"amat_ns", "progress_mps"} & set(table.columns), "the mean of both is that of none"
    assert table["p999_ns"].to_list() == [r.latency_ns(99.9) for r in done]
    io = done[0].data.io
    assert io is not None
    assert io.write_hits is not None
    assert io.write_misses is not None
    share = io.write_hits / (io.write_hits + io.write_misses)
    assert table["dma_write_hit_share"][0] == pytest.approx(share)


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize("values", [np.array([1, 2]), range(1, 3), (1, 2), iter([1, 2])])
def test_values_may_come_in_anything_that_lists_them(values: Iterable[int]) -> None:
    done = sweep("any.toml", {"run.seed": values})
    assert [r.settings for r in done] == [{"run.seed": 1}, {"run.seed": 2}]
    assert [r.label for r in done] == ["seed=1", "seed=2"]
    assert done.table["run.seed"].to_list() == [1, 2]


def test_what_is_no_mapping_is_refused_with_what_would_be() -> None:
    wrong: Any = [{"run.seed": 1}]
    told = r"= \[\{'run.seed': 1\}\] is a list; expected keys and their values, such as"
    with pytest.raises(UserError, match=rf'^vary {told} \{{"placement.io_ways": \[2, 4\]\}}'):
        sweep("demo", wrong)
    for change in (
        lambda: sweep("demo", {"run.seed": [1]}, overrides=wrong),
        lambda: run("demo", wrong),
        lambda: load("demo", wrong),
    ):
        with pytest.raises(UserError, match=rf'^overrides {told} \{{"placement.io_ways": 4\}}'):
            change()


@pytest.mark.parametrize("wrong", [[], "", 0, False])
def test_what_is_empty_is_no_mapping_either(wrong: Any) -> None:
    for change in (
        lambda: sensitivity("explain-cpu", "machine.llc.ways", overrides=wrong),
        lambda: sweep("demo", {"run.seed": [1]}, overrides=wrong),
        lambda: find_peak("demo", wrong),
        lambda: run("demo", wrong),
        lambda: load("demo", wrong),
    ):
        with pytest.raises(UserError, match=r"^overrides = .* is a .*; expected keys and their"):
            change()


@pytest.mark.parametrize("values", [3, "2, 4", [], {"2": 4}])
def test_what_is_no_list_of_values_is_refused(values: Sequence[int]) -> None:
    with pytest.raises(UserError, match=r"placement.io_ways = .* is not a list of values"):
        sweep("demo", {"placement.io_ways": values})


@pytest.mark.parametrize(
    ("vary", "jobs", "says"),
    [
        ({}, 1, "vary is empty; expected keys and their values"),
        ({"run.seed": [1, 2, 1]}, 1, "vary: run.seed has 1 twice; give each value once"),
        ({"run.seed": [1, "1"]}, 1, "vary: run.seed has 1 twice; give each value once"),
        ({"run.seed": [1]}, 0, "jobs = 0 runs nothing; expected 1 or more"),
    ],
)
def test_a_sweep_that_would_not_be_what_was_meant_is_refused(
    fake_engine: list[int], vary: dict[str, list[int]], jobs: int, says: str
) -> None:
    with pytest.raises(UserError, match=says):
        sweep("any.toml", vary, jobs=jobs)
    assert fake_engine == []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_table_may_be_varied_with_a_key_of_it_set_for_all_runs() -> None:
    short = {"run.warmup": "1 us", "run.duration": "1 us", "run.sample": "1 us"}
    tables = [{"policy": "ddio", "io_ways": 2}, {"policy": "ddio", "io_ways": 4}]
    done = sweep("explain-cpu", {"placement": tables}, overrides={"placement.io_ways": 3, **short})
    assert [r.scenario["placement"]["io_ways"] for r in done] == [3, 3]
