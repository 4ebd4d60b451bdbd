"""What the main numbers mean: the report's tooltips, and the tables of docs/results.md."""

from __future__ import annotations

from nic2core.describe.contents import CONSUMED_SHARE
from nic2core.describe.headline import LIMITED_BY

SENDERS = {
    "goodput": "Payload that reached its application, each byte counted once.",
    "wanted": "Payload of the reads that were wanted, if a load is wanted of all senders "
    "(traffic.load).",
    "retransmitted": "Data packets sent again, of all that were sent.",
    "declared lost, but arrived": "Data packets that senders declared lost but that had arrived, "
    "of all that were sent.",
    "timeouts": "Retransmission timeouts of all connections in a millisecond.",
    "window": "Congestion window of a connection: mean over connections and measured time, also "
    "over those that have nothing to send. Of a control that sets a rate, that rate times the "
    "round trip.",
    "cut in all": "Packets by which all connections together cut their windows in a millisecond, "
    "also of windows that nothing is sent with.",
    "cut by": "Share of all cuts of windows that this cause made.",
    "in flight": "Packets, or their acknowledgements, under way: mean over the measured time.",
    "fairness": "Jain's index over what connections delivered: 1 if all are equal, one over their "
    "number if one has everything. Of n reads a connection, chance alone can make it n / (n + 1).",
    "goodput of the rivals": "The same payload, of the second group of senders alone.",
    "a rival over another sender": "How many times as much a rival delivers as another sender.",
    "p99 round trip": "From sending a packet to the arrival of its acknowledgement; one packet in "
    "a hundred takes longer.",
    "p99 in the server": "The part of a round trip that the packet spends in the server; one in a "
    "hundred takes longer.",
    "p99 whole read": "From the issue of a read until it, and all before it on its connection, are "
    "complete; one in a hundred takes longer.",
    "p99 slowdown of reads": "How many times as long a read takes as alone, in a network without "
    "anything else and a server that takes no time; one in a hundred takes longer. Reads from "
    "rivals are left out.",
    "p99 slowdown of shortest reads": "The same of reads of the smallest size.",
    "p99 slowdown of longest reads": "The same of reads of the largest size.",
    "p99 whole block": "From the request for a block, which is striped over senders, until all of "
    "it has arrived; one in a hundred takes longer.",
}
"""What closed-loop senders see."""

SERVER = {
    "completed": "Packets whose service ended.",
    "network": "Bytes of completed packets, as frames without preamble, FCS and gap.",
    "offered": "Packets that arrived at the NIC, whether it had room for them or not.",
    "dropped by the switch": "Data packets for which the switch had no room, of all that were "
    "sent.",
    "dropped": "Packets for which the NIC had no room, of those offered.",
    "dropped bytes": "The same share, of bytes.",
    "no room in": "Where the dropped packets found no room: the NIC's input SRAM or its receive "
    "rings.",
    "dropped most": "The core to whose queue most of the dropped packets came, and its share of "
    "them.",
    "p50 latency": "From a packet's arrival at the NIC to the end of its service on the core, "
    "without transmission; half of the packets take longer.",
    "p99 latency": "From a packet's arrival at the NIC to the end of its service on the core, "
    'without transmission (with it: "from port to port" among the stages); one packet in a hundred '
    "takes longer.",
    "before the link": "For how long packets wait on average until the link to the server is free: "
    "no latency here includes that.",
    "core cycles": "Cycles in which cores work, waits for memory included, for each completed "
    "packet. Where they have time to spare they poll small batches, so a full core takes fewer.",
    "instructions": "Instructions that cores dispatch for each completed packet: those that the "
    "scenario states, and its loads and stores.",
    "instructions per cycle": "Of cores at work. Nothing but the dispatch width and waits for "
    "memory limits them here: more than your server does says that the stated instructions cost "
    "too little.",
    "p99 objective": "The p99 latency that a peak had to keep.",
    "DMA": "What the benchmark of the device moves.",
    "transactions": "Reads or writes of that benchmark, each of its size.",
    "DMA read latency": "Mean time of a read of that benchmark.",
    "STREAM": "What the cores of this STREAM benchmark move, all together.",
    "X-Mem": "Accesses that this X-Mem benchmark makes, on all of its cores together.",
}
"""What the server does."""

MEMORY = {
    "memory traffic": "Bytes on the memory bus, read and written. That of a tenant is what moved "
    "the tenant's own lines, whoever moved them.",
    "memory lines": "Cache lines on the memory bus for each completed packet, without those of "
    "cores that serve no packets.",
    "DMA writes that hit": "Of the lines that the NIC writes: those that were in a cache already, "
    "the LLC or a core's.",
    "DMA data that leaks": "Lines of received packets, or of the benchmark of the device, that "
    "were evicted to memory, relative to those that the NIC wrote. Each costs a write, and a read "
    "if the core has not read it before.",
    "DMA hits in an L2 only": "Of the lines that the NIC writes (not of the hits): those that only "
    "a core's private cache held. They count as hits, but move to the I/O ways and may evict "
    "another line there, as a miss does.",
    CONSUMED_SHARE: "Of the LLC's lines, when the run ended: those of receive buffers whose packet "
    "is done with. Nobody needs their data; it takes room until it is overwritten, swept or "
    "evicted.",
    "IOTLB misses": "Addresses that the IOMMU had to look up in its page tables, for each packet "
    "received.",
    "AMAT": "Average memory access time: mean time of a core's loads and stores from issue to "
    "data, whichever cache or memory answers.",
}
"""What caches and memory do."""

COMPARED = {
    LIMITED_BY: "What sets the rate of the run: a stage of the path, or the congestion control, an "
    "objective or the offered load.",
}
"""What only comparisons have as a number."""

TERMS = SENDERS | SERVER | MEMORY | COMPARED
"""Every main number; one of a tenant or a cause is found by how its name begins."""


SPANS = dict.fromkeys(("p50 latency", "p99 latency"), "arrival to end of service")
"""What a latency is of, in short, where there is room for a few words more than its name."""


def meaning(name: str) -> str:
    """What a main number means, given its name: `AMAT`, `AMAT (kvs)`, `cut by marks`."""
    if name in TERMS:
        return TERMS[name]
    begun = [term for term in TERMS if name.startswith(f"{term} ")]
    return TERMS[max(begun, key=len)] if begun else ""
