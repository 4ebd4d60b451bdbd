"""The scenario as typed models, with completion and checks in an editor.

Generated from `schema/scenario.schema.json` by `python -m tools.codegen`: do not edit.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from nic2core._core import UserError
from nic2core.near_names import did_you_mean
from nic2core.scenario.assigned import as_model
from nic2core.scenario.origin import Origin


class Model(BaseModel):
    """What all tables of a scenario have in common.

    What is assigned is checked when the scenario runs, by the checker of scenario files.
    """

    model_config = ConfigDict(
        allow_inf_nan=False,
        extra="forbid",
        serialize_by_alias=True,
        use_attribute_docstrings=True,
        validate_by_name=True,
    )

    # To a type checker it would say that every key can be assigned.
    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            known = type(self).model_fields
            if name in type(self).__private_attributes__:
                super().__setattr__(name, value)
                return
            if name not in known:
                raise UserError(
                    f"{type(self).__name__} has no key `{name}`; allowed: {', '.join(known)}"
                    f"{did_you_mean(name, known)}"
                )
            super().__setattr__(name, as_model(known[name], value))

    def copy(self) -> Self:  # type: ignore[override]
        """A copy that can be changed without changing this one."""
        return self.model_copy(deep=True)


UInt32: TypeAlias = Annotated[int, Field(ge=0, le=4294967295)]


Frequency: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9_]+(\.[0-9]+)? *(?:(Hz|kHz|MHz|GHz))$", examples=["3.2 GHz"])
]
"""Text such as "3.2 GHz"; units Hz, kHz, MHz, GHz."""


class Core(Model):
    """The cores, all alike."""

    count: UInt32
    """How many (1 to 32)."""
    frequency: Frequency
    """The clock of the cores and of their private caches."""
    dispatch_width: UInt32
    """Instructions dispatched (and retired) a cycle."""
    reorder_window: UInt32
    """Instructions in flight: reorder-buffer entries."""
    l1_miss_registers: UInt32
    """Line-fill buffers: lines in flight from beyond the L2."""
    store_buffer: UInt32
    """Stores whose line, or that of a store before them, the core does not own yet."""


Size: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9_]+(\.[0-9]+)? *(?:(B|KiB|MiB|GiB))$", examples=["36 MiB"])
]
"""Text such as "36 MiB"; units B, KiB, MiB, GiB."""


Replacement: TypeAlias = Literal["lru", "tree-plru", "srrip", "random"]
"""Which line of a set is evicted for a new one. `lru`: The least recently used. `tree-plru`: A
binary tree with one bit per node, pointing away from recent use. `srrip`: Static re-reference
interval prediction with 2-bit counters (Jaleel et al., ISCA 2010). `random`: Uniformly random.
"""


class L1d(Model):
    """A first-level data cache."""

    size: Size
    """Capacity."""
    ways: UInt32
    """Associativity."""
    latency_cycles: UInt32
    """Load-to-use latency of a hit, in core cycles."""
    replacement: Replacement = "lru"
    """Which line of a set is evicted."""


Prefetch: TypeAlias = Literal["none", "next-line", "stream", "streamer"]
"""A hardware prefetcher. `none`: None. `next-line`: A miss also fetches the next line. `stream`: A
miss followed by a miss of the next line starts a stream that runs ahead within the page.
`streamer`: Every L2 lookup, hit or miss, for a higher line of its page than the previous lookup
there, adjacent or not, fetches two more lines, up to 20 lines ahead (Intel optimization manual,
"streamer").
"""


class L2(Model):
    """A second-level cache."""

    size: Size
    """Capacity."""
    ways: UInt32
    """Associativity."""
    latency_cycles: UInt32
    """Load-to-use latency of a hit, in core cycles."""
    replacement: Replacement = "lru"
    """Which line of a set is evicted."""
    prefetch: Prefetch = "none"
    """Hardware prefetcher that fills this cache."""
    superqueue: UInt32 = 16
    """Lines that may be on their way to this cache (the "superqueue"): up to
    `core.l1_miss_registers` for misses of the core; the remaining entries are for the prefetcher.
    """


Inclusion: TypeAlias = Literal["inclusive", "non-inclusive"]
"""Relation of the LLC to the private caches. `inclusive`: Every line of a private cache is also in
the LLC; evicting it from the LLC invalidates it in all private caches. `non-inclusive`: A victim
cache of the L2s: memory fills go to the L2 only, L2 victims go to the LLC, and an LLC hit moves the
line up; for dirty lines of I/O data, see `IoLines`.
"""


IoLines: TypeAlias = Literal["stay", "move"]
"""What a non-inclusive LLC does with a dirty line of I/O data that a core reads. `stay`: The LLC
keeps the line, and the core gets a clean copy. `move`: The line moves up like any other. Later it
returns as a victim of the L2, into any way (the "DMA bloating" of Alian et al., "IDIO", MICRO
2022).
"""


SetIndex: TypeAlias = Literal["modulo", "sliced", "hashed"]
"""How an address is mapped to a set of the LLC. `modulo`: Line number modulo the number of sets.
`sliced`: A hash of the upper address bits spreads lines over the slices, evenly within an aligned
block; the low bits choose the set within the slice. `hashed`: A hash of all address bits: every set
is equally likely for every line.
"""


Duration: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9_]+(\.[0-9]+)? *(?:µs|μs|(ps|ns|us|ms|s))$", examples=["5 ms"])
]
"""Text such as "5 ms"; units ps, ns, us, ms, s."""


class Llc(Model):
    """The last-level cache."""

    size: Size
    """Capacity of all slices together."""
    ways: UInt32
    """Associativity, at most 32."""
    latency_cycles: UInt32
    """Time from the request's arrival at the slice to the data leaving it, in cycles of
    `machine.uncore`.
    """
    replacement: Replacement = "lru"
    """Which line of a set is evicted."""
    inclusion: Inclusion
    """Relation to the private caches."""
    io_lines: IoLines = "stay"
    """What a non-inclusive LLC does with a dirty line of I/O data that a core reads."""
    index: SetIndex = "modulo"
    """How an address is mapped to a set."""
    slices: UInt32 | None = None
    """Number of slices, for `sliced`; the number of cores unless given."""
    home_trackers: UInt32
    """Transactions that the home agents can have under way: memory reads of cores, prefetchers and
    devices together, and write-backs that wait for room in the write queue of their channel. While
    all trackers are in use, the LLC accepts no core requests, no DMA and no page walks. With
    `machine.numa` the other socket has as many for reads of its memory, which wait there.
    """
    memory_latency: Duration = "0 ps"
    """Time that a line read from memory takes between the memory controller and the LLC, in
    addition to the latencies of both.
    """


class Noc(Model):
    """The on-chip network."""

    latency_cycles: UInt32
    """One-way latency between any two agents, in cycles of `machine.uncore`."""
    port_width: Size = "64 B"
    """Bytes that the port of an on-chip NIC carries towards the caches per cycle of
    `machine.uncore`. It does not matter for a NIC behind PCIe, whose link is narrower than any
    port.
    """


class Uncore(Model):
    """What LLC and on-chip network are clocked with."""

    frequency: Frequency
    """The clock of the LLC and of the on-chip network. Times that are given as such stay what they
    are when it changes: `machine.llc.memory_latency` and those of `machine.pcie`.
    """


Standard: TypeAlias = Literal[
    "DDR4-2400", "DDR4-2666", "DDR4-2933", "DDR4-3200AA", "DDR5-4800", "DDR5-5600"
]
"""A DRAM standard at one speed bin. `DDR4-2400`: DDR4 at 2400 MT/s, bin T: CL-tRCD-tRP 17-17-17.
`DDR4-2666`: DDR4 at 2666 MT/s, bin V: 19-19-19. `DDR4-2933`: DDR4 at 2933 MT/s, bin Y: 21-21-21.
`DDR4-3200AA`: DDR4 at 3200 MT/s, bin AA: 22-22-22. `DDR5-4800`: DDR5 at 4800 MT/s, bin B: 40-39-39.
`DDR5-5600`: DDR5 at 5600 MT/s, bin B: 46-45-45.
"""


Density: TypeAlias = Literal["4Gb", "8Gb", "16Gb", "24Gb", "32Gb"]
"""Capacity of one DRAM device, which sets how long a refresh takes. `4Gb`: 4 Gbit. `8Gb`: 8 Gbit.
`16Gb`: 16 Gbit. `24Gb`: 24 Gbit (DDR5). `32Gb`: 32 Gbit (DDR5).
"""


DeviceWidth: TypeAlias = Literal["x4", "x8", "x16"]
"""Data pins of one DRAM device, which set its page size and thus how closely activates may follow
each other. `x4`: 4 pins. `x8`: 8 pins. `x16`: 16 pins.
"""


Admission: TypeAlias = Literal["separate", "in-order"]
"""How requests that find the queues of their channel full enter them later. `separate`: Reads and
writes wait in separate lines: each enters when its own queue has room. `in-order`: Reads and writes
wait in one line, in order of arrival, and enter while both queues have room: a full write queue
also holds up the reads behind it.
"""


WriteToRead: TypeAlias = Literal["same-rank", "all-ranks"]
"""Which reads wait for tWTR after the data of a write. `same-rank`: Those of the same rank, as in
the standard. `all-ranks`: All of the channel, as in a controller that counts tWTR on the data bus:
reads of other ranks wait as long as reads of another bank group.
"""


class CloseAfterRowPolicy(Model):
    """A row is closed after this many accesses: by a precharge as soon as one may be issued, or by
    the auto-precharge of an access that comes before that.
    """

    close_after: Annotated[UInt32, Field(alias="close-after")]


class TimeoutRowPolicy(Model):
    """A row is closed when it has not been accessed for this many clocks."""

    timeout: UInt32


RowPolicy: TypeAlias = (
    Literal["open", "closed", "closed-adaptive"] | CloseAfterRowPolicy | TimeoutRowPolicy
)
"""When an open row is closed. `open`: A row stays open until another row of its bank is wanted.
`closed`: Every read and write closes its row (auto-precharge). `closed-adaptive`: A read or write
closes its row (auto-precharge) unless a waiting request of the same queue wants the row, as in
zSim, and as in gem5's `close_adaptive`.
"""


Refresh: TypeAlias = Literal["off", "all-ranks", "staggered"]
"""How the ranks of a channel are refreshed. A refresh occupies all banks of a rank, and while one
is due the controller starts no other read or write on the channel. `off`: Never: for comparison
only, because real DRAM would lose its data. `all-ranks`: All ranks fall due at the same clock,
every tREFI. `staggered`: The ranks take turns: they fall due tREFI / ranks apart.
"""


class TimingOverrides(Model):
    """Individual timings set by hand, in clocks; the others follow the standard."""

    bl: UInt32 | None = None
    """tBL: clocks of one burst on the data bus."""
    cl: UInt32 | None = None
    """tCL: read command to first data."""
    rcd: UInt32 | None = None
    """tRCD: activate to column command."""
    rp: UInt32 | None = None
    """tRP: precharge to activate."""
    ras: UInt32 | None = None
    """tRAS: activate to precharge."""
    rc: UInt32 | None = None
    """tRC: activate to activate, same bank."""
    wr: UInt32 | None = None
    """tWR: end of write data to precharge."""
    rtp: UInt32 | None = None
    """tRTP: read to precharge."""
    cwl: UInt32 | None = None
    """tCWL: write command to first data."""
    ccd_s: UInt32 | None = None
    """tCCD_S: read to read, other bank group of the rank."""
    ccd_l: UInt32 | None = None
    """tCCD_L: read to read, same bank group."""
    ccd_s_wr: UInt32 | None = None
    """Write to write, other bank group of the rank (DDR4: tCCD_S)."""
    ccd_l_wr: UInt32 | None = None
    """tCCD_L_WR: write to write, same bank group (DDR4: tCCD_L)."""
    rrd_s: UInt32 | None = None
    """tRRD_S: activate to activate, other bank group of the rank."""
    rrd_l: UInt32 | None = None
    """tRRD_L: activate to activate, same bank group."""
    wtr_s: UInt32 | None = None
    """tWTR_S: end of write data to read, other bank group of the rank."""
    wtr_l: UInt32 | None = None
    """tWTR_L: end of write data to read, same bank group."""
    faw: UInt32 | None = None
    """tFAW: window that holds at most four activates of a rank."""
    ppd: UInt32 | None = None
    """tPPD: precharge to precharge, same rank (DDR4: one command slot)."""
    rfc: UInt32 | None = None
    """tRFC: all-bank refresh to the next command of the rank."""
    refi: UInt32 | None = None
    """tREFI: mean interval between refreshes of a rank."""
    rank_switch: UInt32 | None = None
    """Clocks the data bus stays idle when another rank takes it over (tRTRS; board, not JEDEC)."""
    rd_to_wr: UInt32 | None = None
    """Read to write, same rank: the data bus turns around with a 2-clock preamble."""
    rd_to_wr_other_rank: UInt32 | None = None
    """Read to write, other rank."""
    command_clocks: UInt32 | None = None
    """Command-bus clocks of activate, read and write (DDR5 sends them in two halves)."""


class Dram(Model):
    """The memory of a machine. All channels are identical."""

    standard: Standard
    """Standard and speed bin, such as `"DDR4-3200AA"`."""
    channels: UInt32
    """Independently scheduled channels: 64 bits wide for DDR4; for DDR5 the 32-bit subchannels, so
    that a DDR5 DIMM counts twice.
    """
    ranks: UInt32
    """Ranks per channel."""
    bank_groups: UInt32
    """Bank groups per rank (DDR4: 4, or 2 for x16 devices; DDR5: 8, or 4 for x16)."""
    banks_per_group: UInt32
    """Banks per bank group."""
    rows: UInt32
    """Rows per bank."""
    columns: UInt32
    """Columns per row; a multiple of the burst of 8 (DDR4) or 16 (DDR5)."""
    density: Density = "8Gb"
    """Capacity of a device; sets tRFC."""
    device_width: DeviceWidth = "x8"
    """Data pins of a device; sets tFAW, for DDR4 also tRRD, and for DDR5 the tCCD_L of writes."""
    read_queue: UInt32 = 32
    """Reads that can wait for their bank, per channel."""
    write_queue: UInt32 = 32
    """Writes that can wait for their bank, per channel."""
    admission: Admission = "separate"
    """How requests enter full queues."""
    drain_high_percent: UInt32 = 80
    """Writes are drained once they fill more than this share of their queue."""
    drain_low_percent: UInt32 = 20
    """A drain ends when writes fill less than this share of their queue and reads wait."""
    reads_between_drains: UInt32 = 0
    """Reads that must leave their queue between two drains, as long as any wait. Until then a full
    write queue stays full, and further writes wait in front of it.
    """
    write_to_read: WriteToRead = "same-rank"
    """Which reads tWTR applies to."""
    row_policy: RowPolicy = "open"
    """When rows are closed."""
    refresh: Refresh = "staggered"
    """How ranks are refreshed."""
    mapping: str = "row-bank-bankgroup-rank-column-channel"
    """Order of the address fields, most significant first."""
    timings: TimingOverrides = Field(default_factory=TimingOverrides)
    """Individual timings, in clocks, that replace the standard's. Those of a machine file are
    dropped if a scenario or an override changes its `standard`.
    """


BitRate: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^[0-9_]+(\.[0-9]+)? *(?:bit/s|kbit/s|Mbit/s|Gbit/s|(bps|kbps|Mbps|Gbps))$",
        examples=["100 Gbps"],
    ),
]
"""Text such as "100 Gbps"; units bps, kbps, Mbps, Gbps."""


class Numa(Model):
    """The other socket, as a second memory node. The simulated cores and NIC are on the first
    socket.
    """

    links: UInt32
    """Links between the sockets; lines are spread evenly over them."""
    link_bandwidth: BitRate
    """Bandwidth of one link in each direction, headers included."""
    latency: Duration
    """One-way latency between the sockets without queueing: a remote access makes two more
    crossings than a local one.
    """


Rate: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9_]+(\.[0-9]+)? *(?:(pps|kpps|Mpps))$", examples=["26 Mpps"])
]
"""Text such as "26 Mpps"; units pps, kpps, Mpps."""


Fields: TypeAlias = Literal["addresses-and-ports", "addresses"]
"""The header fields that are hashed. `addresses-and-ports`: Source and destination address, and the
ports if the packet has any (`sdfn` of `ethtool -n`). `addresses`: Source and destination address
only (`sd`), as with DPDK's `RTE_ETH_RSS_IP` and for UDP in many drivers.
"""


class Rss(Model):
    """Configuration of receive-side scaling."""

    indirection_entries: UInt32 = 128
    """Entries of the indirection table: a power of two from 1 to 65536. The default is 128, as in
    the Intel 82599 and the Microsoft specification; 100 GbE NICs have 512 (E810) or more.
    """
    fields: Fields = "addresses-and-ports"
    """The header fields that are hashed."""
    key: str | None = None
    """Key of the Toeplitz hash as `ethtool -x` prints it: 40 to 52 hexadecimal bytes separated by
    colons, of which the first 40 are used. Absent: the key of Microsoft's specification.
    """


class Nic(Model):
    """The NIC."""

    link: BitRate | None = None
    """Line rate of the network link. Frames arrive no closer together than the link can carry them,
    except those of a backlog. Absent: the link imposes no limit.
    """
    packet_rate: Rate | None = None
    """Packets that the NIC processes in a second in each direction, whatever their size: those that
    it takes out of the SRAM, and those that it begins to read for sending. Absent: no limit.
    (Intel's specification update for the XL710 has some 37 Mpps, below a size of 160 B; DPDK's
    guide to bnxt has 30 Mpps for Broadcom's BCM574XX.)
    """
    sram: Size
    """Input SRAM shared by all receive queues; a packet that does not fit is dropped."""
    ecn_threshold: Size | None = None
    """A packet that finds more than this in the SRAM is ECN-marked, as a switch would mark it. Only
    `closed-loop` traffic is marked, for a congestion control that reacts to marks. Absent: no
    packet is marked. (mlx5 can do this and counts the packets as `rx_prioN_marked`: Linux,
    drivers/net/ethernet/mellanox/mlx5/core/en_stats.c.)
    """
    write_credits: UInt32
    """Cache lines of DMA writes that can be in flight between the NIC and the memory system: the
    credits of the I/O controller.
    """
    read_credits: UInt32
    """Cache lines of DMA reads that can be in flight."""
    descriptor_batch: UInt32
    """Receive descriptors that the NIC fetches at a time into its own descriptor cache."""
    descriptor_size: Size
    """Bytes of a receive or transmit descriptor in its ring."""
    completion_size: Size
    """Bytes of a completion."""
    completions_per_write: UInt32 = 1
    """Maximum number of receive completions that the NIC combines into one line, while it is busy
    with further packets; at most 8 (mlx5's CQE compression packs 8 of 8 bytes into one of 64).
    """
    tx_descriptor_batch: UInt32 | None = None
    """Maximum number of descriptors of a send queue that the NIC reads at a time, out of those that
    the driver has rung for. It reads the next ones once it has the data of all previous packets.
    Absent: each descriptor is read together with the data of its packet.
    """
    rss: Rss = Field(default_factory=Rss)
    """Receive-side scaling."""


class Pcie(Model):
    """The PCIe link."""

    generation: UInt32
    """Generation, 3 to 5."""
    lanes: UInt32
    """Lanes: 1, 2, 4, 8 or 16."""
    max_payload: Size
    """Largest payload of one TLP."""
    max_read_request: Size
    """Largest read request of one TLP."""
    latency: Duration
    """One-way latency of link, root port and I/O controller."""
    credit_return: Duration
    """Time from when a written line becomes visible until the device can use its credit again."""
    posted_credits: UInt32
    """Posted-header credits of the root port: write TLPs that it has not passed on to the LLC yet.
    Lines that then wait for room in a write queue hold `nic.write_credits` only.
    """
    non_posted_credits: UInt32
    """Read requests that can wait for their data: the non-posted credits or the NIC's tags,
    whichever is fewer. At least as many as the largest fetch of descriptors takes, and two if the
    NIC reads transmit descriptors with their packets.
    """
    relaxed_ordering: bool = False
    """Whether the device allows its writes of packet data to pass its earlier writes that are
    waiting for translation (the Relaxed Ordering attribute). Completions pass nothing.
    """
    dllps: UInt32 = 2
    """Acknowledgements and flow-control updates, of 8 bytes each, in both directions for as many
    bytes of TLPs as a write of the largest payload has.
    """


Mode: TypeAlias = Literal["off", "loose", "strict", "deferred"]
"""How devices are confined to their own memory. `off`: Not at all: devices use physical addresses,
which the IOMMU passes through. `loose`: All memory of the queues is mapped once and stays mapped.
`strict`: A buffer is mapped when it is posted, and unmapped when its packet is received or has been
sent; the core then waits until the buffer's translation is invalidated. Rings stay mapped.
`deferred`: As `strict`, but invalidations accumulate and are done together by a flush of the whole
IOTLB.
"""


IotlbReplacement: TypeAlias = Literal["lru", "fifo"]
"""Which translation of a set is evicted for a new one. `lru`: The least recently used. `fifo`: The
one that was inserted first.
"""


class Iotlb(Model):
    """The cache of translations."""

    entries: UInt32
    """How many translations it holds, for pages of any size."""
    ways: UInt32
    """Associativity; equal to `entries` for a fully associative cache."""
    replacement: IotlbReplacement = "lru"
    """Which translation of a set is evicted for a new one."""


class PagingStructures(Model):
    """Entries of the caches of the upper page-table levels, each cache fully associative with LRU
    replacement; 0 for none. A walk starts below the lowest level that is found.
    """

    pml4: UInt32
    """Entries of the root level, which map 512 GiB each."""
    pdpt: UInt32
    """Entries of the level below, which map 1 GiB each."""
    pd: UInt32
    """Page-directory entries, which map 2 MiB each."""


PageSize: TypeAlias = Literal["4 KiB", "2 MiB", "1 GiB"]
"""A page size of the IOMMU. `4 KiB`: A leaf of the page table. `2 MiB`: A leaf in a page directory.
`1 GiB`: A leaf in a page-directory-pointer table.
"""


class Pages(Model):
    """Page size with which each kind of data is mapped."""

    payload: PageSize
    """Packet data, received and transmitted, except acknowledgements."""
    descriptors: PageSize
    """Receive and transmit descriptors."""
    completions: PageSize
    """Receive and transmit completions."""
    acknowledgements: PageSize
    """Acknowledgements sent in reply to closed-loop traffic."""


class RunTime(Model):
    """Cost of mapping and unmapping a buffer at run time. The times are those of Linux with
    constant-time address allocation, in cycles of a 3.1 GHz Xeon E3 (Malka, Amit, Ben-Yehuda and
    Tsafrir, "rIOMMU", ASPLOS 2015, table 1, "strict+"); quoted from memory, not checked against the
    paper.
    """

    map: Duration = "235 ns"
    """Core time to map a buffer, without the memory accesses, which are simulated: 727 cycles."""
    unmap: Duration = "301 ns"
    """Core time to unmap a buffer, without its invalidation: 932 cycles."""
    invalidation: Duration = "689 ns"
    """IOMMU time per invalidation; requests are processed one after another: 2135 cycles."""
    flush_after: UInt32 = 256
    """In deferred mode: how many unmapped buffers a core accumulates before a flush (`IOVA_FQ_SIZE`
    in Linux, drivers/iommu/iova.c).
    """
    flush_interval: Duration = "10 ms"
    """In deferred mode: the longest that an unmapped buffer waits for its flush (`IOVA_FQ_TIMEOUT`,
    same file); checked when another buffer is unmapped.
    """


class Iommu(Model):
    """The IOMMU: every DMA is translated."""

    mode: Mode = "loose"
    """Whether DMA is translated, and how buffers are mapped."""
    iotlb: Iotlb
    """The cache of translations."""
    paging_structures: PagingStructures
    """The caches of the upper levels of the page table."""
    posted_queue: UInt32
    """How many writes can wait for their translations at a time; a write is looked up when it
    enters this queue. Writes beyond that hold their PCIe credits until one of the first has left.
    """
    non_posted_queue: UInt32
    """The same for reads."""
    walkers: UInt32
    """Page walks that can be under way at a time."""
    step_latency: Duration
    """Time that a walker itself needs for each level that it reads, in addition to the memory read.
    """
    pages: Pages
    """Page sizes with which memory is mapped for the NIC."""
    run_time: RunTime = Field(default_factory=RunTime)
    """Cost of mapping and unmapping at run time; used only in modes `strict` and `deferred`."""


class Machine(Model):
    """A server: cores, caches, memory and NIC. Every value in a machine file states its source."""

    description: str
    """A description of the machine, for people."""
    core: Core
    """The cores."""
    l1d: L1d
    """The private first-level data cache of each core."""
    l2: L2
    """The private second-level cache of each core; it includes the L1d."""
    llc: Llc
    """The shared last-level cache."""
    noc: Noc
    """The on-chip network between L2s, LLC and I/O."""
    uncore: Uncore | None = None
    """The clock of LLC and network; absent where they have that of the cores."""
    dram: Dram
    """The memory channels."""
    numa: Numa | None = None
    """A second socket with memory channels like these, behind a link; absent for a single socket.
    """
    nic: Nic
    """The NIC."""
    pcie: Pcie | None = None
    """The link between NIC and processor; absent for an on-chip NIC."""
    iommu: Iommu | None = None
    """The IOMMU; absent when it is off and devices use physical addresses."""


TrafficRate: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^[0-9_]+(\.[0-9]+)? *(?:bit/s|kbit/s|Mbit/s|Gbit/s|(pps|kpps|Mpps|bps|kbps|Mbps|Gbps))$",
        examples=["26 Mpps"],
    ),
]
"""Text such as "26 Mpps"; units pps, kpps, Mpps, bps, kbps, Mbps, Gbps."""


class FixedSizes(Model):
    """All packets have the same size."""

    kind: Literal["fixed"] = "fixed"
    size: Size
    """Bytes of every frame."""


class SizeShare(Model):
    """One size of a mix."""

    size: Size
    """Bytes of the frame."""
    weight: UInt32
    """Share of the packets, relative to the sum of all weights."""


class MixSizes(Model):
    """Several sizes, each in proportion to its weight. The simple IMIX (64, 594 and 1518 bytes with
    FCS, 7:4:1) is 60, 590 and 1514 bytes with weights 7, 4 and 1.
    """

    kind: Literal["mix"] = "mix"
    of: list[SizeShare]
    """The sizes; at least one."""


Sizes: TypeAlias = Annotated[FixedSizes | MixSizes, Field(discriminator="kind")]
"""Sizes of synthetic packets. A size is that of the frame as it lands in the buffer, without the 4
bytes of FCS: the "64-byte packet" of data sheets is 60 bytes here.
"""


class ConstantTraffic(Model):
    """Packets at equal intervals."""

    kind: Literal["constant"] = "constant"
    rate: TrafficRate
    """Packets per second, or bits per second on the wire including preamble, FCS and inter-packet
    gap. A bit rate is converted to whole packets per second with the mean of `sizes`.
    """
    sizes: Sizes
    """Packet sizes; without effect where clients choose them (`app.requests = "drawn"`)."""
    flows: UInt32
    """Number of flows, all equally likely."""


class PoissonTraffic(Model):
    """Packets at exponentially distributed intervals: many independent clients."""

    kind: Literal["poisson"] = "poisson"
    rate: TrafficRate
    """Average packets per second, or bits per second on the wire including preamble, FCS and
    inter-packet gap. A bit rate is converted to whole packets per second with the mean of `sizes`.
    """
    sizes: Sizes
    """Packet sizes; without effect where clients choose them (`app.requests = "drawn"`)."""
    flows: UInt32
    """Number of flows, all equally likely."""


class BurstsTraffic(Model):
    """A constant rate that is switched on and off, as in the burst mode of traffic generators."""

    kind: Literal["bursts"] = "bursts"
    rate: TrafficRate
    """Packets per second while on, or bits per second on the wire including preamble, FCS and
    inter-packet gap. A bit rate is converted to whole packets per second with the mean of `sizes`.
    """
    on: Duration
    """How long a burst lasts."""
    off: Duration
    """How long the pause after a burst lasts."""
    sizes: Sizes
    """Packet sizes; without effect where clients choose them (`app.requests = "drawn"`)."""
    flows: UInt32
    """Number of flows, all equally likely."""


class ReplayTraffic(Model):
    """The packets of a capture with its sizes and flows, repeated if the run is longer."""

    kind: Literal["replay"] = "replay"
    file: str
    """A pcap or pcapng file, relative to the scenario."""
    rate: TrafficRate | None = None
    """Scales the times to this average rate: bits per second on the wire including preamble, FCS
    and inter-packet gap, or packets per second. Absent: the times as recorded.
    """


class BacklogTraffic(Model):
    """No rate: every core always finds unconsumed packets (Sweeper, section IV-B)."""

    kind: Literal["backlog"] = "backlog"
    depth: UInt32
    """Minimum number of unconsumed packets in each core's queue, as far as descriptors are posted;
    at most `queues.rx_descriptors`. These packets are not paced by `machine.nic.link`.
    """
    sizes: Sizes
    """Packet sizes; without effect where clients choose them (`app.requests = "drawn"`)."""
    flows: UInt32
    """Number of flows, all equally likely."""


class ReadShare(Model):
    """One size of a mix of reads."""

    size: Size
    """Bytes of the read."""
    weight: UInt32
    """Share of the reads, relative to the sum of all weights."""


class Network(Model):
    """The network between senders and server: a port of a switch whose rate is that of the server's
    link (`machine.nic.link`).
    """

    delay: Duration
    """One-way delay from host to host without queueing: cables and switches."""
    sender_link: BitRate
    """Rate of a sender's link."""
    buffer: Size
    """Buffer of the switch port in front of the server; a packet that does not fit is dropped."""
    ecn_threshold: Size | None = None
    """A packet that finds more than this in the buffer is marked (ECN). Absent: no packet is
    marked.
    """


class Recovery(Model):
    """When a packet is retransmitted."""

    reordering: UInt32 = 3
    """How many packets sent later must be acknowledged before a packet is considered lost (RFC
    6675's DupThresh: 3).
    """
    min_timeout: Duration = "1 ms"
    """Minimum retransmission timeout; above it, RFC 6298's estimate applies, doubled with every
    consecutive timeout. Not in the papers; 1 ms is usual in data centres, where RFC 6298's one
    second is far too long.
    """


class SwiftControl(Model):
    """Swift: delay targets for fabric and endpoint (SIGCOMM 2020)."""

    kind: Literal["swift"] = "swift"
    additive_increase: float = 1.0
    """`ai`: packets added per round trip."""
    beta: float = 0.8
    """`beta`: decrease for a delay far above its target."""
    max_mdf: float = 0.5
    """`max_mdf`: largest decrease per round trip."""
    min_cwnd: float = 0.001
    """`min_cwnd`, in packets. The default of 0.001 is an estimate: with it, 1000 connections
    together send one packet per round trip.
    """
    max_cwnd: float = 1000.0
    """`max_cwnd`, in packets."""
    initial_cwnd: float = 1.0
    """The initial window of a connection, in packets; 1 is a choice, as in `csg-htsim` whoever sets
    up a simulation chooses it.
    """
    reset_after_timeouts: UInt32 = 5
    """`RETX_RESET_THRESHOLD`: consecutive timeouts after which the window is set to its minimum."""
    fabric_target: Duration = "20 us"
    """Base target for the fabric delay."""
    hop_target: Duration = "3053435 ps"
    """`h`: what each hop adds to the target."""
    hops: UInt32 = 1
    """Number of hops of a packet: 1, the switch (in `csg-htsim`, that of its route)."""
    flow_range: Duration = "100 us"
    """`fs_range`: the most that flow scaling adds."""
    flow_min_cwnd: float = 0.1
    """`fs_min_cwnd`: the window at which flow scaling adds all of it, in packets."""
    flow_max_cwnd: float = 100.0
    """`fs_max_cwnd`: the window above which flow scaling adds nothing, in packets."""
    endpoint_target: Duration = "100 us"
    """Target for the endpoint delay: 100 us in production ("Understanding Host Interconnect
    Congestion", HotNets 2022, section 3.1).
    """


class DctcpControl(Model):
    """DCTCP: reacts to the fraction of packets that are marked (SIGCOMM 2010)."""

    kind: Literal["dctcp"] = "dctcp"
    gain: float = 0.0625
    """`g`: weight of each window of data in the estimate (paper, section 3.4: 1/16)."""
    min_cwnd: float = 2.0
    """Minimum window after marks and losses, in packets; 2 as in Linux (`dctcp_ssthresh`). A
    timeout leaves one packet, as in TCP.
    """
    max_cwnd: float = 1000.0
    """Maximum window, in packets."""
    initial_cwnd: float = 10.0
    """The initial window of a connection, in packets (RFC 6928: 10)."""


class TimelyControl(Model):
    """TIMELY: sends at a rate that follows the gradient of the round trip (SIGCOMM 2015)."""

    kind: Literal["timely"] = "timely"
    ewma: float = 0.875
    """`alpha`: weight of the newest difference between two round trips."""
    beta: float = 0.8
    """`beta`: multiplicative decrease."""
    delta: BitRate = "10 Mbps"
    """`delta`: what is added to the rate."""
    low_threshold: Duration = "50 us"
    """`T_low`: below it the rate increases, whatever the gradient."""
    high_threshold: Duration = "500 us"
    """`T_high`: above it the rate decreases, whatever the gradient."""
    min_rtt: Duration = "20 us"
    """`minRTT`, by which the gradient is normalised."""
    hyperactive_after: UInt32 = 5
    """`N`: so many updates in a row with a gradient below zero, from which each adds this many
    times `delta`. Any other update begins anew.
    """
    segment: UInt32 = 4
    """Acknowledged packets for one update of the rate, which the paper has for each segment of 16
    KB and more. The default is 16 KiB of the 4 KiB packets of the host-congestion scenarios.
    """
    max_decrease: float = 1.0
    """The most that one update takes of the rate. By default all that is above the least rate, as
    in the paper: where the mean difference exceeds `minRTT` / `beta`, the equation is below zero.
    """
    loss_decrease: float = 0.5
    """What a loss takes of the rate, once in a round trip: half, as in TCP; not in the paper."""
    min_rate: BitRate = "10 Mbps"
    """The least rate of a connection: one `delta`, a choice."""
    initial_rate: BitRate | None = None
    """The rate of a new connection. Absent: the rate of the sender's link over the number of its
    connections, which all may be active, but no less than `min_rate`.
    """


class DcqcnControl(Model):
    """DCQCN: sends at a rate that marks cut and timers raise (SIGCOMM 2015)."""

    kind: Literal["dcqcn"] = "dcqcn"
    gain: float = 0.00390625
    """`g`: weight of the newest notification in `alpha`, of which a cut takes half."""
    notification_interval: Duration = "50 us"
    """`N`: marks within this time after a notification make no other."""
    alpha_timer: Duration = "55 us"
    """`K`: after so long without a notification, and every so long from then on, `alpha` decays."""
    increase_timer: Duration = "55 us"
    """`T`: after so long without a notification, and every so long from then on, the rate is
    raised.
    """
    byte_counter: Size = "10000000 B"
    """`B`: the rate is also raised whenever so much has been sent."""
    recoveries: UInt32 = 5
    """`F`: the first so many times by the timer or by bytes, the rate goes half of the way back to
    what it was before the cut.
    """
    additive_increase: BitRate = "40 Mbps"
    """`R_AI`: what is then added to the rate that it goes half of the way to."""
    hyper_increase: BitRate = "200 Mbps"
    """`R_HAI`: the same, once both the timer and the bytes have raised it more than `recoveries`
    times.
    """
    min_rate: BitRate = "40 Mbps"
    """The least rate of a connection: one `additive_increase`, a choice."""


class HpccControl(Model):
    """HPCC: a window that follows the utilisation of the busiest queue on the way, as told by
    telemetry (SIGCOMM 2019).
    """

    kind: Literal["hpcc"] = "hpcc"
    target_utilisation: float = 0.95
    """`eta`: the utilisation of the busiest hop that it aims at, 0 to 1."""
    max_stage: UInt32 = 5
    """`maxStage`: round trips in a row of additive increase alone, after which the window follows
    the utilisation.
    """
    base_rtt: Duration = "13 us"
    """`T`: the round trip without queues. A window of the sender's link times this fills the link.
    """
    flows: UInt32 = 100
    """`N`: how many connections may share a hop. `W_AI`, the additive increase, is what the target
    leaves free of the sender's link times `base_rtt`, over so many.
    """
    server_hop: bool = True
    """Whether the server's NIC is a hop: the queue in its SRAM and what leaves that, relative to
    the server's link. (Not in the paper, whose hops are switches.)
    """
    loss_decrease: float = 0.5
    """What a loss takes of the window, once in a round trip: half, as in TCP; not in the paper."""
    min_cwnd: float = 0.001
    """Minimum congestion window, packets."""
    max_cwnd: float | None = None
    """Maximum congestion window, packets. Absent: the sender's link times `base_rtt`."""
    initial_cwnd: float | None = None
    """Window of a new connection, packets. Absent: the sender's link times `base_rtt` over the
    number of its connections, which all may be active.
    """


Control: TypeAlias = Annotated[
    SwiftControl | DctcpControl | TimelyControl | DcqcnControl | HpccControl,
    Field(discriminator="kind"),
]
"""A congestion control."""


class Rivals(Model):
    """Senders that differ from the others. What is absent is as for those."""

    senders: UInt32
    """How many of the senders: the last ones."""
    read: Size | None = None
    """Bytes of a read from them."""
    read_mix: list[ReadShare] | None = None
    """Sizes of reads from them, if there are several. With `read`, they have only that."""
    open_reads: UInt32 | None = None
    """Reads that a thread keeps open on each connection with them."""
    load: BitRate | None = None
    """Payload that is wanted from each of them in a second."""
    think: Duration | None = None
    """Mean time before the next read from them."""
    striped: bool | None = None
    """Whether blocks are striped over them. They never share a block with the other senders."""
    start: Duration | None = None
    """When they begin to be read from, counted from the beginning of the run, of which the warm-up
    is a part. Absent: at once.
    """
    stop: Duration | None = None
    """When no more reads are asked for, counted in the same way; those that are open are completed.
    Absent: never.
    """
    delay: Duration | None = None
    """One-way delay from them to the server without queueing."""
    sender_link: BitRate | None = None
    """Rate of the link of each of them."""
    control: Control | None = None
    """Their congestion control."""


class ClosedLoopTraffic(Model):
    """No rate of its own: machines behind a switch answer the server's reads, under a congestion
    control that the server's acknowledgements drive.
    """

    kind: Literal["closed-loop"] = "closed-loop"
    senders: UInt32
    """Number of sending machines."""
    read: Size | None = None
    """Bytes of a read; required unless there is `read_mix`."""
    read_mix: list[ReadShare] | None = None
    """Sizes of reads, if there are several: each is drawn in proportion to its weight, and `read`
    has no effect. Needs a stack that copies packets when they arrive (`tenants.N.app.copied`).
    """
    open_reads: UInt32 = 1
    """Reads that a thread keeps open on each connection; with `load`, at most."""
    load: BitRate | None = None
    """Payload that all threads together want from each sender in a second: independent users want
    reads at exponentially distributed intervals, whether those before are complete or not. Those
    for which no open read is left wait, which is part of their latency. At most what the sender's
    link carries. Absent: the next is wanted when one is complete.
    """
    think: Duration = "0 ps"
    """Mean time from the completion of a read, or of a striped block, to the request for the next;
    it is exponentially distributed.
    """
    striped: bool = False
    """Whether a thread reads blocks that are striped over the senders (over rivals and others
    apart): it asks all of them at once for a read, and for the next only when all have answered
    (incast).
    """
    payload: Size
    """Payload of a packet; a read is a whole number of packets."""
    headers: Size
    """Bytes of headers before the payload; they land in the buffer as well."""
    acknowledgement: Size
    """Frame size of an acknowledgement, including any request for the next read."""
    network: Network
    """The network between senders and server."""
    recovery: Recovery = Field(default_factory=Recovery)
    """When a packet is retransmitted."""
    control: Control
    """The congestion control."""
    rivals: Rivals | None = None
    """Senders that differ from the others, in their congestion control, in what is read from them
    and when, or in their way to the server: which gets what.
    """
    watched: UInt32 = 0
    """Of how many senders the time series shows the congestion window individually, that of their
    connection to the first queue: of all if there are fewer; with rivals, of as many of them, too.
    """


Traffic: TypeAlias = Annotated[
    ConstantTraffic
    | PoissonTraffic
    | BurstsTraffic
    | ReplayTraffic
    | BacklogTraffic
    | ClosedLoopTraffic,
    Field(discriminator="kind"),
]
"""The traffic that reaches the NIC."""


Direction: TypeAlias = Literal["read", "write"]
"""The direction of a DMA. `read`: From host memory to the device. `write`: From the device to host
memory.
"""


class DmaBench(Model):
    """Transactions of one size at random offsets in a window of host memory, as many in flight as
    the credits of the NIC and the PCIe link allow.
    """

    direction: Direction
    """Whether the device reads or writes."""
    size: Size
    """Bytes per transaction: whole cache lines, at most a small page."""
    window: Size
    """Size of the memory window in which the transactions lie, each aligned to its size."""
    interval: Duration = "0 ps"
    """Time that the device itself needs for a transaction: the next begins as long after the one
    before, or later if that waits for credits or the link.
    """
    overhead: Duration = "0 ps"
    """Extra time that a read takes inside the device, which holds the read tags for that much
    longer.
    """
    warm: bool = False
    """Whether the cores have touched the window beforehand, so that the LLC holds as much of it as
    it can, in the ways that core 0 may use.
    """


Policy: TypeAlias = Literal["dma", "ddio", "ddio-headers", "ddio-l2", "ideal-ddio"]
"""A placement policy for DMA writes of the NIC. `dma`: To memory; cached copies are invalidated.
`ddio`: To the LLC: updated in place if the LLC holds the line in any way, otherwise allocated in
the I/O ways. `ddio-headers`: The first lines of each packet (its headers), descriptors and
completions as `ddio`; the other lines of packets as `dma`. `ddio-l2`: As `ddio`; lines of packets
also go up into the L2 of the core that will read them, unless many packets wait for it.
`ideal-ddio`: To a separate, infinite cache: received packets never take part in the LLC or in
memory traffic (Sweeper paper, section III).
"""


class DdioHeadersKeys(Model):
    """What only `ddio-headers` reads."""

    lines: UInt32 = 1
    """How many lines of a packet, from its first, go the way of DDIO. Headers of Ethernet, IPv4 and
    UDP have 42 B, with TCP and its timestamps 66.
    """


class DdioL2Keys(Model):
    """What only `ddio-l2` reads."""

    packets: UInt32 = 64
    """A packet goes up to the core's L2 while fewer packets than this wait for the core in its
    queue. By default two bursts of the 32 packets that DPDK's examples take at a time: one that the
    core works on, one that waits.
    """


class Placement(Model):
    """Where the data of received packets goes."""

    policy: Policy
    """The policy."""
    io_ways: UInt32 = 2
    """Number of LLC ways in which `ddio`, `ddio-headers` and `ddio-l2` may allocate, and in which
    `ideal-ddio` may allocate data other than packets; they are the lowest-numbered ways. No effect
    with `dma`.
    """
    sweeper: bool = False
    """Whether consumed buffers are swept (the `clsweep` instruction and the `SweepBuffer` flag of
    transmit work-queue entries).
    """
    ddio_headers: DdioHeadersKeys = Field(default_factory=DdioHeadersKeys)
    """What only `policy = "ddio-headers"` reads."""
    ddio_l2: DdioL2Keys = Field(default_factory=DdioL2Keys)
    """What only `policy = "ddio-l2"` reads."""


MemoryNode: TypeAlias = Literal["local", "remote"]
"""A node of memory, as the cores and the NIC see it. `local`: The channels of the socket that the
cores and the NIC are on. `remote`: The channels of the other socket, which `machine.numa`
describes.
"""


Pool: TypeAlias = Literal["ring", "stack"]
"""Order in which freed buffers are reused. `ring`: First in, first out: all buffers are used in
turn (`rte_ring`). `stack`: Last in, first out: the most recently freed buffer, still in cache, is
used next (`rte_stack`).
"""


Start: TypeAlias = Literal["scattered", "dealt", "shuffled"]
"""Where the queues' buffers lie, and where their pools start, at the beginning of the run.
`scattered`: Each pool starts at an independent random position, as in a server that has run for a
while. `dealt`: All queues share one region, dealt out in memory order: first the rings of all
queues, one after another, then the remaining buffers of each queue. This is how DPDK sets up ports
on one mempool, whose per-core caches then keep the buffers apart. `shuffled`: Each queue has its
own region with its buffers, including transmit buffers, in random order, as in a server that has
run for a long time: packets are freed in a different order than they arrived, so an initial memory
order is lost after some rounds.
"""


class Queues(Model):
    """The queues of each core that serves packets."""

    rx_descriptors: UInt32
    """Receive descriptors, each with a buffer posted to the NIC."""
    memory: MemoryNode = "local"
    """Which socket's memory holds the rings and buffers."""
    buffer_size: Size
    """Bytes of a receive buffer for packet data."""
    headroom: Size = "0 B"
    """Bytes left free before the data, for headers (`RTE_PKTMBUF_HEADROOM` is 128)."""
    metadata: Size = "0 B"
    """Bytes of the driver's metadata before each buffer (`struct rte_mbuf` is 128); 0 for none."""
    object_header: Size = "0 B"
    """Bytes before the metadata that the pool uses itself and never touches while packets flow; 0
    for none. A DPDK mempool puts a 64-byte header before each object.
    """
    pool: Pool = "ring"
    """Order in which freed buffers are reused."""
    start: Start = "scattered"
    """Where each queue's buffers lie, and where its pool starts, at the beginning of the run."""
    pool_buffers: UInt32 | None = None
    """Buffers in each core's pool; at least `rx_descriptors`, which is the default, and more than
    an application keeps.
    """
    tx_descriptors: UInt32
    """Transmit descriptors."""
    tx_backlog: UInt32 = 0
    """Packets that the software of a core keeps in a queue of its own while all transmit
    descriptors are in use. When that is full too, the core takes no more packets (FastClick's
    `IQUEUE` with `BLOCKING`).
    """
    burst: UInt32 = 1
    """Packets that a core takes from its queue at a time (`rte_eth_rx_burst` uses 32). What a burst
    costs whatever its size is `burst_instructions`.
    """
    post_batch: UInt32 = 1
    """Used descriptors that accumulate before the driver posts new buffers."""
    tx_completion_batch: UInt32 = 1
    """Packets sent per completion that the NIC writes; the driver frees them together."""
    burst_instructions: UInt32 = 0
    """Driver instructions for each poll that takes packets, however many: its calls, its doorbells
    and the loop around it. Polls that find nothing take none.
    """
    rx_instructions: UInt32
    """Driver instructions to receive one packet, in addition to its memory accesses."""
    tx_instructions: UInt32
    """Driver instructions to transmit one packet, in addition to its memory accesses."""


Sharing: TypeAlias = Literal["shared", "per-core"]
"""Whether the cores of a tenant share a data structure. `shared`: One for all cores. `per-core`:
One for each core, with equal contents.
"""


Share: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9_]+(\.[0-9]+)? *(?:(%))$", examples=["95 %"])
]
"""Text such as "95 %"; units %."""


