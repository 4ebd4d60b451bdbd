"""What came, and what closed-loop senders made of it."""

from __future__ import annotations

from nic2core.results.distribution import Distribution
from nic2core.results.plain import Plain


class Packets(Plain):
    """Packets by fate, within the measured time."""

    offered: int
    """Arrived on the wire."""
    dropped_sram: int
    """Dropped because the NIC's input SRAM was full."""
    dropped_no_descriptor: int
    """Dropped because the queue had no posted descriptor."""
    completed: int
    """Requests completed by the cores."""
    completed_before: int
    """Requests completed before measuring began: in the warm-up, and while a peak's probe
    settled."""
    transmitted: int
    """Packets sent by the NIC."""
    in_flight_begin: int
    """Between wire and completion when measuring began and when it ended."""
    in_flight_end: int
    """See `in_flight_begin`."""
    offered_mpps: float
    """Offered rate, million packets a second."""
    completed_mpps: float
    """Completed rate, million packets a second."""
    completed_gbps: float
    """Bytes of completed packets, as received, Gbit/s."""
    offered_gbps: float
    """Bytes of offered packets, as received, Gbit/s."""
    drop_share: float
    """Dropped share of the offered packets, 0 to 1."""
    dropped_bytes_share: float
    """Dropped share of their bytes, 0 to 1: more than that of the packets, if it is the large ones
    that find no room."""
    next_arrival_ns: float | None = None
    """When the next packet comes, after the start of the run, ns; absent if any was offered."""
    link_wait_ns: float | None = None
    """Mean time for which packets wait before the link into the NIC, as it carries one frame after
    the other, ns: their senders', and in no latency; above the link's rate it grows with the run.
    Absent without a link, without traffic with a time law, or if nothing was offered."""


class CaptureFacts(Plain):
    """A capture, as it was understood."""

    packets: int
    """Packets of one round."""
    flows: int
    """Flows that they belong to."""
    bytes: int
    """Bytes of all frames, without FCS."""
    span_ps: int
    """From the first packet to the last, ps."""
    ipv6_packets: int
    """Packets of IPv6: RSS knows their addresses, applications handle them like IPv4."""
    reordered: int = 0
    """Packets that stand in the file behind one of a later time; all are played in the order of
    time.
    """
    vlan_packets: int = 0
    """Packets with VLAN tags, behind which their flow is looked for."""
    largest_gap: CaptureGap | None = None
    """The longest time without a packet; absent of one packet alone."""


class CaptureGap(Plain):
    """A time without a packet in a capture."""

    ps: int
    """How long it is, ps."""
    before_packet: int
    """The packet that ends it, from 1 in the order of time."""


class TransportResults(Plain):
    """Closed-loop senders, within the measured time."""

    goodput_gbps: float
    """Payload that reached its application, each byte once, Gbit/s."""
    sent: int
    """Data packets sent, those sent again included."""
    sent_again: int
    """Data packets sent again."""
    acknowledged: int
    """Acknowledgements that senders received."""
    dropped_switch: int
    """Data packets dropped because the switch's buffer was full."""
    dropped_server: int
    """Data packets dropped by the server's NIC."""
    lost_share: float
    """Share of the data packets sent that switch or server dropped, 0 to 1."""
    marked: int
    """Data packets that the switch marked (ECN)."""
    marked_server: int
    """Data packets that the server's NIC marked and the switch had not."""
    fast_recoveries: int
    """Data packets found lost because later ones were acknowledged."""
    timeouts: int
    """Timeouts of connections."""
    not_lost: int
    """Data packets that were taken for lost, and whose acknowledgement came before they were sent
    again."""
    delivered: int
    """Data packets that reached their application, for the first time."""
    duplicates: int
    """Data packets that had reached it before."""
    reads: int
    """Reads completed."""
    mean_window: float
    """Mean congestion window of the connections over the measured time, packets."""
    fairness: float
    """Jain's index of what the connections delivered: 1 if all the same, one over their number if
    one had all."""
    rtt: Distribution
    """From a packet's sending to its acknowledgement's arrival."""
    fabric_delay: Distribution
    """The part of it outside of the server, as the senders compute it."""
    host_delay: Distribution
    """The part of it in the server: arrival at the NIC to the hand-over of the acknowledgement."""
    read_latency: Distribution
    """From the issue of a read to its last packet."""
    connections: list[ConnectionResults]
    """One for each connection, by queue and then by sender."""


class ConnectionResults(Plain):
    """A connection of closed-loop traffic, within the measured time."""

    queue: int
    """The server's queue, from 0."""
    sender: int
    """The machine that sends, from 0."""
    sent: int
    """Data packets sent, those sent again included."""
    sent_again: int
    """Data packets sent again."""
    timeouts: int
    """Timeouts."""
    delivered: int
    """Data packets that reached their application, for the first time."""
    mean_window: float
    """Mean congestion window, packets."""
    mean_rtt_ns: float | None
    """Mean of the round trips of the acknowledgements that came, ns; absent if none did."""
