from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

from nic2core import Result, UserError, api
from nic2core.command.terminal import show_result
from nic2core.describe.headline import headline
from nic2core.tables import Tables


def test_hit_ratio_is_hits_by_accesses(ddio: Result) -> None:
    for row in ddio.tables.caches.iter_rows(named=True):
        assert row["hit_ratio"] == pytest.approx(row["hits"] / (row["hits"] + row["misses"]))


def test_a_cache_that_nobody_used_has_no_hit_ratio(ddio: Result) -> None:
    value = ddio.to_json()
    value["results"]["caches"] = [{"level": "l2", "kind": "rx", "hits": 0, "misses": 0}]
    assert Result.from_json(value).tables.caches["hit_ratio"].to_list() == [None]


def test_dma_writes_that_hit_are_in_a_table_and_among_the_main_numbers(ddio: Result) -> None:
    io = ddio.data.io
    assert io is not None
    assert io.write_hits is not None
    assert io.write_misses is not None
    share = io.write_hits / (io.write_hits + io.write_misses)
    write, read = ddio.tables.io.rows(named=True)
    assert write["access"] == "write"
    assert write["hit_ratio"] == pytest.approx(share)
    assert read["access"] == "read"
    assert read["hit_ratio"] == pytest.approx(io.read_hits / (io.read_hits + io.read_misses))
    shown = next(n for n in headline(ddio) if n.name == "DMA writes that hit")
    assert float(shown.value) == pytest.approx(100 * share, rel=0.01)


@pytest.mark.parametrize("policy", ["ddio", "ddio-headers", "dma", "ideal-ddio"])
def test_dma_by_kind_of_line_is_what_the_policy_does_with_it(policy: str) -> None:
    short = {"run.warmup": "100 us", "run.duration": "100 us"}
    result = api.run("explain-cpu", short | {"placement.policy": policy})
    io = result.data.io
    assert io is not None
    rows = {(r["access"], r["kind"]): r for r in result.tables.io_by_kind.rows(named=True)}
    assert rows.keys() == {("write", "rx"), ("write", "descriptor"),
                           ("read", "rx"), ("read", "descriptor")}  # fmt: skip
    packets, completions = rows["write", "rx"], rows["write", "descriptor"]
    for name, total in (("hits", io.write_hits), ("misses", io.write_misses),
                        ("moves", io.write_moves), ("bypasses", io.write_bypasses)):  # fmt: skip
        assert packets[name] + completions[name] == (total or 0)
    # Packets of 16 lines, of which `ddio-headers` places one, beside a completion.
    went = {name for name in ("bypasses", "asides") if packets[name] > 0}
    expected = {"ddio": set(), "ideal-ddio": {"asides"}}.get(policy, {"bypasses"})
    assert went == expected
    if policy == "ddio-headers":
        placed = packets["hits"] + packets["misses"]
        assert packets["bypasses"] == pytest.approx(15 * placed, rel=0.01)
    assert (completions["hit_ratio"] == 0) == (policy == "dma")
    assert (packets["hit_ratio"] is None) == (policy == "ideal-ddio")


def test_iotlb_misses_are_in_a_table_and_among_the_main_numbers() -> None:
    short = {"run.warmup": "100 us", "run.duration": "100 us"}
    result = api.run("explain-iommu", short)
    assert result.data.iommu is not None
    misses = result.data.iommu.misses_per_packet
    table = result.tables.iotlb
    assert {"payload", "descriptor", "completion"} <= set(table["mapping"])
    assert table["misses_per_packet"].sum() == pytest.approx(misses)
    shown = next(n for n in headline(result) if n.name == "IOTLB misses")
    assert float(shown.value) == pytest.approx(misses, rel=0.01)
    without = api.run("explain-iommu", {**short, "machine.iommu.mode": "off"})
    assert without.tables.iotlb.height == 0


def test_the_series_begins_where_measuring_began(ddio: Result) -> None:
    series, table = ddio.data.series, ddio.tables.series
    assert table["time_ns"][0] == series.start_ns
    assert table["time_ns"][1] - table["time_ns"][0] == series.interval_ns
    assert table["offered [Mpps]"].to_list() == series.columns[0].values