Requests: TypeAlias = Literal["drawn", "from-size"]
"""What determines whether a packet is a GET or a SET. `drawn`: The simulated client draws the
operation, and the packet has the size that it needs. `from-size`: The traffic determines the size,
and the size determines the operation: for replayed captures.
"""


class Spike(Model):
    """A processing delay that affects requests at random."""

    probability: Share
    """Share of requests that are delayed."""
    min: Duration
    """The shortest delay; delays are uniform in whole nanoseconds."""
    max: Duration
    """The longest delay, at most 4 s."""


class KvsApp(Model):
    """A MICA-style key-value store."""

    kind: Literal["kvs"] = "kvs"
    stores: Sharing = "shared"
    """Whether the cores share one store (MICA's CRCW mode) or have one each, populated identically
    (HERD, MICA's EREW mode). With one each, a request goes to the store of the core that receives
    it.
    """
    keys: UInt32 = 2400000
    """Key-value pairs with which each store is populated."""
    buckets: UInt32 = 1048576
    """Buckets of each store's index, one cache line each; a power of two."""
    log: Size = "256 MiB"
    """Capacity of each store's circular log; a power of two."""
    item: Size = "1 KiB"
    """Bytes of a request that carries a value, of an answer that carries one, and of a log entry:
    20 bytes of key, opcode and length, plus the value. The paper's "1KB items" come in packets of
    "commensurate" size, and its buffers of 1 KB hold one packet (section IV-A), so the header is
    counted as part of the item.
    """
    zipf: float = 0.99
    """Exponent of the Zipf distribution of key popularity; 0 is uniform."""
    gets: Share = "5 %"
    """Share of GETs; the rest are SETs."""
    requests: Requests = "drawn"
    """What determines whether a packet is a GET or a SET."""
    set_from: Size = "128 B"
    """With `requests = "from-size"`: packets of at least this size are SETs, and carry a value that
    fills them.
    """
    network_header: Size = "0 B"
    """Bytes of network headers before the request in a packet. None by default: in the paper, the
    NIC terminates the transport (appendix). UDP over IPv4 over Ethernet has 42.
    """
    request_instructions: UInt32 = 200
    """Instructions per request in addition to those counted per access and per copied line:
    polling, parsing, scanning the bucket, comparing the key, building and posting the answer. 200
    is an estimate from reading HERD's `mica_batch_op`: some 40 for the eight slots, 60 for the rest
    of its three loops, 100 for receiving and sending.
    """
    copy_instructions_per_line: UInt32 = 4
    """Instructions to copy one cache line in addition to its first load and its first store. A
    `memcpy` with 32-byte AVX moves needs one more load, one more store and two for the loop.
    """
    spike: Spike | None = None
    """Processing delays that some requests suffer (Sweeper paper, section VI-F)."""


