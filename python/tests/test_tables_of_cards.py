"""The tables of the model cards: what they run is accepted, and what they show is there."""

import pytest

import nic2core
from tools.tables import Table
from tools.tables.cards import DROPPED, GOODPUT, TABLES
from tools.tables.rows import stream_a_core


@pytest.mark.parametrize("name", TABLES)
def test_what_a_table_runs_is_accepted(name: str) -> None:
    table = TABLES[name]
    assert len(table.prepared()) == len(table.columns) * table.seeds


@pytest.mark.parametrize("name", TABLES)
def test_what_a_table_shows_is_there(name: str) -> None:
    table = TABLES[name]
    last = list(table.columns.values())[-1]
    short = {"run.warmup": "100 us", "run.duration": "400 us"}
    run = nic2core.run(table.scenario, {**table.settings, **last, **short})
    shown = {row: of(run.data) for row, of in table.rows.items()}
    assert all(value is None or value >= 0 for value in shown.values()), shown
    assert any(value for value in shown.values()), shown


def test_cells_are_ranges_over_seeds_and_empty_where_there_is_nothing() -> None:
    short = {"run.warmup": "20 us", "run.duration": "200 us", "machine.iommu.mode": "off"}
    table = Table(
        "host-congestion",
        {"8": {"tenants.0.cores.count": 8}, "12": {}},
        {"goodput": GOODPUT, "dropped": DROPPED, "STREAM": stream_a_core},
        short,
        seeds=2,
    )
    one = nic2core.run("host-congestion", {**short, "run.seed": 2}).data.transport
    assert one is not None
    head, rule, *rows = table.run(2).splitlines()
    assert head == "|  | 8 | 12 |"
    assert rule == "| --- | --- | --- |"
    assert f"{one.goodput_gbps:.1f}" in rows[0].split("|")[3]
    assert " to " in rows[0]
    assert rows[1] == "| dropped | 0.00 | 0.00 |"
    assert rows[2] == "| STREAM |  |  |"
