from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from nic2core import Result, words


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0.5, "0.50 ns"), (999.0, "999 ns"), (1000.0, "1.00 µs"), (42_000.0, "42.0 µs"),
     (5e6, "5.00 ms"), (2e9, "2.00 s")],
)  # fmt: skip
def test_a_time_has_the_unit_that_fits(ns: float, text: str) -> None:
    assert words.time(ns) == text


def test_few_drops_are_not_none() -> None:
    assert words.percent(0.0) == "0 %"
    assert words.percent(1e-7) == "< 0.01 %"
    assert words.percent(0.139) == "13.9 %"


def test_the_verdict_names_the_limiting_stage(ddio: Result, sweeper: Result) -> None:
    assert words.verdict(ddio).startswith(
        "the memory bus limits this run: 256 slots / (17.8 a packet"
    )
    assert words.verdict(sweeper).startswith("the cores limit this run: 24 cores / (1.00 a packet")


def test_a_run_at_ease_is_not_called_limited(ddio: Result, calm: Result) -> None:
    verdict = words.verdict(calm)
    assert "what is offered limits this run; next would be the memory bus, now at" in verdict
    assert "limited by: memory bus → nothing (memory bus next)" in words.differences(ddio, calm)
    assert words.summary(calm, calm).endswith("; neither run comes near a limit.")
    assert words.summary(ddio, ddio).endswith("; limited by memory bus in both.")


def test_differences_are_named_with_their_size(ddio: Result, sweeper: Result) -> None:
    said = words.differences(ddio, sweeper)
    assert "completed requests: 20.9 → 24.4 Mpps (+17 %)" in said
    assert "receive buffers evicted: 14.6 → 0.12 lines per request (-99 %)" in said
    assert "limited by: memory bus → cores" in said


def test_a_run_does_not_differ_from_itself(ddio: Result) -> None:
    assert words.differences(ddio, ddio) == []


def test_the_summary_says_more_or_less(ddio: Result, sweeper: Result) -> None:
    there, back = words.summary(ddio, sweeper), words.summary(sweeper, ddio)
    assert "17 % more requests and causes 41 % less memory traffic" in there
    assert "14 % fewer requests and causes 68 % more memory traffic" in back


def test_numbers_that_only_one_run_has_shift_no_others(ddio: Result) -> None:
    transport = SimpleNamespace(goodput_gbps=77.8)
    closed = replace(ddio, data=ddio.data.model_copy(update={"transport": transport}))
    for runs, goodput in (([ddio, closed], ["-", "77.8"]), ([closed, ddio], ["77.8", "-"])):
        rows = {number.name: values for number, values in words.side_by_side(runs)}
        assert next(iter(rows.items())) == ("goodput", goodput)
        assert rows["completed"] == ["20.9", "20.9"]
        assert rows["limited by"] == ["memory bus", "memory bus"]


def test_a_run_without_packets_has_a_headline(packetless: Result) -> None:
    values = {n.name: n.value for n in words.headline(packetless)}
    assert values["p99 latency"] == words.NOTHING
    assert values["memory lines"] == words.NOTHING