def test_a_series_without_samples_has_the_columns_of_one_with_some(ddio: Result) -> None:
    columns = [c.model_copy(update={"values": []}) for c in ddio.data.series.columns]
    series = ddio.data.series.model_copy(update={"columns": columns})
    none = replace(ddio, data=ddio.data.model_copy(update={"series": series}))
    assert none.tables.series.schema == ddio.tables.series.schema


def test_memory_rows_add_up_to_the_traffic(ddio: Result) -> None:
    assert ddio.tables.memory["gbytes_per_s"].sum() == pytest.approx(
        ddio.data.memory.bandwidth_gbytes_per_s, rel=1e-3
    )


def test_queues_tell_the_mean_of_their_descriptors_in_use(ddio: Result) -> None:
    queue = ddio.tables.queues.row(0, named=True)
    asked = ddio.data.queues[0]
    assert (queue["core"], queue["received"]) == (asked.core, asked.received)
    in_use = asked.rx_busy_ps / 1e3 / ddio.data.measured_ns
    assert queue["rx_descriptors_in_use"] == pytest.approx(in_use)
    assert queue["busy"] == pytest.approx(0.99, abs=0.001)
    # Results from before there was this count.
    early = asked.model_copy(update={"core_busy_ps": None})
    before = replace(ddio, data=ddio.data.model_copy(update={"queues": [early, early]}))
    assert before.tables.queues["busy"].to_list() == [None, None]
    assert len(before.plot_queues("busy").data) == 0
    assert ddio.tables.queues.height == len(ddio.data.queues)


def test_latency_has_a_column_per_percentile(ddio: Result) -> None:
    table = ddio.tables.latency
    assert table.columns[:3] == ["stage", "count", "mean_ns"]
    assert {"p50_ns", "p99_ns", "p999_ns"} <= set(table.columns)


def test_every_table_is_saved(ddio: Result) -> None:
    tables = [name for name, of in vars(Tables).items() if isinstance(of, property)]
    assert sorted(tables) == sorted(ddio.tables.all())


def test_a_run_without_packets_has_tables(packetless: Result) -> None:
    tables = packetless.tables.all()
    assert tables["latency"].is_empty()
    assert tables["series"]["offered [Mpps]"].sum() == 0
    assert not tables["memory"].is_empty()


def test_tables_without_rows_have_their_columns(
    packetless: Result, ddio: Result, closed_loop: Result
) -> None:
    value = packetless.to_json()
    value["results"]["queues"] = []
    empty = Result.from_json(value).tables
    for name, full in (
        ("latency", ddio), ("queues", ddio), ("transport", closed_loop), ("senders", closed_loop),
    ):  # fmt: skip
        with_rows, without = full.tables.all()[name], empty.all()[name]
        assert (without.height, with_rows.is_empty()) == (0, False)
        assert without.schema == with_rows.schema
    assert empty.latency["stage"].to_list() == []
    assert {"queue", "sender", "mean_rtt_ns"} <= set(empty.connections.columns)


def test_a_percentile_that_is_not_measured_is_told_with_those_that_are(ddio: Result) -> None:
    assert ddio.latency_ns(99.9) is not None
    with pytest.raises(UserError, match=r"percentile 95 .*allowed: 50, 90, 99, 99.9, 100\."):
        ddio.latency_ns(95)


def test_closed_loop_senders_have_a_row_per_delay(
    ddio: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ddio.tables.transport.is_empty()
    assert ddio.tables.senders.is_empty()
    with warnings.catch_warnings(action="ignore"):
        result = api.run("host-congestion", {"run.warmup": "0.2 ms", "run.duration": "0.1 ms"})
    delays, senders = result.tables.transport, result.tables.senders
    assert delays["delay"].to_list() == ["rtt", "fabric_delay", "host_delay", "read_latency"]
    assert result.data.transport is not None
    assert delays["p99_ns"][0] == result.data.transport.rtt.percentile(99)
    assert senders["sent"].to_list() == [result.data.transport.sent]
    assert ddio.tables.connections.is_empty()
    connections = result.tables.connections
    assert connections["sent"].sum() == result.data.transport.sent
    assert len(connections) == 12 * 40
    heard = connections["mean_rtt_ns"].is_not_null()
    assert 0 < heard.sum() <= result.data.transport.acknowledged
    show_result(result)
    shown = capsys.readouterr().out
    for text in ("What closed-loop senders see", "round trip", "retransmitted"):
        assert text in shown
