from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from nic2core import Result, UserError
from nic2core.explain.help import Helps
from nic2core.report.path import picture
from nic2core.results.models import Peak
from nic2core.results.timeline import Timeline
from nic2core.run_record import RESULT_FILE
from nic2core.sweeps import Sweep

if TYPE_CHECKING:
    from pathlib import Path


def test_a_saved_result_is_the_same_when_loaded(ddio: Result, tmp_path: Path) -> None:
    saved = ddio.save(tmp_path / "run")
    assert Result.load(saved) == ddio
    assert Result.load(saved / RESULT_FILE) == ddio


def test_a_result_can_be_sent_to_another_process_whatever_was_asked_of_it(ddio: Result) -> None:
    assert len(ddio.helps) > 0
    assert pickle.loads(pickle.dumps(ddio)) == ddio  # noqa: S301 - its own bytes


@pytest.mark.parametrize("text", ["[" * 200_000, '{"seed": ' + "9" * 5000 + "}", '{"a": NaN}'])
def test_json_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"^the result is not JSON \("):
        Result.from_json(text)


def test_the_parquet_files_hold_the_tables(ddio: Result, tmp_path: Path) -> None:
    ddio.save(tmp_path)
    for name, table in ddio.tables.all().items():
        assert pl.read_parquet(tmp_path / f"{name}.parquet").equals(table), name


def test_main_numbers_come_from_the_data(ddio: Result) -> None:
    total = next(s for s in ddio.data.latency if s.stage == "total").distribution
    assert ddio.p99_ns == dict(total.percentiles_ns)[99.0]
    assert ddio.p50_ns == dict(total.percentiles_ns)[50.0]
    assert ddio.p999_ns == dict(total.percentiles_ns)[99.9]
    assert ddio.gbps == ddio.data.packets.completed_gbps
    assert ddio.drop_share == ddio.data.packets.drop_share
    assert ddio.mpps == ddio.data.packets.completed_mpps
    assert ddio.limiting_stage.stage == "dram"


def test_a_run_without_packets_has_no_latency(packetless: Result) -> None:
    assert packetless.total_latency is None
    assert packetless.p99_ns is packetless.p999_ns is None


def test_what_senders_see_is_none_without_them(ddio: Result, closed_loop: Result) -> None:
    names = ("goodput_gbps", "p50_rtt_ns", "p99_rtt_ns", "p999_rtt_ns")
    assert [getattr(closed_loop, name) for name in names] == [75.0, 90e3, 140e3, 140e3]
    assert {getattr(ddio, name) for name in names} == {None}
    # No packet was acknowledged.
    value = closed_loop.to_json()
    value["results"]["transport"]["rtt"]["count"] = 0
    assert Result.from_json(value | {"scenario": ddio.scenario}).p99_rtt_ns is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "does not exist"),
        ("{ not json", "is not JSON"),
        ("[]", r"is not a result of this version .*\): it holds no keys and values\. Make"),
        ('{"nic2core": "0.1"}', r"\): label: field required, and [0-9]+ more such\. Make"),
    ],
)
def test_what_is_not_a_result_is_the_users_error(
    tmp_path: Path, text: str | None, says: str
) -> None:
    file = tmp_path / RESULT_FILE
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=says) as error:
        Result.load(tmp_path)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [
        (["scenario"], {}, "scenario: machine = nothing is given, but the key is required"),
        (["scenario", "run", "seed"], -1, "scenario: run.seed = -1 is out of range"),
        (
            ["results", "domains"],
            [],
            "results.domains: cores, descriptors, dram, home-trackers, io-credits, ",
        ),
        (["results", "domains", 0, "credits"], -1, "results.domains.0.credits: input should be"),
        (["results", "domains", 0, "uses"], -1, "results.domains.0.uses: negative"),
        (["results", "measured_ns"], 0, "results.measured_ns: input should be greater than 0"),
        (["results", "tenants"], [], "results.tenants: not those of the scenario"),
        (["results", "latency", 0, "distribution", "percentiles_ns"], [], ": not those of 50, 90"),
        (["peak"], {}, "peak.peak_mpps: field required"),
    ],
)
def test_a_damaged_result_is_refused_as_a_whole_in_one_line(
    ddio: Result, at: list[str | int], value: object, says: str
) -> None:
    damaged: Any = ddio.to_json()
    inner = damaged
    *way, last = at
    for key in way:
        inner = inner[key]
    inner[last] = value
    with pytest.raises(UserError, match=re.escape(says)) as error:
        Result.from_json(damaged, "result.json")
    told = str(error.value)
    assert told.startswith("result.json is not a result of this version of nic2core (")
    assert told.endswith("Make it again with `nic2core run ... --out DIR`.")
    assert "\n" not in told
    assert "http" not in told


def test_a_scenario_in_place_of_a_result_has_to_be_run_first() -> None:
    with pytest.raises(UserError, match=r"nic2core run scenarios/mine\.toml --out DIR"):
        Result.load("scenarios/mine.toml")


def test_a_result_is_read_from_text_too(ddio: Result) -> None:
    assert Result.from_json(json.dumps(ddio.to_json())) == ddio
    with pytest.raises(UserError, match=r"the result is not JSON .* A result is a directory that"):
        Result.from_json("{")


def test_an_unknown_key_is_noticed(ddio: Result) -> None:
    value = ddio.to_json()
    value["results"]["packets"]["lost"] = 1
    with pytest.raises(UserError, match=r"packets\.lost"):
        Result.from_json(value)


def test_json_has_no_nan(ddio: Result) -> None:
    json.dumps(ddio.to_json(), allow_nan=False)


