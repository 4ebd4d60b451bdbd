"""Closed-loop senders that their window or their control holds back."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import isnan

import pytest

from nic2core import Result, api, words
from nic2core.command import explanation
from nic2core.describe.limiter import limit
from nic2core.describe.verdict import verdict
from nic2core.explain.asked import largest_window
from nic2core.explain.limit import Limit
from nic2core.explain.use import work
from nic2core.rerun import run_changes
from nic2core.scenario.closed_loop import groups


def test_a_window_larger_than_the_open_reads_offers_no_more() -> None:
    one = {"machine.iommu.mode": "off", "tenants.0.cores.count": 1, "traffic.senders": 1}
    times = {"run.warmup": "1 ms", "run.duration": "2 ms"}
    result = api.run("host-congestion", one | times | {"traffic.control.max_cwnd": 1000.0})
    # The four packets of 4 KiB of a read of 16 KiB, in twice 5 us and some 3 us of the host for the
    # first, and the time of the thread for each of the others.
    assert result.model.demand == pytest.approx(4 / (13.2 + 3 * 2.6), rel=0.05)
    assert not result.limited
    assert "offered load" in limit(result)
    # Another thread has a connection of its own.
    said = run_changes(result, jobs=2).by_domain["cores"]
    assert said.predicted == pytest.approx(said.measured, rel=0.2)


def test_waits_that_never_end_do_not_hide_what_more_would_be_offered() -> None:
    """Fixed windows keep the NIC's SRAM filled, so even the shortest delay has a wait in it."""
    few = {"machine.nic.write_credits": 24, "machine.iommu.mode": "off", "traffic.senders": 4}
    fixed = {
        "traffic.control": {"kind": "dctcp", "initial_cwnd": 4.0, "max_cwnd": 4.0},
        "traffic.network.ecn_threshold": "4 MiB",
        "traffic.recovery.min_timeout": "2 ms",
    }
    times = {"run.warmup": "1 ms", "run.duration": "1 ms"}
    result = api.run("host-congestion", few | fixed | times)
    (more,) = (h for h in result.helps if h.change.domain == "io-credits")
    run = api.run("host-congestion", few | fixed | times | more.change.overrides)
    assert run.mpps > 1.5 * result.mpps
    assert more.predicted == pytest.approx(run.mpps / result.mpps - 1, rel=0.2)


def test_a_target_below_the_delay_of_the_network_holds_the_senders_back() -> None:
    far = {"traffic.network.delay": "50 us", "traffic.senders": 1, "traffic.open_reads": 8}
    one = {"machine.iommu.mode": "off", "tenants.0.cores.count": 1}
    result = api.run("host-congestion", far | one | {"run.warmup": "2 ms", "run.duration": "2 ms"})
    assert limit(result).startswith("congestion control")
    assert "µs outside (target 20 us before scaling)" in verdict(result)
    assert not result.limited


def test_what_the_run_does_is_said_where_the_limit_allows_clearly_more() -> None:
    sets = {"tenants.0.cores.count": 16, "traffic.control.endpoint_target": "50 us"}
    times = {"run.warmup": "10 ms", "run.duration": "5 ms"}
    result = api.run("host-congestion", sets | times)
    assert result.limited
    assert result.mpps < 0.97 * result.model.rate
    # The SRAM is empty at times, of which the series tells.
    filled = next(c for c in result.data.series.columns if c.name == "nic-sram").values
    empty = sum(1 for kib in filled if kib is not None and kib < 0.02 * 1024) / len(filled)
    assert empty > 0.05
    assert (
        f". The run achieves {words.three(result.mpps)} M packets/s, because the NIC's SRAM is "
        f"nearly empty in {words.percent(empty)} of the samples."
    ) in verdict(result)
    short = {"run.warmup": "1 ms", "run.duration": "1 ms"}
    assert "The run achieves" not in verdict(api.run("explain-cpu", short))


