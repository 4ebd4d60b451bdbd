//! Configuration of a key-value store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store::HEADER_BYTES;
use crate::apps::config::{Idle, Room, Settings};
use crate::apps::sharing::{ONE_CORE, Sharing};
use crate::check::Check;
use crate::memory::line::LINE_BYTES;
use crate::transport::config::ClosedLoopConfig;
use crate::units::{Duration, Share, Size};

const LONGEST_SPIKE: Duration = Duration(4_000_000_000_000);

/// A MICA-style key-value store. The defaults are the workload of the Sweeper paper (appendix,
/// "Workload configurations"), in one store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KvsConfig {
    /// Whether the cores share one store (MICA's CRCW mode) or have one each, populated identically
    /// (HERD, MICA's EREW mode). With one each, a request goes to the store of the core that
    /// receives it.
    pub stores: Sharing,
    /// Key-value pairs with which each store is populated.
    pub keys: u32,
    /// Buckets of each store's index, one cache line each; a power of two.
    pub buckets: u32,
    /// Capacity of each store's circular log; a power of two.
    pub log: Size,
    /// Bytes of a request that carries a value, of an answer that carries one, and of a log entry:
    /// 20 bytes of key, opcode and length, plus the value. The paper's "1KB items" come in packets
    /// of "commensurate" size, and its buffers of 1 KB hold one packet (section IV-A), so the
    /// header is counted as part of the item.
    pub item: Size,
    /// Exponent of the Zipf distribution of key popularity; 0 is uniform.
    pub zipf: f64,
    /// Share of GETs; the rest are SETs.
    pub gets: Share,
    /// What determines whether a packet is a GET or a SET.
    pub requests: Requests,
    /// With `requests = "from-size"`: packets of at least this size are SETs, and carry a value
    /// that fills them.
    pub set_from: Size,
    /// Bytes of network headers before the request in a packet. None by default: in the paper, the
    /// NIC terminates the transport (appendix). UDP over IPv4 over Ethernet has 42.
    pub network_header: Size,
    /// Instructions per request in addition to those counted per access and per copied line:
    /// polling, parsing, scanning the bucket, comparing the key, building and posting the answer.
    /// 200 is an estimate from reading HERD's `mica_batch_op`: some 40 for the eight slots, 60 for
    /// the rest of its three loops, 100 for receiving and sending.
    pub request_instructions: u32,
    /// Instructions to copy one cache line in addition to its first load and its first store. A
    /// `memcpy` with 32-byte AVX moves needs one more load, one more store and two for the loop.
    pub copy_instructions_per_line: u32,
    /// Processing delays that some requests suffer (Sweeper paper, section VI-F).
    pub spike: Option<Spike>,
}

impl Default for KvsConfig {
    fn default() -> KvsConfig {
        KvsConfig {
            stores: Sharing::Shared,
            keys: 2_400_000,
            buckets: 1 << 20,
            log: Size(256 << 20),
            item: Size(1024),
            zipf: 0.99,
            gets: Share(5_000),
            requests: Requests::Drawn,
            set_from: Size(128),
            network_header: Size(0),
            request_instructions: 200,
            copy_instructions_per_line: 4,
            spike: None,
        }
    }
}

/// What determines whether a packet is a GET or a SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// The simulated client draws the operation, and the packet has the size that it needs.
    Drawn,
    /// The traffic determines the size, and the size determines the operation: for replayed captures.
    FromSize,
}

/// A processing delay that affects requests at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spike {
    /// Share of requests that are delayed.
    pub probability: Share,
    /// The shortest delay; delays are uniform in whole nanoseconds.
    pub min: Duration,
    /// The longest delay, at most 4 s.
    pub max: Duration,
}

impl Settings for KvsConfig {
    fn check(&self, check: &mut Check) {
        check.that((1..=1 << 26).contains(&self.keys), "keys", self.keys, "1 to 67108864");
        check.that(
            self.buckets.is_power_of_two() && self.buckets <= 1 << 24,
            "buckets",
            self.buckets,
            "a power of two up to 16777216 (HERD's limit)",
        );
        // At least 1 MiB, so that the log holds several of the largest entries. At most 16 GiB, and
        // 64 GiB of items: populating and warming take less than the 256 GiB after which offsets are
        // renumbered.
        check.that(
            self.log.0.is_power_of_two() && (1 << 20..=1 << 34).contains(&self.log.0),
            "log",
            self.log,
            "a power of two from 1 MiB to 16 GiB",
        );
        check.that(
            (u64::from(HEADER_BYTES) + 1..=32 << 10).contains(&self.item.0),
            "item",
            self.item,
            "21 B to 32 KiB",
        );
        check.that(
            u128::from(self.keys) * u128::from(self.item.0) <= 1 << 36,
            "item",
            self.item,
            "at most 64 GiB in all (keys x item)",
        );
        check.that((0.0..=4.0).contains(&self.zipf), "zipf", self.zipf, "0 to 4");
        check.that(self.gets <= Share::WHOLE, "gets", self.gets, "0 % to 100 %");
        check.that(
            self.network_header.0 <= LINE_BYTES - u64::from(HEADER_BYTES),
            "network_header",
            self.network_header,
            "0 B to 44 B (network and request header share the first cache line)",
        );
        check.that(
            self.set_from.0 > self.network_header.0.saturating_add(HEADER_BYTES.into()),
            "set_from",
            self.set_from,
            "more than network_header and 20 B of request header",
        );
        if let Some(spike) = &self.spike {
            check.that(
                spike.probability <= Share::WHOLE,
                "spike.probability",
                spike.probability,
                "0 % to 100 %",
            );
            check.within("spike.min", spike.min, Duration(0)..=LONGEST_SPIKE);
            if spike.min <= LONGEST_SPIKE {
                let what = ", the first being spike.min";
                check.within_what("spike.max", spike.max, spike.min..=LONGEST_SPIKE, what);
            }
        }
    }

    fn bytes(&self, cores: u32, _closed_loop: Option<&ClosedLoopConfig>) -> u128 {
        let store = u128::from(self.log.0) + u128::from(self.buckets) * u128::from(LINE_BYTES);
        store * u128::from(self.stores.copies(cores))
    }

    fn draws_requests(&self) -> bool {
        self.requests == Requests::Drawn
    }

    /// Its client chooses the sizes of drawn requests whatever the traffic says; the buffers of its answers are as large
    /// as those of requests.
    fn check_messages(&self, check: &mut Check, frame: Room, buffer: Room) {
        let (of, room) = if self.draws_requests() { frame } else { buffer };
        if self.item.0.saturating_add(self.network_header.0) > room.0 {
            let most = Size(room.0.saturating_sub(self.network_header.0));
            let allowed =
                format!("at most {most}: with network_header it has to fit {of} ({room})");
            check.refuse("item", self.item, allowed);
        }
    }

    fn without_effect(&self, cores: u32) -> Vec<Idle> {
        let mut keys = vec![if self.draws_requests() {
            ("set_from", "only app.requests = \"from-size\" tells a SET by its size")
        } else {
            ("gets", "app.requests = \"from-size\" tells a GET by its size")
        }];
        if cores == 1 {
            keys.push(("stores", ONE_CORE));
        }
        if self.spike.as_ref().is_some_and(|s| s.probability.0 == 0) {
            let because = "app.spike.probability is 0 %";
            keys.extend([("spike.min", because), ("spike.max", because)]);
        }
        keys
    }
}
