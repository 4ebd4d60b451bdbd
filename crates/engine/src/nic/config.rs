//! Configuration of the NIC and its queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::frame::MAX_LINK;
use crate::memory::line::{LINE_BYTES, MemoryNode};
use crate::nic::rss::RssConfig;
use crate::units::{BitRate, Rate, Size};

/// The NIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Line rate of the network link. Frames arrive no closer together than the link can carry
    /// them, except those of a backlog. Absent: the link imposes no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<BitRate>,
    /// Packets that the NIC processes in a second in each direction, whatever their size: those that it takes out of
    /// the SRAM, and those that it begins to read for sending. Absent: no limit. (Intel's specification update for
    /// the XL710 has some 37 Mpps, below a size of 160 B; DPDK's guide to bnxt has 30 Mpps for Broadcom's BCM574XX.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_rate: Option<Rate>,
    /// Input SRAM shared by all receive queues; a packet that does not fit is dropped.
    pub sram: Size,
    /// A packet that finds more than this in the SRAM is ECN-marked, as a switch would mark it.
    /// Only `closed-loop` traffic is marked, for a congestion control that reacts to marks. Absent:
    /// no packet is marked. (mlx5 can do this and counts the packets as `rx_prioN_marked`: Linux,
    /// drivers/net/ethernet/mellanox/mlx5/core/en_stats.c.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_threshold: Option<Size>,
    /// Cache lines of DMA writes that can be in flight between the NIC and the memory system: the
    /// credits of the I/O controller.
    pub write_credits: u32,
    /// Cache lines of DMA reads that can be in flight.
    pub read_credits: u32,
    /// Receive descriptors that the NIC fetches at a time into its own descriptor cache.
    pub descriptor_batch: u32,
    /// Bytes of a receive or transmit descriptor in its ring.
    pub descriptor_size: Size,
    /// Bytes of a completion.
    pub completion_size: Size,
    /// Maximum number of receive completions that the NIC combines into one line, while it is busy
    /// with further packets; at most 8 (mlx5's CQE compression packs 8 of 8 bytes into one of 64).
    #[serde(default = "Nic::one")]
    pub completions_per_write: u32,
    /// Maximum number of descriptors of a send queue that the NIC reads at a time, out of those
    /// that the driver has rung for. It reads the next ones once it has the data of all previous
    /// packets. Absent: each descriptor is read together with the data of its packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_descriptor_batch: Option<u32>,
    /// Receive-side scaling.
    #[serde(default)]
    pub rss: RssConfig,
}

impl Nic {
    const fn one() -> u32 {
        1
    }
}

/// The queues of each core that serves packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Receive descriptors, each with a buffer posted to the NIC.
    pub rx_descriptors: u32,
    /// Which socket's memory holds the rings and buffers.
    #[serde(default)]
    pub memory: MemoryNode,
    /// Bytes of a receive buffer for packet data.
    pub buffer_size: Size,
    /// Bytes left free before the data, for headers (`RTE_PKTMBUF_HEADROOM` is 128).
    #[serde(default)]
    pub headroom: Size,
    /// Bytes of the driver's metadata before each buffer (`struct rte_mbuf` is 128); 0 for none.
    #[serde(default)]
    pub metadata: Size,
    /// Bytes before the metadata that the pool uses itself and never touches while packets flow; 0
    /// for none. A DPDK mempool puts a 64-byte header before each object.
    #[serde(default)]
    pub object_header: Size,
    /// Order in which freed buffers are reused.
    #[serde(default)]
    pub pool: Pool,
    /// Where each queue's buffers lie, and where its pool starts, at the beginning of the run.
    #[serde(default)]
    pub start: Start,
    /// Buffers in each core's pool; at least `rx_descriptors`, which is the default, and more than an
    /// application keeps.
    #[serde(default)]
    pub pool_buffers: Option<u32>,
    /// Transmit descriptors.
    pub tx_descriptors: u32,
    /// Packets that the software of a core keeps in a queue of its own while all transmit
    /// descriptors are in use. When that is full too, the core takes no more packets (FastClick's
    /// `IQUEUE` with `BLOCKING`).
    #[serde(default)]
    pub tx_backlog: u32,
    /// Packets that a core takes from its queue at a time (`rte_eth_rx_burst` uses 32). What a burst costs whatever its size
    /// is `burst_instructions`.
    #[serde(default = "Queues::one")]
    pub burst: u32,
    /// Used descriptors that accumulate before the driver posts new buffers.
    #[serde(default = "Queues::one")]
    pub post_batch: u32,
    /// Packets sent per completion that the NIC writes; the driver frees them together.
    #[serde(default = "Queues::one")]
    pub tx_completion_batch: u32,
    /// Driver instructions for each poll that takes packets, however many: its calls, its doorbells and the loop around
    /// it. Polls that find nothing take none.
    #[serde(default)]
    pub burst_instructions: u32,
    /// Driver instructions to receive one packet, in addition to its memory accesses.
    pub rx_instructions: u32,
    /// Driver instructions to transmit one packet, in addition to its memory accesses.
    pub tx_instructions: u32,
}

impl Queues {
    /// Buffers in each core's pool.
    pub(crate) fn buffers(&self) -> u32 {
        self.pool_buffers.unwrap_or(self.rx_descriptors)
    }

    /// The same queues, with `buffer_size` enlarged so that each buffer's memory is a multiple of
    /// `unit` bytes.
    pub(crate) fn in_units_of(&self, unit: u64) -> Queues {
        let before = self.object_header.0 + self.metadata.0 + self.headroom.0;
        let all = (before + self.buffer_size.0).next_multiple_of(unit);
        Queues { buffer_size: Size(all - before), ..self.clone() }
    }