def test_senders_that_leave_a_little_room_and_lose_nothing_are_held_back_by_their_control() -> None:
    sets = {"tenants.0.cores.count": 16, "traffic.control.endpoint_target": "25 us"}
    times = {"run.warmup": "10 ms", "run.duration": "5 ms"}
    result = api.run("host-congestion", sets | times)
    assert result.drop_share == 0
    assert 0.9 < result.mpps / result.model.rate < 0.95
    assert limit(result).startswith("congestion control")
    # Where packets are dropped, what lies between may be the time until windows have grown again.
    data = result.data
    losing = replace(
        result,
        data=data.model_copy(
            update={"packets": data.packets.model_copy(update={"drop_share": 0.01})}
        ),
    )
    assert losing.limited


def test_threads_that_think_offer_less_and_that_limits() -> None:
    idle = {"machine.iommu.mode": "off", "tenants.0.cores.count": 12, "traffic.think": "2 ms"}
    open_windows = {"traffic.control.initial_cwnd": 4.0, "traffic.control.max_cwnd": 4.0}
    times = {"run.warmup": "4 ms", "run.duration": "10 ms"}
    result = api.run("host-congestion", idle | open_windows | times)
    # 480 connections with a read of four packets each in 2 ms and some 21 us.
    assert result.model.demand == pytest.approx(480 * 4 / 2021, rel=0.01)
    assert result.mpps == pytest.approx(480 * 4 / 2020, rel=0.05)
    assert result.limit is Limit.LOAD
    assert "the offered load limits this run" in verdict(result)
    # Rivals that do not think ask for the rest.
    rivals = {"traffic.rivals": '{ senders = 4, think = "0 ns" }'}
    result = api.run("host-congestion", idle | open_windows | times | rivals)
    assert result.model.demand > 10 * 432 * 4 / 2020
    assert result.limit is not Limit.LOAD


def test_a_block_takes_at_least_the_time_of_its_thread() -> None:
    one = {"machine.iommu.mode": "off", "tenants.0.cores.count": 1, "traffic.senders": 8}
    blocks = {"traffic.striped": True, "traffic.think": "1 ms", "traffic.read": "64 KiB"}
    # A control that reacts to nothing here.
    fixed = '{ kind = "dctcp", initial_cwnd = 16, min_cwnd = 16, max_cwnd = 16 }'
    sets = {"traffic.control": fixed, "traffic.recovery.min_timeout": "2 ms"}
    times = {"run.warmup": "5 ms", "run.duration": "100 ms"}
    result = api.run("host-congestion", one | blocks | sets | times)
    # 128 packets of 2.63 us each, a round trip, and the pause.
    assert result.model.demand == pytest.approx(128 / (127 * 2.63 + 13 + 1000), rel=0.03)
    assert result.limit is Limit.LOAD
    transport = result.data.transport
    assert transport is not None
    block = transport.block_latency
    assert block is not None
    assert f". A block takes {words.time(block.mean_ns)}, its thread's work 33" in verdict(result)
    # Two blocks are thought about at a time.
    twice = api.run("host-congestion", one | blocks | sets | times | {"traffic.open_reads": 2})
    assert twice.model.demand == pytest.approx(2 * result.model.demand, rel=0.03)
    assert result.mpps < twice.mpps < 1.02 * twice.model.rate


def test_windows_of_a_whole_read_hold_nothing_back() -> None:
    fixed = '{ kind = "dctcp", initial_cwnd = 4, min_cwnd = 4, max_cwnd = 4 }'
    alone = {"machine.iommu.mode": "off", "traffic.recovery.min_timeout": "2 ms"}
    one = {"tenants.0.cores.count": 1, "tenants.0.app.packet_instructions": 1000}
    times = {"run.warmup": "5 ms", "run.duration": "5 ms"}
    sets = alone | one | times | {"traffic.control": fixed}
    # A block of 160 packets comes through one link.
    blocks = api.run("host-congestion", sets | {"traffic.striped": True})
    assert blocks.limit is Limit.LOAD
    # Open reads are thought about one by one, not together.
    reads = {"traffic.senders": 1, "traffic.open_reads": 8, "traffic.think": "100 us"}
    several = api.run("host-congestion", sets | reads | {"tenants.0.cores.count": 8})
    assert several.mpps < 1.02 * several.model.demand
    assert several.limit in {Limit.LOAD, Limit.FULL}
    # Of those that nothing is asked of, windows that do not open mean nothing.
    idle = {"traffic.rivals": '{ senders = 39, think = "1 s" }'}
    rest = api.run("host-congestion", sets | idle)
    assert rest.limit is Limit.LOAD


