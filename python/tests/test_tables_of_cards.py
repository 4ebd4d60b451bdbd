"""The tables of the model cards: what they run is accepted, and how cells are written."""

import pytest

import nic2core
from tools.tables import Table
from tools.tables.cards import TABLES
from tools.tables.rows import dropped, goodput, misses


@pytest.mark.parametrize("name", TABLES)
def test_what_a_table_runs_is_accepted(name: str) -> None:
    table = TABLES[name]
    assert len(table.prepared()) == len(table.columns) * table.seeds


def test_cells_are_ranges_over_seeds_and_empty_where_there_is_nothing() -> None:
    short = {"run.warmup": "20 us", "run.duration": "200 us", "machine.iommu.mode": "off"}
    table = Table(
        "host-congestion",
        {"8": {"tenants.0.cores.count": 8}, "12": {}},
        {"goodput": goodput, "dropped": dropped, "M": misses},
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
    assert rows[2] == "| M |  |  |"