Destinations: TypeAlias = Literal["per-packet", "per-flow"]
"""What determines the rule under which a packet's destination falls; rules are drawn uniformly.
`per-packet`: Each packet has its own destination: how packets spread over cores and how much of the
table is in use are independent. `per-flow`: All packets of a flow have one destination, as those of
a real flow do: a core looks up only the rules of its own flows, and those of frequent flows more
often.
"""


Transmit: TypeAlias = Literal["copy", "zero-copy"]
"""How a packet gets from the receive queue to the transmit queue. `copy`: Copied into a transmit
buffer; the receive buffer is relinquished at once. `zero-copy`: The receive buffer itself is
transmitted.
"""


class L3fwdApp(Model):
    """A forwarder of IPv4 packets by longest-prefix match."""

    kind: Literal["l3fwd"] = "l3fwd"
    tables: Sharing = "shared"
    """Whether the cores share one table, like the lcores of a DPDK process, or have one each."""
    rules: UInt32 = 16384
    """Number of random rules in the table. 16384 rules touch about as many cache lines of the
    table: 1 MB, which "barely fit in each core's private L2" (appendix). DPDK's l3fwd comes with 8,
    which stay in the L1d, as the paper's data set does in section VI-E.
    """
    shortest_prefix: UInt32 = 24
    """Bits of the shortest prefix; lengths are distributed uniformly. DPDK's l3fwd has prefixes of
    24 bits.
    """
    longest_prefix: UInt32 = 24
    """Bits of the longest prefix. Beyond 24 bits a look-up reads a second table."""
    destinations: Destinations = "per-packet"
    """What determines the rule under which a packet's destination falls."""
    transmit: Transmit = "copy"
    """How a packet gets from the receive queue to the transmit queue."""
    packet_instructions: UInt32 = 50
    """Instructions per packet in addition to those counted per access and per copied line: parsing,
    the address arithmetic of the look-up, TTL, checksum, MAC addresses and queueing for transmit.
    50 is an estimate from reading `l3fwd_lpm_simple_forward` of DPDK's l3fwd.
    """
    copy_instructions_per_line: UInt32 = 4
    """Instructions to copy one cache line in addition to its first load and its first store: one
    more 32-byte AVX load, one more store and two for the loop.
    """