def test_the_notebook_shows_verdict_and_path(ddio: Result) -> None:
    assert ddio.verdict.startswith("The memory bus limits this run: ")
    html = ddio._repr_html_()
    assert "the memory bus limits this run" in html
    assert html.count('class="gauge') == len(picture(ddio).gauges)
    assert "Warning" not in html
    run = ddio.scenario | {"run": ddio.scenario["run"] | {"warmup": "1 us"}}
    packets = ddio.data.packets.model_copy(update={"completed_before": 20})
    cold = replace(ddio, scenario=run, data=ddio.data.model_copy(update={"packets": packets}))
    assert "the warm-up of 1.00 µs is too short" in cold._repr_html_()


def test_pictures_of_different_runs_share_no_ids_in_a_notebook(
    ddio: Result, sweeper: Result
) -> None:
    def ids(result: Result) -> set[str]:
        return set(re.findall(r'id="([^"]+)"', result._repr_html_()))

    assert ids(ddio)
    assert not ids(ddio) & ids(sweeper)
    assert ids(ddio) == ids(ddio)


def test_a_prompt_shows_how_much_there_is_not_all_of_it(ddio: Result) -> None:
    assert repr(ddio.tables).startswith("Tables: latency (6 x 8), memory (7 x 4), caches (")
    assert len(repr(ddio.tables)) < 200
    assert "senders" not in repr(ddio.tables)
    assert "function" not in repr(ddio.helps[0])
    timeline = Timeline(packets=[], unfinished=0, drops=[], times_ps=[], counters=[])
    assert repr(timeline) == "Timeline of 0 packets and 0 drops"
    peak = Peak(peak_mpps=3.0, failed_by="drops", probes=[], results=ddio.data)
    shown = (
        "Peak(peak_mpps=3.0, rate_mpps=None, rate_gbps=None, fails_at_mpps=None, failed_by='drops')"
    )
    assert repr(peak) == shown


def test_what_helps_is_shown_as_a_table_of_all_changes(ddio: Result) -> None:
    table = ddio.helps.table
    assert table["domain"].to_list() == [h.change.domain for h in ddio.helps]
    assert table["helps_by"].to_list() == [h.predicted for h in ddio.helps]
    for shown in (repr(ddio.helps), ddio.helps._repr_html_()):
        rows = [line for line in re.split(r"\n|<tr>", shown) if "memory bus" in line]
        assert len(rows) == 1
        assert "8 channels" in rows[0]
        assert "+3 %" in rows[0]
        assert all(h.change.what in shown for h in ddio.helps)
        assert "str" not in re.sub("<style>.*</style>", "", shown, flags=re.DOTALL)
    unknown = Helps([replace(ddio.helps[0], predicted=nan)])
    assert unknown.table["helps_by"].to_list() == [None]
    assert "?" in repr(unknown)
    # A run that did no work has no changes, and still a table.
    assert Helps().table.columns == table.columns
    assert "helps by" in repr(Helps())


def test_a_run_is_limited_only_by_a_stage_that_allows_less(ddio: Result, calm: Result) -> None:
    assert ddio.limited
    assert not calm.limited
    for change in ({"completed": int(0.9 * calm.data.packets.offered)}, {"drop_share": 0.001}):
        packets = calm.data.packets.model_copy(update=change)
        held = replace(calm, data=calm.data.model_copy(update={"packets": packets}))
        assert not held.limited, change


def test_arrivals_that_are_few_by_chance_are_no_limit(ddio: Result) -> None:
    # 20 expected, and a memory that others keep full: 4.5 are the standard deviation.
    expected_mpps = 20 / ddio.data.measured_ns * 1e3
    for completed, limited in ((7, False), (6, True)):
        packets = ddio.data.packets.model_copy(
            update={
                "offered": completed,
                "completed": completed,
                "completed_mpps": completed * expected_mpps / 20,
                "drop_share": 0.0,
            }
        )
        update = {"packets": packets, "demand_mpps": expected_mpps}
        run = replace(ddio, data=ddio.data.model_copy(update=update))
        assert run.model.limited
        assert run.limited == limited


def test_one_run_of_a_comparison_has_to_be_named(ddio: Result, tmp_path: Path) -> None:
    Sweep([ddio, ddio], planned=2).save(tmp_path)
    with pytest.raises(UserError, match=r"comparison of 2 runs; name one of them: .*00 \(.*01 \("):
        Result.load(tmp_path)


def test_at_a_prompt_a_result_is_a_line(ddio: Result) -> None:
    said = repr(ddio)
    assert said.startswith("Result('DDIO, 2 ways': completed 20.9 Mpps, ")
    assert said.endswith("limited by memory bus)")
    assert "\n" not in said


def test_the_io_ways_are_as_full_as_they_leak(ddio: Result, sweeper: Result) -> None:
    def io_ways(result: Result) -> str:
        return next(s.detail for s in result.stages if s.stage == "io-ways")

    assert io_ways(ddio) == "85.9 % of writes leak"
    # Swept lines take a new line each time, and leave nothing behind.
    assert io_ways(sweeper).startswith(("0.", "1."))


def test_the_name_of_a_shipped_scenario_is_no_result_and_a_path_of_that_name_is_none() -> None:
    with pytest.raises(UserError, match=r"^sweeper-kvs is a scenario, not a result\. Run it with"):
        Result.load("sweeper-kvs")
    with pytest.raises(UserError, match=r"^out/sweeper-kvs does not exist\. "):
        Result.load("out/sweeper-kvs")