@pytest.fixture(scope="module")
def held_back() -> Result:
    """Senders whose control wants less delay than the server has at any load.

    With 10 us they do 0.904 of what the path allows, and the IOMMU counts as what limits.
    """
    return api.run("host-congestion", {
        "tenants.0.cores.count": 16, "traffic.control.endpoint_target": "5 us",
        "run.warmup": "10 ms", "run.duration": "4 ms",
    })  # fmt: skip


def test_a_control_without_a_largest_window_may_send_all_that_is_asked_for(
    held_back: Result,
) -> None:
    (group,) = groups(held_back.scenario["traffic"])
    most = float(group.control["max_cwnd"])
    assert largest_window(group, most / 2) == min(most, 16 / 4)
    free = {key: v for key, v in group.control.items() if key != "max_cwnd"}
    assert largest_window(replace(group, control=free), 0.5) == 16 / 4


def test_of_senders_that_their_control_holds_back_no_gain_is_said(
    held_back: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    rate, _ = work(held_back.data)
    assert rate < 0.9 * held_back.model.rate
    assert held_back.limit is Limit.CONTROL
    assert limit(held_back) == "congestion control (IOMMU next)"
    assert "in the server (target 5 us)" in verdict(held_back)
    assert held_back.helps
    assert all(isnan(h.predicted) for h in held_back.helps)
    explanation.show(held_back, held_back.helps)
    assert "How much a change helps cannot be predicted here" in capsys.readouterr().out
    said = explanation.to_json(held_back, held_back.helps)
    assert {c["helps_by"] for c in said["changes"]} == {None}


def test_where_no_packet_came_no_control_holds_anything_back() -> None:
    """The rate is STREAM's then."""
    few = {"traffic.think": "50 ms", "traffic.senders": 1, "tenants.0.cores.count": 1}
    times = {"run.warmup": "1 ms", "run.duration": "100 us"}
    result = api.run("host-congestion-stream", few | times)
    assert result.data.packets.offered == 0
    assert work(result.data)[1] == "accesses"
    assert result.limit is not Limit.CONTROL
    assert "congestion control" not in verdict(result)


@pytest.mark.parametrize("windows", [{}, {"fabric_target": "1 s", "max_cwnd": 100.0}])
def test_full_links_of_the_senders_are_named_and_no_more_cores_help(
    windows: dict[str, str | float],
) -> None:
    """However far windows open: two links of 10 Gbit/s carry 18.4 of payload."""
    keys = {"traffic.senders": 2, "traffic.network.sender_link": "10 Gbps"}
    control = {f"traffic.control.{key}": value for key, value in windows.items()}
    times = {"run.warmup": "10 ms", "run.duration": "2 ms", "machine.iommu.mode": "off"}
    with warnings.catch_warnings(action="ignore"):
        result = api.run("host-congestion", keys | control | times)
    assert result.data.transport is not None
    assert result.data.transport.goodput_gbps == pytest.approx(20 * 4096 / 4452, rel=0.02)
    assert result.limit is Limit.LINKS
    assert limit(result).startswith("senders' links")
    assert verdict(result).startswith("the senders' links limit this run: they are busy ")
    assert result.helps.by_domain["cores"].predicted == pytest.approx(0.0, abs=0.02)
    assert result.model.demand <= 1.001 * 20e3 / (8 * 4452)


def test_blocks_that_wait_for_timeouts_are_said_to() -> None:
    incast = {
        "traffic.senders": 64,
        "traffic.striped": True,
        "traffic.network.buffer": "256 KiB",
        "traffic.network.ecn_threshold": "64 KiB",
        "traffic.control": {"kind": "dctcp"},
        "traffic.recovery.min_timeout": "1 ms",
        "tenants.0.app.copied": "on-arrival",
        "tenants.0.cores.count": 4,
        "machine.iommu.mode": "off",
        "run.warmup": "4 ms",
        "run.duration": "4 ms",
    }
    with warnings.catch_warnings(action="ignore"):
        run = api.run("host-congestion", incast)
    assert run.limit is Limit.CONTROL
    said = verdict(run)
    assert ". A block takes " in said
    assert ", and a retransmission timeout 1 ms or more. " in said
