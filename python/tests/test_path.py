from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nic2core import api
from nic2core.report.path import SENDS, WIDTH, picture

if TYPE_CHECKING:
    from nic2core import Result


def test_every_stage_of_the_result_is_drawn_inside_the_picture(ddio: Result) -> None:
    drawn = {g.stage: g for g in picture(ddio).gauges}
    # The bus stands for its channels' queues, descriptors for their reads, and cores that are
    # about equally busy for what fills them.
    not_drawn = {"read-queue", "write-queue", "rx-fetches", "dispatch"}
    assert set(drawn) == {s.stage for s in ddio.stages} - not_drawn
    for gauge in drawn.values():
        assert gauge.x >= 0
        assert gauge.y >= 0
        assert gauge.x + gauge.w <= WIDTH
        assert gauge.y + gauge.h <= picture(ddio).height


def test_no_two_stages_overlap(ddio: Result) -> None:
    gauges = picture(ddio).gauges
    for i, a in enumerate(gauges):
        for b in gauges[i + 1 :]:
            apart_x = a.x + a.w <= b.x or b.x + b.w <= a.x
            apart_y = a.y + a.h <= b.y or b.y + b.h <= a.y
            assert apart_x or apart_y, (a.stage, b.stage)


def test_no_detail_is_cut(ddio: Result) -> None:
    short = {"run.warmup": "20 us", "run.duration": "20 us"}
    for result in (ddio, api.run("explain-iommu", short), api.run("explain-link", short)):
        for gauge in picture(result).gauges:
            shown = " ".join(gauge.lines).replace("\N{NO-BREAK SPACE}", " ")
            assert shown == gauge.detail, gauge.stage
            assert 72 + 15 * (len(gauge.lines) - 1) < gauge.h, gauge.stage


def with_channels(result: Result, number: int) -> Result:
    dram = result.data.dram.model_copy(update={"bus_busy": [0.5] * number})
    return replace(result, data=result.data.model_copy(update={"dram": dram}))


@pytest.mark.parametrize("number", [1, 4, 8, 12, 16, 24])
def test_each_memory_channel_has_its_bar_in_the_frame(ddio: Result, number: int) -> None:
    drawn = picture(with_channels(ddio, number))
    (frame,) = (f for f in drawn.frames if f.title == "Memory")
    gauges = [g.y + g.h for g in drawn.gauges if g.x > frame.x]
    bars = [bar for bar in drawn.bars if bar.x > frame.x]
    assert len(bars) == len({(bar.x, bar.y) for bar in bars}) == number
    assert all(bool(bar.label) == (number <= 16) for bar in bars)
    for bar in bars:
        # A label is above its bar.
        assert bar.y - 9 > max(gauges)
        assert bar.y + 10 <= frame.y + frame.h
        assert bar.x + bar.w <= frame.x + frame.w


def test_a_core_and_its_number_stay_in_one_line(ddio: Result) -> None:
    gauge = replace(picture(ddio).gauges[0], detail="35.2 of 1024, core 0", w=140.0, h=112.0)
    assert gauge.lines == ["35.2 of 1024,", "core\N{NO-BREAK SPACE}0"]


def test_the_picture_ends_below_the_lowest_of_what_is_drawn(ddio: Result, sweeper: Result) -> None:
    heights = [picture(run).height for run in (ddio, sweeper)]
    lowest = max(link.y for link in picture(ddio).links)
    # The drops are named below everything else; without them there is nothing.
    assert heights[0] > lowest
    assert heights[1] < heights[0]


def test_all_memory_traffic_is_drawn_once(ddio: Result) -> None:
    drawn = [link for link in picture(ddio).links if link.tip]
    shown = sum(float(link.label.split(" ", 1)[0]) for link in drawn)
    assert shown == pytest.approx(ddio.data.memory.bandwidth_gbytes_per_s, rel=0.01)


def test_what_a_benchmark_of_the_device_has_written_leaks_too() -> None:
    sets = {"dma_bench.direction": "write", "dma_bench.size": "512 B", "run.warmup": "100 us",
            "machine.llc.size": "2500 KiB", "run.duration": "20 us"}  # fmt: skip
    result = api.run("pcie-bench", sets)
    ways = next(s for s in result.stages if s.stage == "io-ways")
    assert ways.load > 0.9
    causes = {c.cause: c.gbytes_per_s for c in result.data.memory.causes}
    leaked = next(link for link in picture(result).links if link.kind == "leak")
    assert float(leaked.label.split(" ", 1)[0]) == pytest.approx(causes["bench-evct"], rel=0.01)


def test_without_drops_no_drop_is_drawn(ddio: Result, sweeper: Result) -> None:
    assert [link.label for link in picture(ddio).links if link.kind == "drop"] == [
        "13.9 % dropped: no room in rings, SRAM"
    ]
    assert not any(link.kind == "drop" for link in picture(sweeper).links)


def test_arrow_heads_point_along_the_last_stretch(ddio: Result) -> None:
    for link in picture(ddio).links:
        corners = [tuple(map(float, p.split(","))) for p in link.head.split()]
        tip, (x0, y0), (x1, y1) = corners[1], *link.points[-2:]
        assert (tip[0] - x1) * (x1 - x0) + (tip[1] - y1) * (y1 - y0) > 0


def test_a_wire_without_a_limit_shows_what_arrives(ddio: Result) -> None:
    assert picture(ddio).captions == []
    value = ddio.to_json()
    value["results"]["domains"].pop(0)
    (caption,) = picture(type(ddio).from_json(value)).captions
    assert (caption.value, caption.lines[0]) == ("24.4", "Mpps offered")


def test_only_what_holds_packets_back_is_called_the_limit(ddio: Result, calm: Result) -> None:
    assert {g.stage: g.badge for g in picture(ddio).gauges if g.badge} == {"dram": "LIMITS"}
    assert {g.stage: g.badge for g in picture(calm).gauges if g.badge} == {"dram": "NEXT"}


def test_the_fullest_on_the_way_out_is_drawn() -> None:
    run = api.run("explain-iommu", {"run.warmup": "20 us", "run.duration": "20 us"})
    loads = {s.stage: s.load for s in run.stages if s.stage in SENDS}
    assert len(loads) == 3
    for fullest in loads:
        changed = replace(run)
        changed.__dict__["stages"] = [
            replace(s, load=0.9 if s.stage == fullest else min(s.load, 0.8)) for s in run.stages
        ]
        assert [g.stage for g in picture(changed).gauges if g.stage in SENDS] == [fullest]


def test_what_limits_on_the_way_out_is_drawn() -> None:
    short = {"run.warmup": "100 us", "run.duration": "100 us", "traffic.rate": "20 Mpps"}
    few = {"tenants.0.app.packet_instructions": 50, "queues.tx_descriptors": 2}
    result = api.run("explain-cpu", short | few | {"traffic.sizes.size": "64 B"})
    drawn = {g.badge: g.stage for g in picture(result).gauges}
    assert drawn["LIMITS"] == result.model.cause == "tx-descriptors"
    arrows = [link.points for link in picture(result).links if link.kind == "net"]
    assert sum(end[0] < begin[0] for begin, end in arrows) == 2
