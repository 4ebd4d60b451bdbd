//! The scenario: a machine, the traffic, the software on it, and what is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::units::{Duration, Share, Size};
use crate::apps::config::AppConfig;
use crate::memory::line::MemoryNode;
use crate::nic::dma_bench::DmaBench;
use crate::wire::config::TrafficConfig;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The server. In a file: `base = "name of a machine file"` and any keys that differ from it.
    pub machine: Machine,
    /// What arrives; absent for a run without packets.
    #[serde(default)]
    pub traffic: Option<TrafficConfig>,
    /// A benchmark that the device runs instead of receiving packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma_bench: Option<DmaBench>,
    /// Where the data of received packets goes.
    pub placement: Placement,
    /// The receive and transmit queues of each core that serves packets.
    pub queues: Queues,
    /// The software: who runs on which cores.
    pub tenants: Vec<Tenant>,
    /// How long, and from which random numbers.
    pub run: Run,
    /// What a peak search must keep.
    #[serde(default)]
    pub slo: Slo,
}

impl Scenario {
    /// Whether anything lies in the memory of the other socket.
    pub fn uses_remote_memory(&self) -> bool {
        let remote = |memory| memory == MemoryNode::Remote;
        remote(self.queues.memory) || self.tenants.iter().any(|t| remote(t.memory))
    }
}

/// Where the data of received packets goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// The policy.
    pub policy: Policy,
    /// LLC ways in which `ddio` may allocate, and `ideal-ddio` what is no packet: the lowest so many.
    /// Without effect with `dma`.
    #[serde(default = "Placement::default_io_ways")]
    pub io_ways: u32,
    /// Whether consumed buffers are swept (the `clsweep` instruction and the `SweepBuffer` flag of
    /// transmit work-queue entries).
    #[serde(default)]
    pub sweeper: bool,
}

impl Placement {
    /// DDIO's default of two ways (Sweeper paper, section II-A).
    const fn default_io_ways() -> u32 {
        2
    }
}

/// A placement policy for DMA writes of the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// To memory; cached copies are invalidated.
    Dma,
    /// To the LLC: updated in place if present anywhere, else allocated in the I/O ways.
    Ddio,
    /// To an infinite cache of its own: no network data ever takes part in the LLC or in memory
    /// traffic (Sweeper paper, section III).
    IdealDdio,
}

/// The queues of each core that serves packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Receive descriptors, and with them buffers posted to the NIC.
    pub rx_descriptors: u32,
    /// Where rings and buffers lie.
    #[serde(default)]
    pub memory: MemoryNode,
    /// Bytes of a receive buffer for packet data.
    pub buffer_size: Size,
    /// Bytes before the data that are left free for headers (`RTE_PKTMBUF_HEADROOM` is 128).
    #[serde(default)]
    pub headroom: Size,
    /// Bytes of the driver's metadata before each buffer (`struct rte_mbuf` is 128); 0 for none.
    #[serde(default)]
    pub metadata: Size,
    /// Bytes before the metadata that the pool keeps for itself and never touches while packets flow;
    /// 0 for none. A DPDK mempool puts a 64-byte header before each object.
    #[serde(default)]
    pub object_header: Size,
    /// Order in which freed buffers are used again.
    #[serde(default)]
    pub pool: Pool,
    /// Where each queue's buffers lie and its pool stands when the run begins.
    #[serde(default)]
    pub start: Start,
    /// Buffers in each core's pool; at least `rx_descriptors`, which is the default.
    #[serde(default)]
    pub pool_buffers: Option<u32>,
    /// Transmit descriptors.
    pub tx_descriptors: u32,
    /// Packets that the software of a core keeps in a queue of its own while all transmit descriptors
    /// are in use; when that is full too, the core takes no more packets (FastClick's `IQUEUE` with
    /// `BLOCKING`).
    #[serde(default)]
    pub tx_backlog: u32,
    /// Packets a core takes from its queue at a time (`rte_eth_rx_burst` uses 32).
    #[serde(default = "Queues::one")]
    pub burst: u32,
    /// Used descriptors that gather before the driver posts new buffers.
    #[serde(default = "Queues::one")]
    pub post_batch: u32,
    /// Packets sent for each completion that the NIC writes; the driver frees them together.
    #[serde(default = "Queues::one")]
    pub tx_completion_batch: u32,
    /// Instructions of the driver to receive one packet, beyond its memory accesses.
    pub rx_instructions: u32,
    /// Instructions of the driver to transmit one packet, beyond its memory accesses.
    pub tx_instructions: u32,
}

impl Queues {
    /// The same with data so much longer that each buffer's memory is a multiple of `unit` bytes.
    pub(crate) fn in_units_of(&self, unit: u64) -> Queues {
        let before = self.object_header.0 + self.metadata.0 + self.headroom.0;
        let all = (before + self.buffer_size.0).next_multiple_of(unit);
        Queues { buffer_size: Size(all - before), ..self.clone() }
    }

    const fn one() -> u32 {
        1
    }
}

/// Order in which freed buffers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// First in, first out: every buffer takes its turn (`rte_ring`).
    #[default]
    Ring,
    /// Last in, first out: the buffer freed last, still warm, is used next (`rte_stack`).
    Stack,
}

/// Where the buffers of the queues lie and their pools stand when the run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At independent random places, as in a server that has run for a while.
    #[default]
    Scattered,
    /// All queues share one region, dealt out in the order of memory: first the rings of all queues,
    /// one after the other, then what else each of them holds. As DPDK sets up ports on one mempool,
    /// whose per-core caches then keep the buffers apart.
    Dealt,
    /// Each queue has its own region, and its buffers are in random order, those to transmit from too, as
    /// in a server that has run for long: packets are freed in another order than they came, so that what
    /// starts in the order of memory has lost it after some turns.
    Shuffled,
}

/// An application on some cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    /// Name in results.
    pub name: String,
    /// What it runs.
    pub app: AppConfig,
    /// First core and number of cores.
    pub cores: CoreRange,
    /// LLC ways in which these cores may allocate, as first way and number of ways; all unless
    /// given.
    #[serde(default)]
    pub llc_ways: Option<WayRange>,
    /// Where the application's own data lies.
    #[serde(default)]
    pub memory: MemoryNode,
}

/// Consecutive cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreRange {
    /// The first core, from 0.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// Consecutive LLC ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WayRange {
    /// The first way, from 0. The I/O ways are the lowest ones.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// How long, and from which random numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Seed of all random numbers of the run.
    #[serde(default = "Run::default_seed")]
    pub seed: u64,
    /// Simulated time before anything is counted: caches and queues fill.
    pub warmup: Duration,
    /// Simulated time that is measured.
    pub duration: Duration,
    /// Spacing of the time series.
    #[serde(default = "Run::default_sample")]
    pub sample: Duration,
}

impl Run {
    const fn default_seed() -> u64 {
        1
    }
    const fn default_sample() -> Duration {
        Duration(20_000_000)
    }
}

/// The service-level objective that a peak must keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Slo {
    /// The 99th percentile of latency is at most this many mean service times (Sweeper paper,
    /// appendix: 100).
    pub p99_service_times: u32,
    /// At most this share of packets is dropped.
    pub drops: Share,
}

impl Default for Slo {
    fn default() -> Slo {
        Slo { p99_service_times: 100, drops: Share(0) }
    }
}
