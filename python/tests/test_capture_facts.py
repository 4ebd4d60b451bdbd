"""What is told of a capture."""

from __future__ import annotations

from typing import Any

import pytest

from nic2core.capture_facts import CaptureFacts, told

FACTS = CaptureFacts(packets=1001, flows=5, bytes=476_476, span_ps=10**12, ipv6_packets=0)
RUN = {"warmup": "3 ms", "duration": "1 ms"}


@pytest.mark.parametrize(
    ("traffic", "end"),
    [
        # 476 B and 24 on the wire: 4000 bits each.
        ({"rate": "4 Gbps"}, "; at 4 Gbps a round takes 1.00 ms, played 4.00 times."),
        ({"rate": None}, "; at its own times a round takes 1.00 s, of which 0.400 % is played."),
    ],
)
def test_a_capture_is_told_with_how_often_it_is_played(traffic: dict[str, Any], end: str) -> None:
    scenario = {"traffic": {"file": "/a/my.pcap"} | traffic, "run": RUN}
    begin = "my.pcap: 1,001 packets of 5 flows, 476 B in the mean, over 1.00 s"
    assert told(FACTS, scenario) == begin + end


def test_packets_of_ipv6_are_told() -> None:
    scenario = {"traffic": {"file": "my.pcap", "rate": "4 Gbps"}, "run": RUN}
    facts = FACTS.model_copy(update={"ipv6_packets": 7})
    assert "; 7 packets are IPv6, which applications handle like IPv4." in told(facts, scenario)