    const fn one() -> u32 {
        1
    }
}

/// Order in which freed buffers are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// First in, first out: all buffers are used in turn (`rte_ring`).
    #[default]
    Ring,
    /// Last in, first out: the most recently freed buffer, still in cache, is used next (`rte_stack`).
    Stack,
}

/// Where the queues' buffers lie, and where their pools start, at the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Each pool starts at an independent random position, as in a server that has run for a while.
    #[default]
    Scattered,
    /// All queues share one region, dealt out in memory order: first the rings of all queues, one
    /// after another, then the remaining buffers of each queue. This is how DPDK sets up ports on
    /// one mempool, whose per-core caches then keep the buffers apart.
    Dealt,
    /// Each queue has its own region with its buffers, including transmit buffers, in random order,
    /// as in a server that has run for a long time: packets are freed in a different order than
    /// they arrived, so an initial memory order is lost after some rounds.
    Shuffled,
}

/// DPDK stores descriptor counts and the size of an mbuf in 16 bits (`rte_eth_rx_queue_setup`,
/// `rte_mbuf.buf_len`).
const MAX_DESCRIPTORS: u32 = 65_535;
const MAX_BUFFER: Size = Size(65_535);

/// With these limits and [`MAX_TRACKERS`], 16 bits can number all lines being read from memory:
/// those that hold a tracker and, besides them, up to this many lines, as many descriptors of
/// packets to send, and a batch of each kind per queue.
///
/// [`MAX_TRACKERS`]: crate::memory::config::MAX_TRACKERS
const MAX_READ_CREDITS: u32 = 8192;
const MAX_BATCH: u32 = 256;

/// Some thirty times what the fastest NICs have.
const MAX_PACKET_RATE: Rate = Rate(10_000_000_000);

/// Far more than NICs have; it is added up over a run, which would be short with more.
const MAX_SRAM: Size = Size(1 << 30);

/// Bytes of the shortest known completion; one write carries at most a line of them. It is mlx5's
/// `struct mlx5_mini_cqe8`, of which `MLX5_MINI_CQE_ARRAY_SIZE` (8) make up a completion of 64
/// bytes (Linux, include/linux/mlx5/device.h; DPDK, drivers/common/mlx5/mlx5_prm.h).
const MINI_COMPLETION: u32 = 8;

impl Nic {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        let sram = self.sram;
        check.within("sram", sram, Size(LINE_BYTES)..=MAX_SRAM);
        if let Some(threshold) = self.ecn_threshold {
            check.within_what("ecn_threshold", threshold, Size(0)..=sram, " (machine.nic.sram)");
        }
        if let Some(link) = self.link {
            check.within_what("link", link, BitRate(1)..=MAX_LINK, ", or no link to have no limit");
        }
        if let Some(rate) = self.packet_rate {
            let what = ", or no packet_rate to have no limit";
            check.within_what("packet_rate", rate, Rate(1)..=MAX_PACKET_RATE, what);
        }
        check.within("read_credits", self.read_credits, 1..=MAX_READ_CREDITS);
        check.within("descriptor_batch", self.descriptor_batch, 1..=MAX_BATCH);
        let what = format!(", the completions of {MINI_COMPLETION} B that fit a line");
        let most = LINE_BYTES as u32 / MINI_COMPLETION;
        check.within_what("completions_per_write", self.completions_per_write, 1..=most, &what);
        if let Some(batch) = self.tx_descriptor_batch {
            check.within("tx_descriptor_batch", batch, 1..=MAX_BATCH);
        }
        // 16 bytes on Intel's 82599, up to 64 on later NICs; entries never straddle a cache line.
        let entries = [8, 16, 32, 64].map(Size);
        check.one_of("descriptor_size", self.descriptor_size, &entries);
        check.one_of("completion_size", self.completion_size, &entries);
        check.below("rss", |check| self.rss.check(check));
    }
}

impl Queues {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        let ring = 1..=MAX_DESCRIPTORS;
        check.within("rx_descriptors", self.rx_descriptors, ring.clone());
        check.within("tx_descriptors", self.tx_descriptors, ring.clone());
        check.within("tx_backlog", self.tx_backlog, 0..=MAX_DESCRIPTORS);
        check.within("buffer_size", self.buffer_size, Size(LINE_BYTES)..=MAX_BUFFER);
        for (key, size) in [
            ("object_header", self.object_header),
            ("headroom", self.headroom),
            ("metadata", self.metadata),
        ] {
            if size > MAX_BUFFER || !size.0.is_multiple_of(LINE_BYTES) {
                let allowed = format!(
                    "a multiple of {LINE_BYTES} B up to {MAX_BUFFER}, so that data begins on a line of its own"
                );
                check.refuse(key, size, allowed);
            }
        }
        if ![self.rx_descriptors, self.tx_descriptors].iter().all(|size| ring.contains(size)) {
            // Checks relative to an impossible ring size would only repeat that error.
            return;
        }
        let ring = self.rx_descriptors;
        if let Some(buffers) = self.pool_buffers
            && buffers < ring
        {
            let allowed =
                format!("at least queues.rx_descriptors ({ring}): each descriptor holds a buffer");
            check.refuse("pool_buffers", buffers, allowed);
        }
        let what = " (queues.rx_descriptors)";
        check.within_what("burst", self.burst, 1..=ring, what);
        check.within_what("post_batch", self.post_batch, 1..=ring, what);
        let what = " (the smaller of queues.rx_descriptors and queues.tx_descriptors): unreported packets hold both";
        let both = 1..=ring.min(self.tx_descriptors);
        check.within_what("tx_completion_batch", self.tx_completion_batch, both, what);
    }
}