class L2fwdApp(Model):
    """A forwarder that swaps MAC addresses."""

    kind: Literal["l2fwd"] = "l2fwd"
    packet_instructions: UInt32 = 20
    """Instructions per packet in addition to the load and the store: moving two 6-byte addresses
    through registers, and the element's share of the loop over the batch. 20 is an estimate from
    reading Click's `EtherMirror::simple_action`.
    """


CopyTime: TypeAlias = Literal["on-arrival", "on-completion"]
"""When payload is copied to the application's memory. `on-arrival`: Each packet when it arrives, to
its place in the memory of its read: the application has such memory for every open read.
`on-completion`: All packets of a read when it is complete. They wait in their receive buffers until
then. A thread copies all its reads to the same memory: the application is done with one before the
next is copied. The last packet is acknowledged after the copy, which is part of its delay in the
server.
"""


class SnapApp(Model):
    """A user-space network stack that reads from other machines; needs closed-loop traffic."""

    kind: Literal["snap"] = "snap"
    packet_instructions: UInt32 = 2000
    """Instructions per packet, without its copy: transport, scheduling of the engine, hand-over to
    the application. The papers give no count; a scenario calibrates it on a throughput.
    """
    copy_instructions_per_line: UInt32 = 4
    """Instructions per copied line in addition to the load and the store: an estimate from an
    unrolled loop of 32-byte moves, as for the key-value store.
    """
    copied: CopyTime = "on-arrival"
    """When payload is copied to the application's memory."""


