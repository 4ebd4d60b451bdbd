"""What the LLC holds at the end of a run."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from nic2core import Comparison, Result, api, compare
from nic2core.describe import contents
from nic2core.describe.differences import differences
from nic2core.describe.headline import headline
from nic2core.report.page import report_html
from nic2core.results.models import LlcContents

SHORT = {"run.warmup": "300 us", "run.duration": "100 us"}
NAME = "LLC with consumed receive buffers"


@pytest.fixture(scope="module")
def two() -> Comparison:
    """The key-value server with DDIO, without and with Sweeper."""
    runs = (api.run("sweeper-kvs", {**SHORT, "placement.sweeper": on}) for on in (False, True))
    return compare(*runs)


def test_the_table_has_the_lines_of_each_way(two: Comparison) -> None:
    result = two[0]
    table = result.tables.llc
    lines = 36 * 2**20 // 64 // contents.ways(result)
    assert (table["share"] * lines).to_list() == pytest.approx(table["lines"].to_list())
    by_way = table.group_by("way").agg(pl.col("share").sum())
    full = sum(share > 0.9 for share in by_way["share"])
    assert full >= contents.io_ways(result), "the I/O ways fill first"
    assert all(share <= 1.0 for share in by_way["share"])


def test_sweeping_shows_in_the_headline_the_table_and_the_differences(two: Comparison) -> None:
    kept, swept = (contents.consumed_share(result) for result in two)
    assert kept is not None
    assert swept is not None
    assert kept > 0.1
    assert swept < 0.01
    consumed = two[0].tables.llc.filter(kind=contents.CONSUMED)
    assert kept == pytest.approx(sum(consumed["share"]) / contents.ways(two[0]))
    shown = next(n for n in headline(two[0]) if n.name == NAME)
    assert float(shown.value) == pytest.approx(100 * kept, rel=0.01)
    assert two.table["llc_consumed_share"].to_list() == [kept, swept]
    assert any(said.startswith(f"{NAME}: ") for said in differences(*two))


def test_figures_add_up_to_what_the_ways_hold(two: Comparison) -> None:
    table = two[0].tables.llc
    by_way = two[0].plot_llc()
    for way in range(contents.ways(two[0])):
        drawn = sum(bar.y[way] for bar in by_way.data)
        assert drawn == pytest.approx(sum(table.filter(way=way)["share"]))
    side = two.plot_llc()
    of_first = sum(bar.x[0] for bar in side.data)
    assert of_first == pytest.approx(sum(table["share"]) / contents.ways(two[0]))
    assert {bar.name for bar in by_way.data} >= {"application data", "consumed receive buffers"}


def test_data_of_several_tenants_is_told_apart() -> None:
    result = api.run("sweeper-collocation", SHORT)
    table = result.tables.llc
    names = {f"data of {tenant}" for tenant in table.filter(kind=contents.APP)["tenant"]}
    bars = {bar.name for bar in result.plot_llc().data}
    assert names
    assert names <= bars
    assert "application data" not in bars


def test_an_llc_that_holds_no_packets_has_none_that_are_consumed() -> None:
    short = {"run.warmup": "100 us", "run.duration": "20 us"}
    early = api.run("sweeper-kvs", {**short, "placement.policy": "dma"})
    assert early.data.llc_contents == []
    assert contents.consumed_share(early) == 0.0
    assert len(early.plot_llc().data) == 0


def test_results_of_engines_that_did_not_tell_have_no_figure_and_no_share(ddio: Result) -> None:
    assert ddio.data.llc_contents is None
    assert contents.consumed_share(ddio) is None
    assert ddio.tables.llc.height == 0
    assert all(number.name != NAME for number in headline(ddio))
    assert 'id="panel-llc"' not in report_html([ddio])


def test_page_tables_have_a_colour_of_their_own(ddio: Result) -> None:
    lines = {"way": 0, "lines": 10, "dirty": 0, "share": 0.1}
    kinds = [{"kind": "app"}, {"kind": "app", "tenant": "kvs"}, {"kind": "descriptor"}]
    held = [LlcContents.model_validate(lines | kind) for kind in kinds]
    tenants = [ddio.data.tenants[0].model_copy(update={"name": "kvs"})]
    data = ddio.data.model_copy(update={"llc_contents": held, "tenants": tenants})
    bars = replace(ddio, data=data).plot_llc().data
    assert len({bar.marker.color for bar in bars}) == len(bars) == 3


def test_the_report_shows_it_by_way_or_side_by_side(two: Comparison) -> None:
    assert 'id="panel-llc"' in report_html([two[0]])
    assert ">I/O ways</button>" in report_html([*two])
    none = replace(two[0], data=two[0].data.model_copy(update={"llc_contents": []}))
    assert 'id="panel-llc"' not in report_html([none])
