"""What is told of a capture."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import Any

import pytest

from nic2core import Result, api, words
from nic2core.describe.capture_facts import capture_facts
from nic2core.describe.doubts import doubts
from nic2core.report.page import report_html
from nic2core.results.models import CaptureFacts, CaptureGap, Peak


@pytest.fixture(scope="module")
def replayed() -> Result:
    """The demo's capture."""
    return api.run("demo", {"run.warmup": "100 us", "run.duration": "400 us"})


def test_a_run_tells_what_it_understood_of_its_capture(replayed: Result) -> None:
    told = capture_facts(replayed)
    assert told.startswith("memcached.pcap: ")
    assert "; at 100 Gbps one round takes " in told
    assert told in html.unescape(report_html([replayed]))
    assert told in html.unescape(report_html([replayed, replace(replayed, label="again")]))
    # 0.4 ms of rounds that it says the length of.
    demand = replayed.data.demand_mpps
    assert demand is not None
    packets = int(told.split()[1].replace(",", ""))
    assert f"; {words.three(0.4e-3 * demand * 1e6 / packets)} of a round is measured" in told
    assert (
        capture_facts(api.run("explain-link", {"run.warmup": "0 us", "run.duration": "10 us"}))
        == ""
    )


def test_what_is_said_depends_on_the_traffic(replayed: Result) -> None:
    facts = CaptureFacts(packets=1001, flows=5, bytes=476_476, span_ps=10**12, ipv6_packets=0)
    # With 24 B of preamble, FCS and gap for each packet: 500 500 B in a second.
    begin = "1,001 packets of 5 flows, 476 B on average, over 1.00 s (0.00400 Gbps, 0.00100 Mpps)"
    data = replayed.data.model_copy(update={"demand_mpps": 1001 / 1e3, "capture": facts})
    run = replace(replayed, data=data)
    assert capture_facts(run).endswith(
        f"{begin}; at 100 Gbps one round takes 1.00 ms; 0.400 of a round is measured."
    )
    traffic = {k: v for k, v in run.scenario["traffic"].items() if k != "rate"}
    own = replace(run, scenario=run.scenario | {"traffic": traffic})
    assert "; at its own timing one round takes 1.00 ms" in capture_facts(own)
    peak = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", probes=[], results=data)
    assert capture_facts(replace(run, peak=peak)).endswith(f"{begin}.")
    at_once = data.model_copy(update={"capture": facts.model_copy(update={"span_ps": 0})})
    assert "over 0 ns; at 100 Gbps" in capture_facts(replace(run, data=at_once))
    ipv6 = facts.model_copy(update={"ipv6_packets": 7})
    run = replace(run, data=data.model_copy(update={"capture": ipv6}))
    assert capture_facts(run).endswith("; 7 packets are IPv6, which applications handle like IPv4.")


@pytest.mark.parametrize(
    ("facts", "told"),
    [({"reordered": 3}, "; 3 packets were out of order and are sorted by time."),
     ({"reordered": 1}, "; 1 packet was out of order and is sorted by time."),
     ({"vlan_packets": 5}, "; 5 packets have VLAN tags, which count as bytes only."),
     ({"same_time": 11}, "`tcpdump --time-stamp-precision=nano` captures nanoseconds)."),
     ({"same_time": 10}, " are measured."),
     ({"largest_gap": CaptureGap(ps=6 * 10**11, before_packet=17)},
      "; one gap of 600 ms, before packet 17, is 60.0 % of the capture."),
     ({"largest_gap": CaptureGap(ps=4 * 10**11, before_packet=17)}, " are measured."),
     ({"packets": 1, "flows": 1, "bytes": 60}, " are measured.")],
)  # fmt: skip
def test_what_is_odd_about_a_capture_is_told(
    replayed: Result, facts: dict[str, Any], told: str
) -> None:
    usual = {"packets": 1001, "flows": 5, "bytes": 476_476, "span_ps": 10**12, "ipv6_packets": 0}
    capture = CaptureFacts.model_validate(usual | facts)
    data = replayed.data.model_copy(update={"capture": capture})
    said = capture_facts(replace(replayed, data=data))
    assert said.endswith(told)
    if "same_time" in facts:
        assert ("; 1.10 % of the packets have the time of the one before" in said) == (
            facts["same_time"] > 10
        )
    if "packets" in facts:
        assert ": 1 packet of 1 flow, " in said


def test_of_a_link_that_is_slower_the_rounds_are_those_that_it_brings() -> None:
    sets = {"machine.nic.link": "10 Gbps", "run.warmup": "100 us", "run.duration": "1 ms"}
    run = api.run("demo", sets)
    facts = run.data.capture
    assert facts is not None
    rounds = run.data.packets.offered / facts.packets
    told = capture_facts(run)
    assert "; at 100 Gbps one round takes 1.03 ms, of which the 10 Gbps link makes 10.3 ms" in told
    assert f"; {words.three(rounds)} of a round is measured" in told


def test_a_part_of_an_uneven_capture_is_told(replayed: Result) -> None:
    """Of 10,000 packets in 100 parts."""

    def told(
        fullest: int, rounds: float, *, peak: bool = False, packets: int = 10_000
    ) -> list[str]:
        facts = CaptureFacts(
            packets=packets, flows=5, bytes=10**6, span_ps=10**12, ipv6_packets=0,
            fullest_hundredth=fullest,
        )  # fmt: skip
        demand = rounds * facts.packets / replayed.data.measured_ns * 1e3
        data = replayed.data.model_copy(update={"capture": facts, "demand_mpps": demand})
        found = Peak(peak_mpps=1, failed_by="p99", probes=[], results=data) if peak else None
        said = doubts(replace(replayed, data=data, peak=found))
        return [doubt for doubt in said if "a round of the capture" in doubt]

    (said,) = told(500, 0.2)
    assert said == (
        "0.200 of a round of the capture was measured, and a hundredth of its time has 5.00 times "
        "as many packets as the mean one: which part is measured decides drops and tails, and "
        "other seeds do not move it. Set run.duration to 2 ms for a whole round."
    )
    (said,) = told(500, 0.2, peak=True)
    assert "which part is measured decides the peak" in said
    assert said.endswith("for a whole round at this rate.")
    assert told(500, 1.0) == told(200, 0.2) == []
    # In a hundredth of few packets, several are chance.
    assert told(30, 0.2, packets=999) == []
    assert told(36, 0.2, packets=1000)
