from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nic2core.command import terminal
from nic2core.describe.doubts.warmup import growing_dirty_lines, short_warmup
from nic2core.describe.headline import side_by_side
from nic2core.progress import of_sweep
from nic2core.report.page import report_html
from nic2core.results.models import Peak, Probe

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


def warned(result: Result) -> str:
    """What is said of the run's warm-up, if anything."""
    found = short_warmup(result) or growing_dirty_lines(result)
    return "" if found is None else found.text


def with_warmup(result: Result, **packets: float) -> Result:
    changed = result.data.packets.model_copy(update=packets)
    # Eight lines a packet that the cores ask the LLC for: 36 MiB are filled with 73,728.
    asked = {"llc_hits": 7 * changed.completed, "llc_misses": changed.completed}
    time = result.data.core_time.model_copy(update=asked)
    data = result.data.model_copy(update={"packets": changed, "core_time": time})
    return replace(result, data=data)


def test_a_short_warm_up_is_warned_of(ddio: Result, capsys: pytest.CaptureFixture[str]) -> None:
    # Three turns of 24 rings of 1024 are 73,728 packets; 73,000 in 5 ms are 14.6 Mpps.
    for before, warned in ((73_728, False), (73_000, True)):
        run = with_warmup(ddio, completed_before=before)
        terminal.show_result(run)
        said = " ".join(capsys.readouterr().err.split())
        assert ("73,000 packets completed in it" in said) == warned
        assert ("until about 73,700 have" in said) == warned
        assert ("Set run.warmup to 5.1 ms or more" in said) == warned
        assert ("Set run.warmup" in report_html([run])) == warned