Kernels: TypeAlias = Literal["all", "copy", "scale", "add", "triad"]
"""Which loops a core runs. `all`: All four in turn, as the benchmark does: for every ten lines read
(four of them by stores), four are written. `copy`: `c = a` alone. `scale`: `b = q c` alone. `add`:
`c = a + b` alone. `triad`: `a = b + q c` alone.
"""


class StreamApp(Model):
    """The STREAM benchmark on each core, without network traffic."""

    kind: Literal["stream"] = "stream"
    array: Size = "78125 KiB"
    """Bytes of each of a core's three arrays; the default is STREAM's own, 10 million doubles."""
    kernel: Kernels = "all"
    """Which of the loops to run."""
    vector: Size = "32 B"
    """Bytes of a vector register: 32 is what compilers use on the Skylake server (GCC and LLVM
    prefer 256 bits there).
    """


Pattern: TypeAlias = Literal["random-chained", "random", "sequential"]
"""Order of the accesses. `random-chained`: A chain of pointers through all words of the region in
random order; each access waits for the last. `random`: Independent random words. `sequential`: Word
by word, again and again.
"""


class XmemApp(Model):
    """A memory benchmark without network traffic."""

    kind: Literal["xmem"] = "xmem"
    region: Size = "2 MiB"
    """Region of each core: "a private 2MB dataset" (Sweeper paper, section VI-E)."""
    pattern: Pattern = "random-chained"
    """Order of the accesses."""
    writes: Share = "0 %"
    """Share of accesses that write."""


