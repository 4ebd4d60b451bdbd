"""What closed-loop senders see and do is shown wherever a run is, and nowhere without them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest

from nic2core import api
from nic2core.command.terminal import show_comparison, show_result
from nic2core.describe import rows, seeds, senders
from nic2core.describe.differences import differences
from nic2core.describe.doubts import doubts
from nic2core.describe.headline import headline, side_by_side
from nic2core.describe.spread import Spread
from nic2core.describe.verdict import verdict
from nic2core.explain.asked import links_mpps
from nic2core.explain.limit import Limit
from nic2core.report.page import report_html
from nic2core.results.models import Distribution, SendersResults
from nic2core.words import NOTHING, three, time

if TYPE_CHECKING:
    from nic2core import Result
    from nic2core.results.models import TransportResults

DID = (
    "Of 14,000 packets sent, 0.500 % were retransmissions and 25.0 % were marked (ECN); 60 fast "
    "recoveries"
)


def measured(result: Result) -> TransportResults:
    """What its senders measured."""
    assert result.data.transport is not None
    return result.data.transport


def changed(result: Result, **transport: object) -> Result:
    """The run with other numbers of its senders."""
    update = {"transport": measured(result).model_copy(update=transport)}
    return replace(result, data=result.data.model_copy(update=update))


def readless(result: Result) -> Result:
    """The run with reads so long that none ended."""
    whole = measured(result).read_latency
    none = [(p, 0.0) for p, _ in whole.percentiles_ns]
    empty = {"count": 0, "mean_ns": 0.0, "percentiles_ns": none, "cdf": []}
    return changed(result, read_latency=whole.model_copy(update=empty))


def test_a_run_in_the_terminal_tells_what_the_senders_did(
    closed_loop: Result, ddio: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    show_result(closed_loop)
    shown = capsys.readouterr().out
    assert f"{DID}, 1 timeout (2 declared lost had arrived)." in " ".join(shown.split())
    delay = next(line for line in shown.splitlines() if line.startswith("a whole read"))
    assert delay.split()[3:9] == ["800", "µs", "800", "µs", "2.20", "ms"]
    show_result(ddio)
    assert "closed-loop" not in capsys.readouterr().out


def test_marks_of_the_nic_are_told_apart(closed_loop: Result) -> None:
    half = senders.done(changed(closed_loop, marked=1400, marked_server=5600))
    assert "50.0 % were marked (ECN, 40.0 % by the server's NIC)" in half


def test_rivals_are_told_apart_wherever_a_run_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sets = {
        "traffic.senders": 4,
        "traffic.network": '{ delay = "5 us", sender_link = "100 Gbps", buffer = "4 MiB" }',
        "traffic.control": '{ kind = "dctcp", initial_cwnd = 1, min_cwnd = 1, max_cwnd = 1 }',
        "traffic.rivals": '{ senders = 1, control = { kind = "swift", max_cwnd = 4.0 } }',
        "tenants.0.cores.count": 2,
        "run.warmup": "1 ms",
        "run.duration": "1 ms",
    }
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = api.run("host-congestion", sets)
    # Only one of the controls hears the marks that nothing makes, and the warning names it.
    assert any('so the control "dctcp" reacts only to losses' in str(w.message) for w in told)
    others, rivals = measured(run).by_group
    assert (others.count, rivals.count) == (3, 1)
    sentence = senders.done(run)
    rows = dict(senders.groups(run))
    assert rows["senders"] == ["3, dctcp", "1, swift"]
    assert rows["goodput, Gbit/s"] == [three(of.goodput_gbps) for of in (others, rivals)]
    # A window of one packet at least and at most is never cut.
    assert (rows["windows are cut by"][0], rows["cut in all, packets per ms"][0]) == ("-", "0")
    times = rivals.goodput_gbps / (others.goodput_gbps / 3)
    assert f"A rival gets {three(times)} times as much as another sender." in sentence
    numbers = {n.name: n.raw for n in headline(run)}
    assert numbers["goodput of the rivals"] == rivals.goodput_gbps
    assert numbers["a rival over another sender"] == times
    table = run.tables.by_group
    assert table["control"].to_list() == ["traffic.control", "traffic.rivals.control"]
    assert table["read_count"].sum() == measured(run).reads
    slowest = table["read_p99_ns"].to_list()
    for whose, ns in zip(("others", "rivals"), slowest, strict=True):
        assert numbers[f"p99 whole read of the {whose}"] == ns / 1e3
    assert rows["a whole read, p99"] == [time(ns) for ns in slowest]
    page = unescape(report_html([run]))
    assert sentence in page
    show_result(run)
    shown = " ".join(capsys.readouterr().out.split())
    assert "A rival gets" in shown
    for name, values in rows.items():
        assert " ".join([name, *values]) in shown
        assert all(f'<td class="num">{value}</td>' in page for value in values)


def test_rivals_that_are_asked_for_less_are_not_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sets = {
        "traffic.rivals": '{ senders = 8, read = "4 KiB", think = "100 us" }',
        "tenants.0.cores.count": 2,
        "run.warmup": "1 ms",
        "run.duration": "1 ms",
    }
    run = api.run("host-congestion", sets)
    sentence = senders.done(run)
    groups = dict(senders.groups(run))
    assert groups["senders"] == ["32, swift", "8, swift, read 4 KiB, think 100 us"]
    assert groups["fairness among them"] == [
        three(of.fairness or 0.0) for of in measured(run).by_group
    ]
    names = [n.name for n in headline(run)]
    show_result(run)
    shown = capsys.readouterr().out
    for told in (" ".join([*names, sentence]), " ".join(shown.split())):
        assert "another sender" not in told
        assert "Jain" not in told
    assert "fairness" not in names


def test_blocks_are_shown_where_reads_are_striped(
    closed_loop: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    reads = measured(closed_loop).read_latency
    striped = changed(closed_loop, block_latency=reads)
    assert {n.name: n.value for n in headline(striped)}["p99 whole block"] == "2,200"
    show_result(striped)
    assert "a whole block" in capsys.readouterr().out
    assert striped.tables.transport["delay"].to_list()[-1] == "block_latency"
    assert not [n.name for n in headline(closed_loop) if "block" in n.name]
    assert "block_latency" not in striped.tables.senders.columns


def test_groups_of_striped_senders_have_a_table(closed_loop: Result, ddio: Result) -> None:
    striped = {
        "traffic.senders": 2,
        "traffic.striped": True,
        "traffic.rivals": "{ senders = 1, read = '4 KiB' }",
        "tenants.0.cores.count": 2,
        "run.warmup": "100 us",
        "run.duration": "300 us",
    }
    run = api.run("host-congestion", striped)
    table, blocks = run.tables.by_group, measured(run).by_group[0].block_latency
    assert blocks is not None
    assert table["block_count"][0] == blocks.count > 0
    assert table["block_mean_ns"][0] == blocks.mean_ns
    assert table["hears_marks"].dtype == closed_loop.tables.senders["hears_marks"].dtype
    assert ddio.tables.by_group.schema == table.schema


def test_what_cut_the_windows_adds_up_and_keeps_to_what_the_control_knows(
    closed_loop: Result,
) -> None:
    swift = changed(closed_loop, cut_by_host=30.0, cut_by_path=0.0, cut_by_losses=90.0)
    cuts = {n.name: n.value for n in headline(swift) if n.name.startswith("cut by")}
    assert cuts == {
        "cut by the host": "25.0",
        "cut by the path": "0",
        "cut by losses": "75.0",
    }
    # 120 packets in 5 ms.
    ((amount, unit),) = [(n.value, n.unit) for n in headline(swift) if n.name == "cut in all"]
    assert (amount, unit) == ("24.0", "packets per ms")
    of_marks = {"cut_by_host": None, "cut_by_path": 1.0, "cut_by_losses": 3.0}
    dctcp = changed(closed_loop, hears_marks=True, **of_marks)
    assert senders.cuts(measured(dctcp)) == {"marks": 0.25, "losses": 0.75}
    timely = changed(closed_loop, hears_marks=False, **of_marks)
    assert senders.cuts(measured(timely)) == {"the round trip": 0.25, "losses": 0.75}
    # All in all, where there are groups.
    apart = [
        SendersResults.model_construct(hears_marks=marks, cut_by_host=host)
        for marks, host in ((True, None), (False, 3.0), (False, None))
    ]
    mixed = measured(changed(timely, by_group=apart))
    assert [*senders.cuts(mixed)] == ["the path or the round trip or marks", "losses"]
    none = changed(closed_loop, cut_by_host=0.0, cut_by_path=0.0, cut_by_losses=0.0)
    assert senders.cuts(measured(none)) == {}
    assert not [n for n in headline(none) if n.name.startswith("cut by")]
    # Without cuts there are no shares.
    again = replace(none, data=none.data.model_copy(update={"seed": 2}))
    third = replace(swift, data=swift.data.model_copy(update={"seed": 3}))
    found = seeds.side_by_side(seeds.repeated([swift, again, third]))
    cells = {n.name: of for n, (of,) in found}
    assert cells["cut by losses"] == "75.0 (2 of 3 seeds)"
    assert cells["cut in all"] == str(Spread({1: 24.0, 2: 0.0, 3: 24.0}))


def test_the_report_has_their_delays_below_the_latency_by_stage(
    closed_loop: Result, ddio: Result
) -> None:
    _, _, numbers = report_html([closed_loop]).partition('<h2 class="run">Numbers')
    _, latency, seen = numbers.partition('<th scope="col">latency</th>')
    assert latency
    _, title, seen = seen.partition(senders.TITLE)
    assert title
    table, _, after = seen.partition("</table>")
    cells = '<th scope="row">round trip</th><td class="num">90.0 µs</td>'
    assert cells in table
    assert table.count('<th scope="row">') == 4
    assert f"{DID}, 1 timeout (2 declared lost had arrived)." in after
    assert senders.TITLE not in report_html([ddio])
    # Of two runs in one report, only that which has senders shows them.
    both = report_html([ddio, closed_loop])
    assert both.count(senders.TITLE) == both.count(DID) == 1


def test_runs_are_compared_by_the_tails_that_senders_see(
    closed_loop: Result, ddio: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = changed(closed_loop, rtt=measured(closed_loop).read_latency)
    shown = {n.name: (n.unit, values) for n, values in side_by_side([closed_loop, slow])}
    assert shown["p99 round trip"] == ("µs", ["140", "2,200"])
    assert shown["p99 whole read"] == ("µs", ["2,200", "2,200"])
    # One in 5 ms.
    assert shown["timeouts"] == ("per ms", ["0.200", "0.200"])
    show_comparison([closed_loop, slow])
    said = capsys.readouterr().out
    assert "p99 round trip [µs]" in said
    assert "p99 round trip: 140 → 2,200 µs (+1471 %)" in said
    assert not [n for n, _ in side_by_side([ddio, ddio]) if "read" in n.name or "trip" in n.name]


def test_a_table_of_runs_has_them_as_columns(closed_loop: Result, ddio: Result) -> None:
    table = rows.table([closed_loop, readless(closed_loop), ddio])
    assert table["p99_rtt_ns"].to_list() == [140e3, 140e3, None]
    assert table["p99_read_ns"].to_list() == [2_200e3, None, None]


def test_reads_that_have_not_ended_take_no_time_at_all(
    closed_loop: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    run = readless(closed_loop)
    assert {n.name: n.value for n in headline(run)}["p99 whole read"] == "-"
    show_result(run)
    assert "a whole read" not in capsys.readouterr().out
    assert "a whole read" not in report_html([run])


def test_a_curve_of_a_comparison_is_of_the_tails_too(closed_loop: Result, ddio: Result) -> None:
    def views(result: Result) -> str:
        runs = [replace(result, label=f"{n}", settings={"senders": n}) for n in (10, 20, 40)]
        return report_html(runs)

    for tail in ("p99 round trip", "p99 whole read", "mean time in the server"):
        assert f">{tail}</button>" in views(closed_loop)
        assert f">{tail}</button>" not in views(ddio)


def test_what_changes_tells_how_senders_recover(closed_loop: Result, ddio: Result) -> None:
    lossy = changed(closed_loop, sent_again=700, marked=0, fast_recoveries=600, timeouts=60)
    said = differences(closed_loop, lossy)
    assert "packets retransmitted: 0.500 % → 5.00 %" in said
    assert "packets marked (ECN): 25.0 % → 0 %" in said
    # In 5 ms.
    assert "fast recoveries: 12.0 → 120 per ms (+900 %)" in said
    assert "timeouts: 0.200 → 12.0 per ms" in said
    # As many in twice the time are half as many.
    longer = closed_loop.data.model_copy(update={"measured_ns": 10e6})
    said = differences(closed_loop, replace(closed_loop, data=longer))
    assert "fast recoveries: 12.0 → 6.00 per ms (-50 %)" in said
    assert not [s for s in differences(ddio, closed_loop) if "recoveries" in s or "marked" in s]


def test_marks_that_nobody_makes_or_hears_are_not_told(closed_loop: Result) -> None:
    deaf, hearing = ({"marked": 0, "hears_marks": hears} for hears in (False, True))
    assert "marked" not in senders.done(changed(closed_loop, **deaf))
    assert "0 % were marked" in senders.done(changed(closed_loop, **hearing))
    assert "25.0 % were marked" in senders.done(changed(closed_loop, hears_marks=False))
    ignored = changed(closed_loop, hears_marks=False)
    said = differences(ignored, changed(closed_loop, **deaf))
    assert not [s for s in said if "marked" in s]


def test_a_table_tells_what_senders_see_and_do(closed_loop: Result, ddio: Result) -> None:
    them, none = rows.table([closed_loop, ddio]).rows(named=True)
    assert (them["mean_host_delay_ns"], them["p99_host_delay_ns"]) == (67e3, 98e3)
    assert (them["lost_share"], them["retransmitted_share"]) == (0.006, 70 / 14_000)
    # One in 5 ms.
    assert (them["timeouts_per_ms"], them["mean_window"], them["fairness"]) == (0.2, 0.52, 0.81)
    assert them["packets_in_flight"] == senders.in_flight(closed_loop.data)
    cut = sum(senders.cut_packets(measured(closed_loop)).values())
    assert them["cut_packets_per_ms"] == pytest.approx(cut / 5)
    columns = ("p99_rtt_ns", "p99_read_ns", "mean_host_delay_ns", "p99_host_delay_ns")
    assert all(none[column] is None for column in (*columns, *rows.OF_SENDERS))


def alike(of: Distribution, ns: float) -> Distribution:
    """A distribution of which all values are the same."""
    return of.model_copy(update={"percentiles_ns": [(at, ns) for at, _ in of.percentiles_ns]})


def test_a_full_nic_that_delays_packets_for_less_than_the_target_is_told(
    closed_loop: Result,
) -> None:
    """1 MiB at 93.2 Gbit/s is 90 us, below the target of 100 us; at 80 Gbit/s it is 105 us."""

    def told(gbps: float, waited_ns: float = 60e3, **transport: object) -> str:
        packets = {"dropped_sram": 84, "completed_gbps": gbps, "drop_share": 0.006}
        run = changed(closed_loop, **{"cut_by_host": 1, "cut_by_losses": 9, **transport})
        data = run.data
        latency = [
            stage.model_copy(update={"distribution": alike(stage.distribution, waited_ns)})
            if stage.stage == "nic"
            else stage
            for stage in data.latency
        ]
        update = {"packets": data.packets.model_copy(update=packets), "latency": latency}
        return verdict(replace(run, data=data.model_copy(update=update)))

    assert (
        "When full, the NIC's input SRAM (1 MiB) delays packets by 90.0 µs at this rate, less than "
        "the target for the server's delay (100 us): windows are cut for losses (90.0 % of all "
        "cuts)."
    ) in told(93.2)
    assert "When full" not in told(80.0)
    # Nothing waited nearly so long: there is no room for a second packet.
    assert "When full" not in told(93.2, waited_ns=40e3)
    # Losses on the way, and none at all.
    assert "When full" not in told(93.2, dropped_switch=100)
    assert "When full" not in told(93.2, not_lost=100)
    # It hears the delay well before anything is lost.
    assert "When full" not in told(93.2, cut_by_host=9, cut_by_losses=1)


def test_senders_that_sent_nothing_meanwhile_can_be_told_of() -> None:
    far = {"traffic.network.delay": "50 us", "traffic.senders": 1, "traffic.open_reads": 8}
    one = {"machine.iommu.mode": "off", "tenants.0.cores.count": 1}
    # Between two packets of a window far below one.
    times = {"run.warmup": "1488 us", "run.duration": "40 us"}
    with warnings.catch_warnings(action="ignore"):
        result = api.run("host-congestion", far | one | times)
    assert measured(result).sent == 0
    assert result.limit is Limit.CONTROL
    assert "the senders' congestion control holds the load back" in verdict(result)
    assert ("retransmitted", "0") in [(n.name, n.value) for n in headline(result)]


def test_rivals_that_are_elsewhere_are_asked_for_the_same() -> None:
    def run(**rivals: object) -> Result:
        times = {"run.warmup": "2 ms", "run.duration": "1 ms", "tenants.0.cores.count": 2}
        keys = {"traffic.rivals": {"senders": 20, **rivals}}
        with warnings.catch_warnings(action="ignore"):
            return api.run("host-congestion", keys | times)

    far = run(delay="60 us", sender_link="50 Gbps")
    assert dict(senders.groups(far))["senders"] == [
        "20, swift",
        "20, swift, delay 60 us, sender_link 50 Gbps",
    ]
    times = senders.advantage(far)
    assert times is not None
    assert times < 1
    # Also the way that may take longer than a timeout is theirs.
    assert any("there and back (twice 60.0 µs)" in doubt for doubt in doubts(far))
    # What comes later has less time.
    late = run(start="2500 us")
    assert senders.advantage(late) is None
    assert "fairness" not in [n.name for n in headline(late)]
    # And who is not there at all delivers nothing that could be shared fairly.
    absent = run(start="4 ms")
    assert [of.fairness is None for of in measured(absent).by_group] == [False, True]
    assert dict(senders.groups(absent))["fairness among them"][1] == NOTHING
    reads = absent.tables.by_group["read_p99_ns", "read_count"].rows()
    assert reads[0][0] > 0
    assert reads[1] == (None, 0)
    assert not any("delivered nothing" in doubt for doubt in doubts(absent))


def test_rivals_that_are_not_there_ask_for_nothing() -> None:
    """Their links carry nothing, so that those of the others are all that can be full."""

    def run(**rivals: object) -> Result:
        keys = {"traffic.senders": 4, "traffic.network.sender_link": "10 Gbps"}
        times = {"run.warmup": "10 ms", "run.duration": "2 ms", "machine.iommu.mode": "off"}
        differ = {"traffic.rivals": {"senders": 2, **rivals}}
        with warnings.catch_warnings(action="ignore"):
            return api.run("host-congestion", keys | times | differ)

    always, half = run(start="0 ns"), run(start="11 ms")
    absent, gone = run(start="20 ms"), run(stop="5 ms")
    link_mpps = 10e3 / (8 * 4452)
    for result, links in ((always, 4), (half, 3), (absent, 2), (gone, 2)):
        assert links_mpps(result.scenario) == pytest.approx(links * link_mpps)
        assert result.model.demand <= 1.001 * links * link_mpps
        assert result.limit is Limit.LINKS