def test_a_run_in_which_no_packet_arrives_is_warned_of(
    packetless: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    run = with_warmup(packetless, next_arrival_ns=11e6)
    terminal.show_result(run)
    warning = (
        "Warning: no packet arrived in the 5.00 ms measured, which end at 10.0 ms; the next comes "
        "at 11.0 ms. Increase run.duration to include it."
    )
    assert warning in " ".join(capsys.readouterr().err.split())
    assert warning in report_html([run])
    # A time that would read the same is told by the difference.
    terminal.show_result(with_warmup(packetless, next_arrival_ns=10e6 + 20))
    said = " ".join(capsys.readouterr().err.split())
    assert "end at 10.0 ms; the next comes 20.0 ns later. Increase" in said


def test_reads_of_swept_data_are_told_as_the_applications_bug(
    ddio: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    for reads, times in ((0, None), (1, "1 time."), (1_200, "1,200 times.")):
        run = replace(ddio, data=ddio.data.model_copy(update={"reads_after_sweep": reads}))
        terminal.show_result(run)
        said = " ".join(capsys.readouterr().err.split())
        for shown in (said, report_html([run]), run._repr_html_()):
            assert ("an application has a bug" in shown) == (times is not None)
            assert times is None or f"relinquished data and read it afterwards, {times}" in shown


def test_the_warm_up_of_a_peak_is_judged_by_what_it_completed(calm: Result) -> None:
    # 20,000 packets while the probe settled, and 30,000 in the 10 ms at half of 6 Mpps: 5 ms of
    # run.warmup. For the 53,728 that are wanted it takes 8.95 ms.
    run = with_warmup(calm, completed=40_000, completed_before=50_000)
    first = Probe(
        offered_mpps=3, completed_mpps=3, p99_ns=1, p99_limit_ns=2, drop_share=0, holds=True
    )
    peak = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", probes=[first], results=run.data)
    warning = warned(replace(run, peak=peak))
    assert "the warm-up of 5.00 ms is too short: 50,000 packets completed in it and in" in warning
    assert "Set run.warmup to 9 ms or more" in warning
    # Never less than it was, where the first probe saw more, or settled with less.
    dense = peak.model_copy(update={"probes": [first.model_copy(update={"completed_mpps": 300})]})
    assert "Set run.warmup to 7.4 ms or more" in warned(replace(run, peak=dense))
    sparse = with_warmup(calm, completed=200_000, completed_before=40_000)
    sparse = replace(sparse, peak=peak.model_copy(update={"results": sparse.data}))
    assert "Set run.warmup to 9.3 ms or more" in warned(sparse)
    # With none at all the measured rate tells: 73,728 of 20.92 Mpps.
    none = with_warmup(calm, completed_before=0)
    assert "Set run.warmup to 3.6 ms or more" in warned(none)


def of_packets(result: Result, count: int) -> Result:
    """The same run with so many packets behind its latencies."""
    latency = [
        s.model_copy(update={"distribution": s.distribution.model_copy(update={"count": count})})
        for s in result.data.latency
    ]
    return replace(result, data=result.data.model_copy(update={"latency": latency}))


def test_a_peak_whose_p99_rests_on_few_packets_is_warned_of(
    calm: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    for count, warned in ((10_000, False), (2_500, True)):
        data = of_packets(calm, count).data
        peak = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", probes=[], results=data)
        terminal.show_result(replace(calm, data=data, peak=peak))
        shown = capsys.readouterr()
        said = " ".join(shown.err.split())
        assert f"The p99 comes from {count:,} packets" in " ".join(shown.out.split())
        assert ("comes from 2,500 packets, of which only 25 are above it" in said) == warned
        # Four times the 5 ms.
        assert ("Set run.duration to 20 ms or more" in said) == warned
        # A run at a rate that was set is no search.
        terminal.show_result(replace(calm, data=data))
        assert "99th percentile comes from" not in capsys.readouterr().err


def test_a_p99_of_a_handful_of_packets_is_warned_of(
    calm: Result, packetless: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    for count, warned in ((1_000, False), (200, True)):
        terminal.show_result(of_packets(calm, count))
        said = " ".join(capsys.readouterr().err.split())
        assert ("the 99th percentile comes from 200 packets, of which only 2 are" in said) == warned
        for few, are in ((60, "none is"), (100, "only one is"), (299, "only 2 are")):
            terminal.show_result(of_packets(calm, few))
            told = " ".join(capsys.readouterr().err.split())
            assert f"comes from {few} packets, of which {are} above it: another seed" in told
        # Five times the 5 ms.
        assert ("Set run.duration to 25 ms or more, to get 1,000 packets." in said) == warned
    for none in (packetless, of_packets(calm, 0)):
        terminal.show_result(none)
        assert "99th percentile" not in capsys.readouterr().err


def test_a_large_ring_turns_until_the_cores_have_filled_the_llc(ddio: Result) -> None:
    cold = with_warmup(ddio, completed_before=0)

    def asked(result: Result = cold, **queues: object) -> str:
        scenario = {**ddio.scenario, "queues": {**ddio.scenario["queues"], **queues}}
        return warned(replace(result, scenario=scenario))

    # A pool that is a ring turns as a whole.
    assert "until about 147,000 have" in asked(pool="ring", pool_buffers=2048)
    assert "until about 73,700 have" in asked(pool="stack", pool_buffers=2048)
    assert "until about 221,000 have" in asked(pool="ring", pool_buffers=65_535)
    # Cores that read a header each need eight times as many packets, however long these are.
    time = cold.data.core_time.model_copy(update={"llc_hits": 0})
    headers = replace(cold, data=cold.data.model_copy(update={"core_time": time}))
    assert "until about 295,000 have" in asked(headers, pool="ring", pool_buffers=4096)
    assert "until about 1,770,000 have" in asked(headers, pool="ring", pool_buffers=65_535)


def test_rules_that_are_drawn_one_a_packet_are_drawn_three_times(ddio: Result) -> None:
    cold = with_warmup(ddio, completed_before=0)
    tenant, queues = ddio.scenario["tenants"][0], ddio.data.queues
    assert [q.core for q in queues] == list(range(24))

    def asked(rules: int, cores: int = 24, flows: int | None = None, **app: str) -> str:
        forwarder = tenant | {
            "app": {"kind": "l3fwd", "rules": rules} | app, "cores": {"first": 0, "count": cores},
        }  # fmt: skip
        traffic = {"kind": "replay"} if flows is None else {"kind": "poisson", "flows": flows}
        scenario = ddio.scenario | {"tenants": [forwarder], "traffic": traffic}
        return warned(replace(cold, scenario=scenario))

    # Three turns of the rings are 73,728 packets.
    assert "until about 73,700 have" in asked(16_000)
    assert "until about 96,000 have" in asked(32_000)
    assert "until about 1,150,000 have" in asked(16_000, tables="per-core")
    # All that 36 MiB of LLC and 24 L2s of 1.25 MiB hold.
    assert "until about 3,240,000 have" in asked(16_000_000)
    # Those of a flow draw one, of flows that nobody has counted none.
    assert "until about 90,000 have" in asked(32_000, flows=30_000, destinations="per-flow")
    assert "until about 73,700 have" in asked(32_000, destinations="per-flow")
    # The packets of others draw none.
    drawn = sum(q.received for q in queues[:6]) / sum(q.received for q in queues)
    said = asked(32_000, cores=6).split("until about ")[1].split()[0]
    wanted = int(said.replace(",", ""))
    assert wanted == pytest.approx(96_000 / drawn, abs=3)


@pytest.mark.parametrize(
    ("app", "rate", "wanted", "enough"),
    [
        # Two cores with 1.25 MiB of L2 each, and 36 MiB of LLC: 40.4 MB, here at 10 GB/s.
        ({"kind": "stream", "array": "78125 KiB"}, 10_000, "40.4 MB", "6.1 ms"),
        # Data that fits is touched three times: 3 x 4 MiB, in lines of 64 B.
        ({"kind": "xmem", "region": "2 MiB", "pattern": "random"}, 100, "12.6 MB", "3 ms"),
        ({"kind": "xmem", "region": "2 MiB", "pattern": "sequential"}, 100, "4.2 MB", "7.9 ms"),
        ({"kind": "xmem", "region": "2 MiB", "pattern": "random"}, 15_000, None, None),
    ],
)
def test_a_cold_run_without_packets_is_warned_of(
    packetless: Result, app: dict[str, str], rate: float, wanted: str | None, enough: str | None
) -> None:
    tenant = packetless.data.tenants[0].model_copy(update={"progress_mps": rate})
    asked = {"name": tenant.name, "app": app, "cores": {"first": 0, "count": 2}}
    data = packetless.data.model_copy(update={"tenants": [tenant], "queues": []})

    def after(warmup: str) -> str:
        run = packetless.scenario["run"] | {"warmup": warmup}
        scenario = packetless.scenario | {"tenants": [asked], "run": run}
        return warned(replace(packetless, scenario=scenario, data=data))

    if wanted is None or enough is None:
        assert after("50 us") == ""
        return
    assert f"until it has touched about {wanted}. Set run.warmup to {enough} or" in after("50 us")
    assert after("0 us").startswith("the warm-up of 0 ns is too short: kvs touches 0.0 MB")
    assert after(enough) == ""


def test_the_data_of_a_neighbour_warm_up_as_well_as_the_rings(ddio: Result) -> None:
    beside = {
        "name": "beside", "cores": {"first": 24, "count": 2},
        "app": {"kind": "xmem", "region": "2 MiB", "pattern": "random"},
    }  # fmt: skip
    warm = with_warmup(ddio, completed_before=10**9)
    tenant = warm.data.tenants[0].model_copy(update={"name": "beside", "progress_mps": 100})
    data = warm.data.model_copy(update={"tenants": [*warm.data.tenants, tenant]})
    scenario = ddio.scenario | {"tenants": [*ddio.scenario["tenants"], beside]}

    def after(warmup: str, rings: Result) -> str:
        run = ddio.scenario["run"] | {"warmup": warmup}
        return warned(replace(rings, scenario=scenario | {"run": run}))

    warm = replace(warm, data=data)
    said = after("50 us", warm)
    assert "beside touches 0.3 MB in it" in said
    assert "until it has touched about 12.6 MB. Set run.warmup to 3 ms" in said
    assert after("2 ms", warm) == ""
    # Of two that are too short the longer is said.
    cold = with_warmup(ddio, completed_before=0)
    cold = replace(cold, data=cold.data.model_copy(update={"tenants": data.tenants}))
    assert "packets completed in it" in after("50 us", cold)


def test_a_comparison_names_differences(
    ddio: Result, sweeper: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.show_comparison([ddio, sweeper])
    shown = capsys.readouterr().out
    assert "memory lines [per request]" in shown
    assert "limited by: memory bus → cores" in shown
    terminal.show_comparison([ddio, replace(ddio, label="again")])
    assert capsys.readouterr().out.endswith("\n  nothing changes by 1 % or more\n")


def test_keys_in_which_scenarios_differ_are_listed_with_the_value_of_each(
    ddio: Result, sweeper: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.show_keys([ddio, sweeper])
    said = capsys.readouterr().out
    assert said.startswith("\nThe scenarios differ in\n  placement.sweeper: false | true\n")


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


def test_a_head_is_broken_between_its_parts_and_no_run_stands_alone(
    ddio: Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "84")
    runs = [replace(ddio, label=f"endpoint_target={n} us") for n in (25, 50, 75, 100, 200)]
    terminal.show_comparison(runs)
    table, _, _ = capsys.readouterr().out.partition("\n\n")
    heads = [line.split() for line in table.splitlines() if line.strip().startswith("endpoint")]
    assert heads == [["endpoint_target="] * 3, ["endpoint_target="] * 2]
    values = [line.split() for line in table.splitlines() if line.strip().endswith(" us")]
    assert values == [["25", "us", "50", "us", "75", "us"], ["100", "us", "200", "us"]]
    # Names of rows are not broken for it, and what looks like markup is none.
    assert "memory lines [per request]" in table
    terminal.show_comparison([replace(ddio, label="DDIO [b]"), ddio])
    assert "DDIO [b]" in capsys.readouterr().out.partition("against")[0]


def test_many_runs_are_rows_without_numbers_that_are_the_same_in_all(
    ddio: Result,
    sweeper: Result,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    runs = [replace(ddio, label=f"run {n}") for n in range(8)]
    terminal.show_comparison([*runs, replace(sweeper, label="run 8")])
    table, _, rest = capsys.readouterr().out.partition("\n\n")
    lines = table.splitlines()
    assert max(map(len, lines)) <= 80
    assert "offered" not in table.partition("run 0")[0]
    assert rest.startswith("The same in all: offered 24.4 Mpps; ")
    differing = [values for _, values in side_by_side([ddio, sweeper]) if len({*values}) > 1]
    for run, label in enumerate(("run 0", "run 8")):
        shown = " ".join(line for line in lines if line.startswith(label)).split()
        # Those of one word are in one piece.
        assert {of[run] for of in differing if " " not in of[run]} <= {*shown}
    assert "against" not in rest
    assert "What changes between pairs of them is in the report, which --out DIR" in rest
    terminal.show_comparison([*runs, replace(sweeper, label="run 8")], Path("out/report.html"))
    changes = "What changes between pairs of them is in out/report.html.\n"
    assert capsys.readouterr().out.endswith(changes)
    terminal.show_keys([*runs, replace(sweeper, label="run 8")])
    assert capsys.readouterr().out.endswith("\n  placement.sweeper: false, true\n")


def test_nothing_finished_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show_comparison([])
    assert capsys.readouterr().out == ""


def test_a_run_without_packets_is_drawn(
    packetless: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.show_result(packetless)
    shown = capsys.readouterr().out
    assert "Memory traffic by cause" in shown
    assert "Latency by stage" not in shown
    assert "lines/request" not in shown


def test_names_from_the_user_are_not_markup(
    ddio: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, measured = ddio.scenario["tenants"][0], ddio.data.tenants[0]
    xmem = {"kind": "xmem", "pattern": "random", "region": "1 MiB"}
    for name in ("[b]x", "[/n]"):
        neighbour = asked | {"name": name, "app": xmem, "cores": {"first": 24, "count": 1}}
        data = ddio.data.model_copy(
            update={"tenants": [measured, measured.model_copy(update={"name": name})]}
        )
        scenario = ddio.scenario | {"tenants": [asked, neighbour]}
        terminal.show_result(replace(ddio, data=data, scenario=scenario))
        assert f"X-Mem ({name})" in capsys.readouterr().out


def test_labels_of_bars_are_not_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with of_sweep(None) as follow:
        follow.planned(["a[/n]"])
        follow.told(0, 0.5)
    assert "a[/n]" in capsys.readouterr().err