App: TypeAlias = Annotated[
    KvsApp | L3fwdApp | L2fwdApp | SnapApp | StreamApp | XmemApp, Field(discriminator="kind")
]
"""The application of a tenant."""


class CoreRange(Model):
    """Consecutive cores."""

    first: UInt32
    """The first core, from 0."""
    count: UInt32
    """Number of cores; a memory benchmark may have none, as the baseline of a comparison."""


class WayRange(Model):
    """Consecutive LLC ways."""

    first: UInt32
    """The first way, from 0. The I/O ways are the lowest ones here and the highest on Intel's
    processors: way `i` is bit `ways - 1 - i` of a CAT mask.
    """
    count: UInt32
    """Number of ways."""


class Tenant(Model):
    """An application on some cores."""

    name: str
    """Name, as shown in results."""
    app: App
    """The application that it runs."""
    cores: CoreRange
    """First core and number of cores."""
    llc_ways: WayRange | None = None
    """LLC ways in which these cores may allocate, as first way and number of ways. Absent: all
    ways.
    """
    memory: MemoryNode = "local"
    """Which socket's memory holds the application's own data. Its cores are on the NIC's socket all
    the same: of an application that is moved to the other socket with its memory, nothing is left
    here (`cores.count = 0`).
    """


UInt64: TypeAlias = Annotated[int, Field(ge=0, le=18446744073709551615)]


