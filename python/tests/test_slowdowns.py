"""Reads of several sizes, and of a load: what they take beside what they would alone."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import pytest

from nic2core import Comparison, Result, UserError, api
from nic2core.command.terminal import show_result
from nic2core.describe import rows, senders, slowdowns
from nic2core.describe.doubts import doubts
from nic2core.describe.headline import headline
from nic2core.describe.verdict import verdict
from nic2core.explain.asked import thread_ns
from nic2core.explain.limit import Limit
from nic2core.report.page import report_html
from nic2core.words import three, time

MIX = '[{ size = "4 KiB", weight = 8 }, { size = "64 KiB", weight = 2 }]'
QUICK = {
    "machine.iommu.mode": "off",
    "traffic.senders": 4,
    "traffic.open_reads": 16,
    "traffic.control.max_cwnd": 16,
    "traffic.control.initial_cwnd": 16,
    "tenants.0.cores.count": 4,
    "tenants.0.app.copied": "on-arrival",
    "run.warmup": "1 ms",
    "run.duration": "3 ms",
}


def run(**traffic: object) -> Result:
    """A short run of four senders and four threads."""
    return api.run("host-congestion", QUICK | {f"traffic.{k}": v for k, v in traffic.items()})


@pytest.fixture(scope="module")
def mixed() -> Result:
    """What rivals are wanted has one size."""
    rivals = '{ senders = 1, read = "16 KiB", load = "2 Gbps" }'
    return run(read_mix=MIX, load="4 Gbps", rivals=rivals)


def test_slowdowns_are_shown_wherever_a_run_is(
    mixed: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mixed.data.transport is not None
    of = mixed.data.transport.by_size
    assert [(size.group, size.bytes) for size in of] == [(0, 4096), (0, 65536), (1, 16384)]
    assert sum(size.latency.count for size in of) == mixed.data.transport.reads
    table = mixed.tables.by_size
    assert table["slowdown_p99"].to_list() == [s.latency.percentile(99.0) / s.alone_ns for s in of]
    # In a network without anything else reads take longer by what the server takes.
    assert all(1.0 < slowest < 10.0 for slowest in table["slowdown_mean"])
    numbers = {n.name: n.raw for n in headline(mixed)}
    ends = [numbers[f"p99 slowdown of {which} reads"] for which in ("shortest", "longest")]
    assert ends == table["slowdown_p99"].to_list()[:2]
    row = rows.table([mixed])
    assert [row[f"p99_slowdown_{of}"][0] for of in ("shortest", "longest")] == ends
    show_result(mixed)
    shown = " ".join(capsys.readouterr().out.split())
    page = unescape(report_html([mixed]))
    for line in slowdowns.rows(mixed.data):
        assert " ".join(line) in shown
        assert all(f'<td class="num">{value}</td>' in page for value in line[1:])
    # The largest of 40 reads is no 99th percentile.
    assert [row[-3:].count("-") for row in slowdowns.rows(mixed.data)] == [
        (size.latency.count < 100) + (size.latency.count < 1000) for size in of
    ]
    assert min(size.latency.count for size in of) < 100
    assert slowdowns.rows(mixed.data)[2][:3] == [
        "16 KiB, rivals",
        f"{of[2].latency.count:,}",
        time(of[2].alone_ns),
    ]


def test_slowdowns_are_drawn_by_size(mixed: Result) -> None:
    figure = mixed.plot_slowdowns()
    others, rivals = figure.data
    assert list(others.x) == [4096, 65536]
    assert (list(rivals.x), rivals.line.dash, others.line.dash) == ([16384], "dash", "solid")
    assert list(others.y) == mixed.tables.by_size["slowdown_p99"].to_list()[:2]
    assert list(figure.layout.xaxis.ticktext) == ["4 KiB", "16 KiB", "64 KiB"]
    median = mixed.plot_slowdowns(50.0).data[0].y
    assert all(low <= high for low, high in zip(median, others.y, strict=True))
    with pytest.raises(UserError, match=r"percentile = 95\.0; allowed: 50, 90, 99, 99\.9"):
        mixed.plot_slowdowns(95.0)


def test_without_a_mix_or_a_load_nothing_is_told_by_size(closed_loop: Result) -> None:
    assert closed_loop.tables.by_size.height == 0
    assert slowdowns.rows(closed_loop.data) == []
    assert "Reads by size" not in report_html([closed_loop])
    with pytest.raises(UserError, match=r"expected closed-loop traffic with traffic\.read_mix"):
        closed_loop.plot_slowdowns()


def test_what_a_load_wants_is_the_demand(mixed: Result) -> None:
    assert mixed.data.transport is not None
    wanted, got = mixed.data.transport.wanted_gbps, mixed.data.transport.goodput_gbps
    assert wanted is not None
    # Three senders of 4 Gbit/s and one of 2: by chance, of some 400 and 40 reads.
    assert wanted == pytest.approx(14.0, rel=0.25)
    assert got == pytest.approx(wanted, rel=0.05)
    assert mixed.limit in {Limit.LOAD, Limit.FULL}
    assert mixed.model.demand == pytest.approx(wanted * 1e3 / (8 * 4096), rel=1e-9)
    assert {n.name: n.value for n in headline(mixed)}["wanted"] == three(wanted)
    # Who gets what is wanted of him gets no fair or unfair share.
    assert mixed.data.transport.fairness is None
    assert "times as much as another" not in senders.done(mixed)


def test_reads_that_pile_up_are_told() -> None:
    sets = {"traffic.read_mix": MIX, "traffic.load": "4 Gbps", "machine.nic.link": "8 Gbps"}
    most = api.run("host-congestion", QUICK | sets)
    (told,) = (text for text in doubts(most) if "ever more reads wait" in text)
    assert most.data.transport is not None
    assert f"{three(most.data.transport.goodput_gbps)} arrive" in told
    assert not any("ever more" in text for text in doubts(run(load="4 Gbps")))


def test_more_cores_do_not_want_more_of_a_load() -> None:
    result = run(read="16 KiB", load="4 Gbps")
    cores = next(h for h in result.helps if h.change.what == "5 cores")
    assert cores.predicted == pytest.approx(0.0, abs=0.01)
    # The same server with as many reads open as connections allow: more threads ask for more.
    closed = run(read="16 KiB", open_reads=1)
    cores = next(h for h in closed.helps if h.change.what == "5 cores")
    assert cores.predicted > 0.1


def test_nothing_that_is_wanted_is_no_fault_of_the_report() -> None:
    sets = QUICK | {
        "traffic.senders": 1,
        "traffic.read": "4 MiB",
        "traffic.load": "300 Mbps",
        "tenants.0.cores.count": 1,
        "run.warmup": "60 ms",
        "run.duration": "1 ms",
    }
    late = api.run("host-congestion", sets | {"run.seed": 5})
    assert late.data.transport is not None
    assert late.data.transport.wanted_gbps == 0.0
    assert late.data.transport.delivered > 0
    assert "late" in report_html([replace(late, label="late")])


def test_what_rivals_are_asked_for_is_compared_by_size() -> None:
    # `traffic.read` has no effect beside a mix, so rivals that have the same differ all the same.
    other = run(
        read_mix='[{ size = "256 KiB", weight = 1 }]', rivals='{ senders = 1, read = "16 KiB" }'
    )
    assert not senders.asked_alike(other)
    assert "times as much" not in senders.done(other)
    alike = run(read_mix=MIX, rivals=f"{{ senders = 1, read_mix = {MIX}, delay = '6 us' }}")
    assert senders.asked_alike(alike)


def test_the_work_of_a_block_is_that_of_its_mean_read() -> None:
    rare = '[{ size = "4 KiB", weight = 999 }, { size = "256 KiB", weight = 1 }]'
    found = run(read_mix=rare, striped=True, open_reads=1)
    work = 4 * (1 + 63 / 1000) * thread_ns(found.data)
    assert f"its thread's work {time(work)}" in verdict(found)


def test_few_reads_of_a_size_are_told() -> None:
    rare = '[{ size = "4 KiB", weight = 99 }, { size = "64 KiB", weight = 1 }]'
    told = [text for text in doubts(run(read_mix=rare, load="4 Gbps")) if "reads of 64 KiB" in text]
    assert len(told) == 1
    assert "is the largest of" in told[0]


def test_connections_of_which_nothing_is_wanted_do_not_starve() -> None:
    # Some thirty reads for sixteen connections: one in seven or eight has none.
    few = run(read_mix=MIX, load="0.4 Gbps")
    assert few.data.transport is not None
    assert any(c.delivered == 0 for c in few.data.transport.connections)
    assert not any("delivered nothing" in text for text in doubts(few))


def test_slowdowns_of_a_sweep_are_compared(mixed: Result) -> None:
    other = run(read="16 KiB", load="4 Gbps")
    assert [n.name for n in headline(other) if "slowdown" in n.name] == ["p99 slowdown of reads"]
    runs = [replace(mixed, label="a"), replace(other, label="b")]
    figure = Comparison(runs).plot_slowdowns()
    assert [trace.name for trace in figure.data] == ["a", "a, rivals", "b"]
