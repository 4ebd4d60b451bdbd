"""The main numbers are those of what a run measures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import api, compare, words
from nic2core.command.terminal import show_result
from nic2core.describe.differences import differences, overview, summary
from nic2core.describe.headline import headline, side_by_side
from nic2core.describe.verdict import verdict
from nic2core.report.page import report_html
from nic2core.scenario.models import Scenario
from nic2core.sweeps import sweep

if TYPE_CHECKING:
    from nic2core import Result
    from nic2core.results.models import Distribution

SHORT = {"run.warmup": "100 us", "run.duration": "100 us"}
OF_PACKETS = {"completed", "network", "offered", "dropped", "p50 latency", "p99 latency",
              "memory lines"}  # fmt: skip


def values(result: Result) -> dict[str, str]:
    return {n.name: n.value for n in headline(result)}


def benchmarks(**app: Any) -> Scenario:
    """Memory benchmarks alone: STREAM and random accesses."""
    scenario = api.load("explain-memory").model_dump(mode="json", exclude_none=True)
    xmem = {"kind": "xmem", "pattern": "random", "region": "64 MiB"}
    scenario["traffic"] = None
    scenario["tenants"] = [
        {"name": "a", "cores": {"first": 0, "count": 2}, "app": {"kind": "stream"} | app},
        {"name": "b", "cores": {"first": 2, "count": 1}, "app": xmem},
    ]
    return Scenario.model_validate(scenario)


def test_the_dma_benchmark_shows_its_rate_and_its_latency() -> None:
    result = api.run("pcie-bench", SHORT)
    shown, dma = values(result), result.data.dma
    assert dma is not None
    assert dma.latency_ns is not None
    assert shown["DMA"] == words.three(dma.gbps)
    assert shown["DMA read latency"] == words.three(dma.latency_ns)
    assert shown["transactions"] == words.three(dma.transactions / result.data.measured_ns * 1e3)
    assert not OF_PACKETS & shown.keys()
    assert result.tables.dma["gbps"].to_list() == [dma.gbps]
    # No software runs: there are no cores to be loaded.
    assert not {"cores", "miss-registers", "AMAT"} & {*shown, *(s.stage for s in result.stages)}


def test_full_cores_take_all_their_cycles_for_what_they_complete() -> None:
    full = api.run("explain-cpu", {"run.warmup": "200 us", "run.duration": "400 us"})
    numbers = {n.name: n.raw for n in headline(full)}
    # By hand: four cores of 2 GHz, which dispatch 12,000 instructions and some for each packet.
    assert (full.scenario["tenants"][0]["cores"]["count"], len(full.data.queues)) == (4, 4)
    assert full.scenario["machine"]["core"]["frequency"] == "2 GHz"
    assert numbers["core cycles"] == pytest.approx(4 * 2000 / full.mpps, rel=0.01)
    assert numbers["instructions"] == pytest.approx(12_130, rel=0.02)


def test_memory_traffic_is_told_by_tenant() -> None:
    result = api.run("explain-memory", SHORT)
    names = [t.name for t in result.data.tenants]
    assert len(names) > 1
    shown, memory = values(result), result.data.memory
    table = result.tables.memory_by_tenant
    own = {n: float(table.filter(name=n)["gbytes_per_s"].sum()) for n in names}
    (walks,) = (c for c in memory.causes if c.cause == "iommu-walk-rd")
    all_of_it = pytest.approx(memory.bandwidth_gbytes_per_s)
    assert sum(own.values()) + walks.gbytes_per_s == all_of_it
    of = {n: shown[f"memory traffic of {n}"] for n in names}
    assert of == {n: words.three(own[n]) for n in names}
    bars = result.plot_memory()
    assert set(bars.data[0].y) == {result.label, *(f"of {name}" for name in names)}
    # A request's lines are none of the neighbour's.
    (serving,) = (t for t in result.data.tenants if any("rx" in c.cause for c in t.memory))
    lines = sum(c.lines for c in [*serving.memory, walks])
    assert shown["memory lines"] == words.three(lines / result.data.packets.completed)
    # Next to a neighbour without cores there is the same number, for comparisons with some.
    alone = api.run("explain-memory", {**SHORT, "tenants.1.cores.count": 0})
    told = {name for name in values(alone) if name.startswith(("memory traffic", "AMAT"))}
    only = alone.data.tenants[0].name
    assert told == {"memory traffic", f"memory traffic of {only}", f"AMAT ({only})"}
    assert set(alone.plot_memory().data[0].y) == {alone.label}


def test_lines_of_a_neighbour_are_those_of_no_request(
    ddio: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = api.run("explain-memory", SHORT)
    for run, told in ((ddio, True), (beside, False)):
        show_result(run)
        assert ("lines/request" in capsys.readouterr().out) is told
    more = api.run("explain-memory", {**SHORT, "machine.dram.channels": 2})
    said = [s.partition(":")[0] for s in differences(beside, more) if "lines per request" in s]
    assert {"core reads application data", "application data evicted"}.isdisjoint(said)


def test_memory_benchmarks_show_what_they_moved() -> None:
    result = api.run(benchmarks(), SHORT)
    stream, xmem = result.data.tenants
    shown = values(result)
    assert stream.stream_gbytes_per_s_by_core is not None
    assert shown["STREAM (a)"] == words.three(sum(stream.stream_gbytes_per_s_by_core))
    assert shown["X-Mem (b)"] == words.three(xmem.progress_mps)
    # Each has its own latency: the mean of both is that of neither.
    assert stream.amat_ns is not None
    assert xmem.amat_ns is not None
    assert shown["AMAT (a)"] == words.three(stream.amat_ns)
    assert shown["AMAT (b)"] == words.three(xmem.amat_ns)
    assert result.data.amat_ns is not None
    low, high = sorted([stream.amat_ns, xmem.amat_ns])
    assert low < result.data.amat_ns < high
    assert "AMAT" not in shown
    assert not OF_PACKETS & shown.keys()
    assert (
        result.tables.tenants["stream_gbytes_per_s_by_core"].to_list()[0]
        == stream.stream_gbytes_per_s_by_core
    )
    # Both are always in use, and so allow the same.
    said = verdict(result)
    assert "36 registers / (0.8" in said or "3 cores / (1.00 per access" in said
    assert shown["STREAM (a)"] in report_html([result])


def test_benchmarks_are_compared_by_what_they_moved() -> None:
    one, two = sweep(benchmarks(), {"tenants.0.cores.count": [1, 2]}, overrides=SHORT)
    rows = {number.name: shown for number, shown in side_by_side([one, two])}
    assert rows["STREAM (a)"] == [values(r)["STREAM (a)"] for r in (one, two)]
    assert any(said.startswith("STREAM (a): ") for said in differences(one, two))
    assert "% more accesses" in summary(one, two)


def test_benchmarks_beside_packets_are_shown_too() -> None:
    shown = values(api.run("explain-memory", SHORT))
    assert {"completed", "X-Mem (xmem)"} <= shown.keys()


def test_a_benchmark_without_cores_is_the_baseline_of_a_comparison() -> None:
    runs = sweep("explain-trackers", {"tenants.1.cores.count": [0, 8]}, overrides=SHORT)
    rows = {number.name: shown for number, shown in side_by_side(runs.results)}
    none, some = rows["STREAM (stream)"]
    assert (none, float(some) > 10) == ("0", True)
    # Even where its first core serves packets, they are not its own.
    beside = api.run("explain-trackers", {"tenants.1.cores": {"first": 0, "count": 0}, **SHORT})
    assert values(beside) == values(runs[0])


def test_a_run_without_packets_has_a_headline(packetless: Result) -> None:
    assert not OF_PACKETS & values(packetless).keys()


@pytest.mark.parametrize("rate", ["10 kpps", "100 kpps"])
def test_a_small_rate_is_not_none(rate: str) -> None:
    shown = values(api.run("explain-memory", {"traffic.rate": rate, "run.warmup": "100 us"}))
    assert 0 < float(shown["completed"]) < 0.2
    assert len(shown["completed"].replace(".", "").lstrip("0")) == 3


def test_what_is_none_of_closed_loop_senders_is_nought(closed_loop: Result, ddio: Result) -> None:
    rows = {number.name: shown for number, shown in side_by_side([closed_loop, ddio])}
    assert rows["dropped by the switch"] == ["0", "-"]
    assert rows["declared lost, but arrived"] == ["0.0143", "-"]
    # 13 900 packets, each for its round trip.
    transport = closed_loop.data.transport
    assert transport is not None
    under_way = 13_900 * transport.rtt.mean_ns / closed_loop.data.measured_ns
    assert rows["in flight"] == [words.three(under_way), "-"]


def with_drops(result: Result, share: float) -> Result:
    packets = result.data.packets.model_copy(update={"drop_share": share})
    return replace(result, data=result.data.model_copy(update={"packets": packets}))


def with_tail(result: Result, factor: float) -> Result:
    """The same run with a p99 of the latency, and of the round trip, so many times as long."""

    def longer(spread: Distribution) -> Distribution:
        percentiles = [(p, ns * factor if p == 99.0 else ns) for p, ns in spread.percentiles_ns]
        return spread.model_copy(update={"percentiles_ns": percentiles})

    latency = [
        s.model_copy(update={"distribution": longer(s.distribution)}) for s in result.data.latency
    ]
    update: dict[str, Any] = {"latency": latency}
    if result.data.transport is not None:
        rtt = longer(result.data.transport.rtt)
        update["transport"] = result.data.transport.model_copy(update={"rtt": rtt})
    return replace(result, data=result.data.model_copy(update=update), label="other")


def test_a_comparison_begins_with_what_users_feel(calm: Result, closed_loop: Result) -> None:
    alike = "completes as many requests and causes as much memory traffic; "
    assert summary(calm, with_tail(calm, 1.05)).startswith(f"other {alike}")
    p99 = calm.p99_ns
    assert p99 is not None
    times = f"{words.time(2 * p99)} instead of {words.time(p99)}"
    assert summary(calm, with_tail(calm, 2)).startswith(
        f"other has a p99 latency of {times}, {alike}"
    )
    assert summary(with_tail(calm, 2), with_tail(calm, 1)).startswith("other has a p99 latency of")
    # A round trip is what users of closed-loop senders wait for, where both runs have it.
    said = summary(closed_loop, with_tail(closed_loop, 2))
    assert "other has a p99 round trip of 280 µs instead of 140 µs, achieves as much" in said
    assert "p99 latency" in summary(closed_loop, with_tail(calm, 9))
    for share, told in ((0.02, True), (0.009, False)):
        said = summary(calm, with_drops(with_tail(calm, 1), share))
        assert said.startswith("other drops 2.00 % of the packets instead of 0 %, ") == told


def test_closed_loop_senders_are_compared_by_their_goodput(closed_loop: Result) -> None:
    def run(label: str, goodput: float) -> Result:
        transport = closed_loop.data.transport
        assert transport is not None
        update = {"transport": transport.model_copy(update={"goodput_gbps": goodput})}
        return replace(closed_loop, label=label, data=closed_loop.data.model_copy(update=update))

    slow, fast, most = run("a", 40.0), run("b", 50.0), run("c", 60.0)
    # All complete as many packets, some of them sent again.
    assert summary(slow, fast).startswith("b achieves 25 % more goodput and causes")
    assert "c is fastest at 60.0 Gbit/s of goodput, 50 % more than the slowest, a" in overview(
        [slow, fast, most]
    )


def test_a_run_without_a_neighbour_stands_beside_one_with() -> None:
    beside = api.run("explain-memory", SHORT)
    first = beside.scenario["tenants"][0]
    scenario = beside.scenario | {"tenants": [first]}
    alone = api.run(Scenario.model_validate(scenario), SHORT)
    name = first["name"]
    rows = {number.name: shown for number, shown in side_by_side([alone, beside])}
    for of_tenant in (f"AMAT ({name})", f"memory traffic of {name}"):
        assert "-" not in rows[of_tenant]
    assert "AMAT" not in rows
    table = compare(alone, beside).table
    assert table[f"progress_mps ({name})"].null_count() == 0
    assert "progress_mps" not in table.columns


def test_the_switch_drops_what_was_sent_before_the_measured_time(closed_loop: Result) -> None:
    transport = closed_loop.data.transport
    assert transport is not None
    late = transport.model_copy(update={"sent": 0, "dropped_switch": 3})
    run = replace(closed_loop, data=closed_loop.data.model_copy(update={"transport": late}))
    assert values(run)["dropped by the switch"] == "0"


def test_hits_on_lines_that_only_a_core_held_are_told_apart(ddio: Result) -> None:
    io = ddio.data.io
    assert io is not None
    assert io.write_hits is not None
    assert io.write_misses is not None
    written = io.write_hits + io.write_misses + io.write_bypasses

    def shown(moves: int) -> dict[str, float | None]:
        data = ddio.data.model_copy(update={"io": io.model_copy(update={"write_moves": moves})})
        return {n.name: n.raw for n in headline(replace(ddio, data=data))}

    assert shown(0)["DMA writes that hit"] == pytest.approx(100 * io.write_hits / written)
    assert shown(0)["DMA hits in an L2 only"] == 0.0
    assert shown(io.write_hits // 2)["DMA hits in an L2 only"] == pytest.approx(
        100 * (io.write_hits // 2) / written
    )


def test_an_ideal_ddio_has_no_hits_of_packets(ddio: Result) -> None:
    of_packets = {"DMA writes that hit", "DMA hits in an L2 only"}
    assert of_packets <= values(ddio).keys()
    ideal = api.run("sweeper-kvs", {
        "placement.policy": "ideal-ddio", "run.warmup": "20 us", "run.duration": "50 us",
    })  # fmt: skip
    io = ideal.data.io
    assert io is not None
    assert io.write_hits, "completions are written to the LLC"
    assert not of_packets & values(ideal).keys()


def test_a_number_that_only_some_runs_have_stands_where_it_does_there() -> None:
    short = SHORT | {"traffic.senders": 4, "machine.nic.ecn_threshold": "4 KiB"}
    runs = [
        api.run("host-congestion", short | {"traffic.control": {"kind": kind}})
        for kind in ("swift", "dctcp")
    ]
    # Swift keeps the server's delay apart, and DCTCP's windows are cut by marks.
    alone = [[n.name for n in headline(run) if n.name.startswith("cut by")] for run in runs]
    assert "cut by marks" in alone[1]
    assert "cut by marks" not in alone[0]
    names = [number.name for number, _ in side_by_side(runs)]
    places = [names.index(name) for name in {*alone[0], *alone[1]}]
    assert max(places) - min(places) == len(places) - 1
    for run in runs:
        own = [n.name for n in headline(run)]
        assert [name for name in names if name in own] == own
