"""The packets that arrived, and what closed-loop senders did."""

from __future__ import annotations

from nic2core.results.distribution import Distribution
from nic2core.results.plain import Plain


class Packets(Plain):
    """Packets by outcome, within the measured time."""

    offered: int
    """Arrived on the wire."""
    dropped_sram: int
    """Dropped because the NIC's input SRAM was full."""
    dropped_no_descriptor: int
    """Dropped because the queue had no posted descriptor."""
    completed: int
    """Requests completed by the cores."""
    completed_before: int
    """Requests completed before measuring began: during the warm-up, and while a probe of a peak
    search settled."""
    transmitted: int
    """Packets sent by the NIC."""
    in_flight_begin: int
    """Packets between wire and completion when measuring began."""
    in_flight_end: int
    """The same when measuring ended."""
    offered_mpps: float
    """Offered rate, million packets per second."""
    completed_mpps: float
    """Completed rate, million packets per second."""
    completed_gbps: float
    """Bytes of completed packets, as received, Gbit/s."""
    offered_gbps: float
    """Bytes of offered packets, as received, Gbit/s."""
    drop_share: float
    """Dropped share of the offered packets, 0 to 1."""
    dropped_bytes_share: float
    """Dropped share of the offered bytes, 0 to 1: more than that of the packets if it is the large
    packets that find no room."""
    next_arrival_ns: float | None = None
    """When the next packet arrives, from the start of the run, ns; absent if any was offered."""
    link_wait_ns: float | None = None
    """Mean time that packets wait for the link into the NIC, which carries one frame at a time, ns.
    They wait at their senders, so no latency includes it; above the link's rate it grows with the
    length of the run. Absent without a link, without traffic that follows a time law, or if nothing
    was offered."""


class CaptureFacts(Plain):
    """The contents of a capture, as parsed."""

    packets: int
    """Packets in one round."""
    flows: int
    """Flows that they belong to."""
    bytes: int
    """Bytes of all frames, without FCS."""
    span_ps: int
    """Time from the first packet to the last, ps."""
    ipv6_packets: int
    """IPv6 packets: RSS hashes their addresses, applications handle them like IPv4."""
    reordered: int = 0
    """Packets that follow a later one in the file; all are replayed in order of time."""
    vlan_packets: int = 0
    """Packets with VLAN tags, which are skipped to find the flow."""
    largest_gap: CaptureGap | None = None
    """The longest time without a packet; absent if there is only one packet."""


class CaptureGap(Plain):
    """A time without a packet in a capture."""

    ps: int
    """Its length, ps."""
    before_packet: int
    """The packet that ends it, numbered from 1 in order of time."""


class TransportResults(Plain):
    """Closed-loop senders, within the measured time."""

    goodput_gbps: float
    """Payload that reached its application, each byte counted once, Gbit/s."""
    sent: int
    """Data packets sent, including retransmissions."""
    sent_again: int
    """Data packets retransmitted."""
    acknowledged: int
    """Acknowledgements that the senders received."""
    dropped_switch: int
    """Data packets dropped because the switch's buffer was full."""
    dropped_server: int
    """Data packets dropped by the server's NIC."""
    lost_share: float
    """Share of the data packets sent that the switch or the server dropped, 0 to 1."""
    marked: int
    """Data packets that the switch marked (ECN)."""
    marked_server: int
    """Data packets marked by the server's NIC that the switch had not marked."""
    fast_recoveries: int
    """Data packets detected as lost because later ones were acknowledged."""
    timeouts: int
    """Retransmission timeouts of connections."""
    not_lost: int
    """Data packets taken for lost whose acknowledgement arrived before they were retransmitted."""
    delivered: int
    """Data packets that reached their application for the first time."""
    duplicates: int
    """Data packets that had already reached it before."""
    reads: int
    """Reads completed."""
    mean_window: float
    """Mean congestion window of the connections over the measured time, packets."""
    fairness: float
    """Jain's index over the packets delivered by each connection: 1 if all are equal, one over
    their number if one has all."""
    rtt: Distribution
    """Round trip: from sending a packet to the arrival of its acknowledgement."""
    fabric_delay: Distribution
    """The part of the round trip outside the server, as the senders compute it."""
    host_delay: Distribution
    """The part inside the server: from arrival at the NIC to the hand-over of the
    acknowledgement."""
    read_latency: Distribution
    """From the issue of a read until it and all reads before it are complete."""
    connections: list[ConnectionResults]
    """One entry per connection, by queue and then by sender."""


class ConnectionResults(Plain):
    """A connection of closed-loop traffic, within the measured time."""

    queue: int
    """The server's queue, from 0."""
    sender: int
    """The sending machine, from 0."""
    sent: int
    """Data packets sent, including retransmissions."""
    sent_again: int
    """Data packets retransmitted."""
    timeouts: int
    """Retransmission timeouts."""
    delivered: int
    """Data packets that reached their application for the first time."""
    mean_window: float
    """Mean congestion window, packets."""
    mean_rtt_ns: float | None
    """Mean round trip over the acknowledgements received, ns; absent without any."""
