from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import Result, UserError, _core, engine, sweep
from nic2core.command import ending, options, terminal
from nic2core.comparison import load_all
from nic2core.rerun import run_changes
from nic2core.results.models import Peak
from nic2core.scenario import file_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nic2core.results.models import Results


@pytest.mark.usefixtures("fake_engine")
def test_run_shows_writes_and_reports(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert command("run", "any.toml", "--seed", "7", "--out", out) == 0
    said = capsys.readouterr()
    assert "the memory bus limits this run" in said.out
    assert str(out / "report.html") in said.err.replace("\n", "")
    assert Result.load(out).data.seed == 7
    assert "<svg" in (out / "report.html").read_text()


@pytest.mark.parametrize("verb", ["run", "peak"])
def test_several_values_are_several_runs(
    verb: str, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(verb, "demo", "--vary", "run.seed=1,2") == 2
    assert "`nic2core compare SCENARIO --vary run.seed=1,2`" in capsys.readouterr().err
    command(verb, "--help")
    assert "--vary" not in capsys.readouterr().out


@pytest.mark.usefixtures("fake_engine")
def test_json_is_all_that_stdout_gets(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("run", "any.toml", "--set", "run.seed=3", "--json", "--out", tmp_path) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == Result.load(tmp_path).to_json()
    assert printed["scenario"]["run"]["seed"] == 3
    assert printed["settings"] == {"run.seed": "3"}


@pytest.mark.filterwarnings("always::nic2core.api.DoubtfulNumbers")
def test_warnings_come_on_stderr_beside_json(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--set", "run.warmup=1 us", "--set", "run.duration=20 us", "--json"]
    for arguments in (["run"], ["compare", "--vary", "run.seed=1,2"]):
        assert command(*arguments[:1], "explain-iommu", *arguments[1:], *short) == 0
        said = capsys.readouterr()
        json.loads(said.out)
        runs = "Both seeds (worst: seed 2): " if arguments[0] == "compare" else ""
        assert f"{runs}Warning: the warm-up of 1.00 µs is too short" in said.err
        assert said.err.count("is too short") == 1


@pytest.mark.usefixtures("fake_engine")
def test_compare_writes_every_run_and_one_report(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("compare", "any.toml", "--vary", "run.seed=1,2", "--out", tmp_path) == 0
    assert "over 2 seeds" in capsys.readouterr().out
    assert [r.data.seed for r in load_all(tmp_path)] == [1, 2]
    assert command("report", tmp_path, "--out", tmp_path / "again.html") == 0
    assert (tmp_path / "again.html").read_text() == (tmp_path / "report.html").read_text()


@pytest.mark.usefixtures("fake_engine")
def test_a_directory_shows_what_the_last_command_wrote_and_keeps_the_rest(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def seeds() -> list[int]:
        return [r.data.seed for r in load_all(tmp_path)]

    many = ",".join(str(seed) for seed in range(20, 121))
    for arguments, found in (
        (("compare", "any.toml", "--vary", "run.seed=1,2,3"), [1, 2, 3]),
        (("compare", "any.toml", "--vary", "run.seed=4,5"), [4, 5]),
        (("run", "any.toml", "--seed", "6"), [6]),
        (("compare", "any.toml", "--vary", "run.seed=7,8"), [7, 8]),
        (("compare", "any.toml", "--jobs", "16", "--vary", f"run.seed={many}"), [*range(20, 121)]),
    ):
        assert command(*arguments, "--out", tmp_path) == 0
        assert seeds() == found
        assert (tmp_path / "over_seeds.parquet").exists() == (len(found) > 1)
        told = "already contains results" in capsys.readouterr().err
        assert told == (found != [1, 2, 3])
    assert Result.load(tmp_path / "02").data.seed == 3
    assert Result.load(tmp_path / "result.json").data.seed == 6
    assert command("explain", tmp_path) == ending.EXIT_USER
    assert "a comparison of 101 runs; name one of them" in capsys.readouterr().err


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize(
    "name",
    [
        "result.json", "comparison.json", "over_seeds.parquet", "report.html", "io.parquet",
        "00/result.json", "00",
    ],
)  # fmt: skip
def test_a_file_that_another_program_wrote_is_not_replaced(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"runs": []}')
    compare = ("compare", "any.toml", "--vary", "run.seed=1,2")
    for arguments in (("run", "any.toml"), compare):
        assert command(*arguments, "--out", tmp_path) == ending.EXIT_USER
        assert f"did not write and would replace: {name}; choose" in capsys.readouterr().err
    assert file.read_text() == '{"runs": []}'


@pytest.mark.usefixtures("fake_engine")
def test_what_else_lies_in_a_directory_stays(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "01").mkdir()
    others = [tmp_path / name for name in ("notes.txt", "trades.parquet", "01/notes.txt")]
    for file in others:
        file.write_text("mine")
    compare = ("compare", "any.toml", "--vary", "run.seed=1,2")
    for arguments, said in ((("run", "any.toml"), "other files are kept"), (compare, "replaced")):
        assert command(*arguments, "--out", tmp_path) == 0
        assert said in capsys.readouterr().err
    assert [file.read_text() for file in others] == ["mine"] * 3


@pytest.mark.usefixtures("fake_engine")
def test_a_report_replaces_reports_alone(
    command: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("run", "any.toml", "--out", "a") == command("run", "any.toml", "--out", "b") == 0
    assert command("report", "a", "b") == command("report", "a", "b") == 0
    Path("report.html").write_text("mine")
    assert command("report", "a", "b") == ending.EXIT_USER
    assert "report.html exists and is not a nic2core report" in capsys.readouterr().err
    assert Path("report.html").read_text() == "mine"


@pytest.mark.usefixtures("fake_engine")
def test_a_list_of_runs_that_is_none_is_told_before_a_run(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "comparison.json").write_text("[]")
    for arguments in (("report", tmp_path), ("run", "any.toml", "--out", tmp_path)):
        assert command(*arguments) == ending.EXIT_USER
        assert "comparison.json is not what `nic2core compare" in capsys.readouterr().err


@pytest.mark.usefixtures("fake_engine")
def test_the_report_of_one_result_lies_in_its_directory(
    command: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("compare", "any.toml", "--vary", "run.seed=1,2", "--out", "cmp") == 0
    assert command("report", "cmp/01") == 0
    assert Path("cmp/01/report.html").exists()
    Path("cmp/01/report.html").unlink()
    assert command("report", "cmp/01/result.json") == 0
    assert Path("cmp/01/report.html").exists()
    Path("cmp/report.html").unlink()
    assert command("report", "cmp") == 0
    assert Path("cmp/report.html").exists()
    assert not Path("report.html").exists()


@pytest.mark.usefixtures("fake_engine")
def test_a_report_tells_runs_of_one_label_apart(
    command: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x/a", "x/b", "y/a"):
        assert command("run", "any.toml", "--out", name) == 0
    for first, second, label in (("x/a", "x/b", "b"), ("x/a", "y/a", "y/a")):
        there = Path("report.html").exists()
        assert command("report", first, second) == 0
        told = "report.html already exists and will be replaced" in capsys.readouterr().err
        assert told == there
        assert f" against DDIO, 2 ways ({label})" in Path("report.html").read_text()


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "any.toml", "--set", "run.seed=13"], "run.seed = 13: brings bad luck"),
        (["run", "any.toml", "--set", "run.seed"], "`--set run.seed` is not KEY=VALUE"),
        (["compare", "any.toml", "--vary", "=1,2"], "`--vary =1,2` is not KEY=VALUE"),
        (
            ["compare", "any.toml", "--vary", "run.seed=2,4", "--vary", "run.seed=6"],
            "`--vary run.seed=6` repeats the key of `--vary run.seed=2,4`; give each key once",
        ),
        (
            ["run", "any.toml", "--set", "run.seed=1", "--set", "run.seed = 2"],
            "repeats the key of `--set",
        ),
        (
            ["run", "any.toml", "--seed", "-1"],
            "--seed -1 is out of range; allowed: 0 to 18446744073709551615.",
        ),
        (
            ["peak", "any.toml", "--seed", "18446744073709551616"],
            "--seed 18446744073709551616 is out of range; allowed: 0 to 18446744073709551615.",
        ),
        *(
            (
                [verb, "any.toml", "--seed", wrong, *more],
                f"--seed {wrong} is not a whole number; allowed: 0 to 18446744073709551615.",
            )
            for verb, wrong, more in (
                ("run", "abc", []),
                ("peak", "1.5", []),
                ("compare", "abc", ["--vary", "placement.io_ways=2,4"]),
            )
        ),
        (["run", "any.toml", "--set", "run.seed=1", "--seed", "2"], "by --seed and by --set"),
        (
            ["compare", "any.toml", "--vary", "run.seed=2,4", "--set", "run.seed=6"],
            "run.seed: a key cannot be varied and be set for all runs",
        ),
        (
            ["compare", "any.toml", "--vary", "placement.io_ways=2..6"],
            "is a range; list its values: `--vary placement.io_ways=2,3,4,5,6`.",
        ),
        (["compare", "any.toml", "--vary", "run.seed=1..99"], "run.seed=1,2,3,4,5,6,7,8,...`."),
        (
            ["compare", "any.toml", "--vary", "queues.rx_descriptors=256..1024"],
            "list its values: `--vary queues.rx_descriptors=256,512,1024`.",
        ),
        (
            ["compare", "any.toml", "--vary", "placement.io_ways=2,", "4"],
            "2 were given: any.toml, 4. Write the values of --vary without spaces, or in quotes.",
        ),
        (["reproduce", "nothing"], 'nic2core: there is no study "nothing"; there are sweeper, '),
        (["report", "nowhere"], "nowhere does not exist"),
    ],
)
def test_a_mistake_is_one_paragraph_and_exit_code_2(
    command: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    assert command(*arguments) == ending.EXIT_USER
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert "Traceback" not in said.err
    assert "\n\n" not in said.err


def test_a_mistake_in_what_is_varied_names_the_option_that_was_given(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    vary = ("--vary", "placement.io_ways=2,20")
    assert command("compare", "explain-cpu", *vary, "--set", "run.seed=3") == ending.EXIT_USER
    assert "nic2core: --vary placement.io_ways=20: " in capsys.readouterr().err


@pytest.fixture
def no_engine(fake_engine: list[int]) -> Iterator[None]:
    """Nothing is simulated during the test."""
    yield
    assert fake_engine == []


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "any.toml", "--out", "FILE"], "FILE is a file; --out needs a directory."),
        (["run", "any.toml", "--out", "FILE/out"], "FILE/out: results cannot be written there"),
        (["run", "any.toml", "--out", "/proc/a/b"], "/proc/a/b: results cannot be written there"),
        (["compare", "any.toml", "--vary", "run.seed=1,2", "--out", "FILE"], "FILE is a file"),
        (["run", "any.toml", "--timeline", "DIR"], "DIR is a directory; name a file in it."),
        (["run", "any.toml", "--timeline", "OTHER"], "OTHER exists and is not a timeline; choose"),
        (["report", "DIR", "--out", "FILE/r.html"], "FILE/r.html: the file cannot be written"),
        (["report", "DIR", "--out", "RESULT"], "RESULT exists and is not a nic2core report"),
        (["run", "any.toml", "--out", "DIR/x", "--timeline", "DIR/x"], "--out DIR/x needs a dir"),
        (["run", "any.toml", "--out", "DIR/x/y", "--timeline", "DIR/x"], "--out DIR/x/y needs a"),
        (["run", "any.toml", "--vary", "run.warmup=1 ms,2 ms"], "--vary 'run.warmup=1 ms,2 ms'`"),
        (["compare", "A B.toml", "DIR"], "`nic2core compare 'A B.toml' --vary KEY=V1,V2`"),
        (["explain", "A B.toml"], "`nic2core run 'A B.toml' --out DIR`"),
        (
            ["reproduce", "sweeper/fig3", "--out", "FILE"],
            "FILE is a file; --out needs a directory.",
        ),
        (
            ["reproduce", "sweeper/fig3", "--docs", "FILE"],
            "FILE is a file; --docs needs a directory.",
        ),
    ],
)
def test_where_nothing_can_be_written_is_told_before_a_run(
    command: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "other").write_text("[machine]")
    (tmp_path / "a b.toml").touch()
    # As nic2core writes it.
    (tmp_path / "result.json").write_text('{"nic2core": "0.1.0"}')
    names = {"FILE": "file", "OTHER": "other", "RESULT": "result.json", "A B.toml": "a b.toml"}

    def real(text: str) -> str:
        for name, file in names.items():
            text = text.replace(name, f"{tmp_path}/{file}")
        return text.replace("DIR", str(tmp_path)) if "--out DIR`" not in text else text

    assert command(*map(real, arguments)) == ending.EXIT_USER
    assert real(says) in capsys.readouterr().err


def test_a_run_that_is_refused_leaves_no_directory(
    command: Callable[..., int], tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    for out in ("there", "there/a/b", "c"):
        assert command("run", "no/such.toml", "--out", tmp_path / out) == ending.EXIT_USER
    assert [p.name for p in tmp_path.rglob("*")] == ["there"]


@pytest.mark.usefixtures("fake_engine")
def test_a_failing_write_is_no_traceback(
    command: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "out/result.json")

    monkeypatch.setattr(Result, "save", full)
    for arguments in (("run", "any.toml"), ("compare", "any.toml", "--vary", "run.seed=1,2")):
        assert command(*arguments, "--out", tmp_path) == ending.EXIT_USER
        said = capsys.readouterr()
        assert "nic2core: out/result.json: No space left on device." in said.err
        assert "memory bus" in said.out, "what is simulated is shown all the same"


def test_a_full_disk_behind_stdout_is_no_traceback(
    command: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_schema, "scenario_file", full)
    assert command("schema") == ending.EXIT_USER
    assert "nic2core: stdout: No space left on device." in capsys.readouterr().err


@pytest.mark.usefixtures("fake_engine")
def test_a_point_that_fails_costs_a_comparison_only_itself(
    command: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = engine.run
    compare = ("compare", "any.toml", "--vary", "run.seed=1,2,3", "--out", tmp_path)
    for error, code in ((UserError, ending.EXIT_USER), (_core.ModelError, ending.EXIT_BUG)):

        def failing(scenario_json: str, *others: Any, error: type[Exception] = error) -> Results:
            if '"seed": 2' in scenario_json:
                raise error("--set run.seed=2: cannot be met")
            return run(scenario_json, *others)

        monkeypatch.setattr(engine, "run", failing)
        assert command(*compare) == code
        said = capsys.readouterr()
        assert "over 2 seeds" in said.out
        assert "nic2core: seed=2: " in said.err
        assert "--vary run.seed=2: cannot be met" in said.err
        assert ("a bug in the simulator" in said.err) == (code == ending.EXIT_BUG)
        assert "Stopped" not in said.err
        assert [r.data.seed for r in load_all(tmp_path)] == [1, 3]


@pytest.mark.usefixtures("fake_engine")
def test_a_comparison_over_plain_numbers_begins_with_a_curve(
    command: Callable[..., int], tmp_path: Path
) -> None:
    vary = ("--vary", "placement.io_ways=2,4,6")
    assert command("compare", "any.toml", *vary, "--out", tmp_path) == 0
    assert "Over placement.io_ways" in (tmp_path / "report.html").read_text()


def test_changes_of_a_run_without_work_are_not_checked(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = ("run.warmup=0 ns", "run.duration=100 ns", "run.sample=100 ns")
    short = [part for key in keys for part in ("--set", key)]
    assert command("run", "demo", *short, "--out", tmp_path) == 0
    assert command("explain", tmp_path, "--check") == ending.EXIT_USER
    said = capsys.readouterr().err
    assert "--check: the run does no work" in said
    assert "Stopped" not in said
    with pytest.raises(UserError, match=r"^run_changes: the run does no work"):
        run_changes(Result.load(tmp_path))


def test_errors_of_the_library_name_the_options_of_the_command(
    command: Callable[..., int], ddio: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = ddio.save(tmp_path / "run")
    ways = ("--vary", "placement.io_ways=2,3")
    assert command("compare", saved, *ways, "--out", saved) == ending.EXIT_USER
    assert "choose another directory for --out.\n" in capsys.readouterr().err
    found = Peak(peak_mpps=3, fails_at_mpps=4, failed_by="p99", probes=[], results=ddio.data)
    peak = replace(ddio, peak=found).save(tmp_path / "peak")
    for arguments in (("run", peak), ("compare", peak, *ways)):
        assert command(*arguments) == ending.EXIT_USER
        assert "expected a search (`nic2core peak`, or --peak), or" in capsys.readouterr().err


def test_ctrl_c_in_a_run_is_told_and_ends_with_130(
    command: Callable[..., int],
    fake_engine: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "run", stopped)
    assert command("run", "any.toml") == ending.EXIT_STOPPED
    assert "nothing to show" in capsys.readouterr().err
    assert fake_engine == []


def test_a_sweep_that_is_stopped_says_so_before_and_after_what_has_run(
    command: Callable[..., int],
    fake_engine: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = replace(sweep("any.toml", {"run.seed": [1, 2]}), planned=4, stopped=True)
    assert sorted(fake_engine) == [1, 2]
    monkeypatch.setattr("nic2core.command.compare.sweep", lambda *_, **__: done)
    before: list[str] = []

    def show(*_: object) -> None:
        before.append(capsys.readouterr().err)

    monkeypatch.setattr(terminal, "show_comparison", show)
    compare = ("compare", "any.toml", "--vary", "run.seed=1,2,3,4")
    assert command(*compare) == ending.EXIT_STOPPED
    assert before == ["Stopped: 2 of 4 runs are finished and kept; they are shown next.\n"]
    assert capsys.readouterr().err == "Stopped: 2 of 4 runs are finished and kept.\n"


def test_a_report_of_a_sweep_says_what_is_missing_from_it(
    command: Callable[..., int],
    fake_engine: list[int],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    done = sweep("any.toml", {"run.seed": [1, 2]})
    replace(done, planned=3, stopped=True).save(tmp_path)
    assert command("report", tmp_path) == 0
    said = f"{tmp_path} holds 2 of 3 runs: the sweep was stopped."
    assert said in capsys.readouterr().err
    assert said in (tmp_path / "report.html").read_text()
    assert sorted(fake_engine) == [1, 2]


def test_ctrl_c_while_the_command_starts_ends_it_quietly(tmp_path: Path) -> None:
    # In the place of a module that takes long to import.
    (tmp_path / "polars.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    ended = subprocess.run(
        [Path(sys.executable).with_name("nic2core"), "--version"],
        env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (ending.EXIT_STOPPED, "", "")


def test_a_key_without_effect_is_told_beside_the_results(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    sets = ["placement.policy=dma", "placement.io_ways=4", "run.warmup=1 us", "run.duration=1 us"]
    options = [part for text in (*sets, "run.sample=1 us") for part in ("--set", text)]
    assert command("run", "explain-cpu", "--json", *options) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["settings"]["placement.io_ways"] == 4
    assert said.err == (
        'nic2core: placement.io_ways = 4 has no effect here: placement.policy = "dma" writes '
        "nothing to the LLC.\n"
        "Warning: no packet completed in the 1.00 µs measured, with 8 packets on the way at its "
        "end. Increase run.duration.\n"
    )


def test_the_schemas_are_those_of_files(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("schema") == 0
    assert json.loads(capsys.readouterr().out) == file_schema.scenario_file()
    assert command("schema", "--machine") == 0
    assert json.loads(capsys.readouterr().out) == file_schema.machine_file()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,4,6", ["2", "4", "6"]),
        ("false, true", ["false", "true"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ('"a,b",c', ['"a,b"', "c"]),
        ("'a,b',c", ["'a,b'", "c"]),
        ("]a,b", ["]a", "b"]),
        ('{ kind = "fixed", size = "64 B" },x', ['{ kind = "fixed", size = "64 B" }', "x"]),
    ],
)
def test_values_are_separated_outside_of_quotes_and_brackets(text: str, values: list[str]) -> None:
    assert options.split_values(text) == values


def test_a_missing_scenario_is_named_by_the_real_command() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "nic2core", "run", "no/such.toml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ending.EXIT_USER
    assert "no/such.toml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("fake_engine")
def test_saved_results_are_compared_as_runs_are(
    command: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("a", "1"), ("b", "1"), ("d", "2")):
        assert command("run", "any.toml", "--seed", seed, "--out", name) == 0
    assert command("compare", "any.toml", "--vary", "run.seed=3,4", "--out", "c") == 0
    capsys.readouterr()
    assert command("compare", "a", "b") == 0
    said = capsys.readouterr().out
    assert "DDIO, 2 ways (b) against DDIO, 2 ways (a)" in said
    assert command("compare", "a", "d") == 0
    assert "over 2 seeds" in capsys.readouterr().out
    assert command("compare", "a", "c", "--json") == 0
    assert [r["results"]["seed"] for r in json.loads(capsys.readouterr().out)] == [1, 3, 4]
    assert command("compare", "c") == 0
    assert "over 2 seeds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a b"], "nothing to compare without --vary; expected `nic2core compare 'a b' --vary"),
        (["a", "b", "--seed", "2"], "a b: --seed cannot be used without --vary; expected"),
        (["a", "b", "--vary", "run.seed=1,2"], "--vary takes one scenario; 2 were given: a, b."),
        (["a", "b"], "does not exist. A result is a directory"),
    ],
)
def test_what_cannot_be_compared_says_what_can(
    arguments: list[str],
    says: str,
    command: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("compare", *arguments) == ending.EXIT_USER
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["report", "explain", "compare"])
def test_a_capture_in_place_of_a_result_is_recognised(
    verb: str, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    capture = Path(__file__).parents[2] / "captures/memcached.pcap"
    also = [capture] if verb == "compare" else []
    assert command(verb, capture, *also) == ending.EXIT_USER
    assert f"{capture} is a capture, not a result. A result is a dir" in capsys.readouterr().err


def test_user_errors_are_value_errors() -> None:
    assert issubclass(UserError, ValueError)