class Run(Model):
    """Length and random seed of a run."""

    seed: UInt64 = 1
    """Seed of all random numbers of the run."""
    warmup: Duration
    """Simulated time before anything is counted, in which caches and queues fill."""
    duration: Duration
    """Simulated time that is measured."""
    sample: Duration = "20 us"
    """Interval of the time series. What remains of `duration` after the last whole interval is in
    no sample.
    """


class Slo(Model):
    """The service-level objective that a peak must meet."""

    p99_service_times: UInt32 = 100
    """The 99th percentile of latency must be at most this many mean service times (Sweeper paper,
    appendix: 100). The service time is that at the rate with which the search begins: half of the
    scenario's rate, or less if the link or the server cannot carry that.
    """
    p99: Duration | None = None
    """The 99th percentile of latency must be at most this; replaces `p99_service_times`."""
    drops: Share = "0 %"
    """At most this share of the packets may be dropped."""


class Scenario(Model):
    """One run."""

    machine: Machine
    """The server. In a file: `base = "name of a machine file"` and any keys that differ from it."""
    traffic: Traffic | None = None
    """The traffic that arrives; absent for a run without packets."""
    dma_bench: DmaBench | None = None
    """A benchmark that the device runs instead of receiving packets."""
    placement: Placement
    """Where the data of received packets goes."""
    queues: Queues
    """The receive and transmit queues of each core that serves packets."""
    tenants: list[Tenant]
    """The software: which applications run on which cores."""
    run: Run
    """Length and random seed of the run."""
    slo: Slo = Field(default_factory=Slo)
    """The objective that a peak search must meet."""
    _origin: Origin = PrivateAttr(default_factory=Origin)
