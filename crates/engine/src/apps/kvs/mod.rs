//! A MICA-style key-value store: its data structures, its client, and the accesses of a request.
//!
//! One store serves all cores of the tenant, or each core has its own. What one request
//! touches, for the 1-KB items of the Sweeper paper (an item is 16 lines: a packet, a log entry):
//!
//! | | RX loads | index loads | entry loads | log stores | index stores | TX stores | lines |
//! |---|---|---|---|---|---|---|---|
//! | SET in place | 16 | 2 | 1 | 16 | 0 | 1 | 36 |
//! | SET appended | 16 | 2 | 0 | 16 | 2 | 1 | 37 |
//! | GET          |  1 | 2 | 16 | 0 | 0 | 16 | 35 |
//! | GET, missing |  1 | 2 | 0 | 0 | 0 | 1 | 4 |
//!
//! The two index lines are the bucket and the head of the log, which every look-up reads to see
//! whether the log has wrapped over the entry, and which every append advances. Where a slot has
//! the right tag but belongs to another key, one entry load is added. Each number is asserted
//! below.

pub mod config;

mod client;
mod pages;
mod store;
mod zipf;

use self::client::Client;
use self::config::{KvsConfig, Requests};
use self::store::{Found, HEADER_BYTES, Place, Store, entry_lines};
use super::app::{App, Packet, Verdict};
use super::copy::{Lines, copy};
use super::sharing::of_core;
use crate::core::op::{Dep, Op, Ops};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};

/// The smallest packet: one cache line, which is also the smallest Ethernet frame with its FCS.
const MIN_PACKET: u32 = 64;

/// How many times requests refill the log before the run. The populated keys in it are uniformly
/// random; requests replace them by what a FIFO keeps of Zipf traffic. After one round no populated
/// entry is left; after three the share of in-place updates stays within about half a point of its
/// mean (popular keys are appended again at the same place of each round, so the share oscillates
/// with the rounds, ever less). The test `the_store_is_warm` compares it with much later rounds.
const WARMING_ROUNDS: u32 = 3;

/// Maximum number of requests spent on warming, per key: a data set that fits the log appends
/// (almost) nothing, and has nothing to warm either.
const WARMING_REQUESTS_PER_KEY: u64 = 4;

/// What the store has done since its counters were reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counters {
    /// GETs that found their key.
    get_hits: u64,
    /// GETs of keys that the log or the index had lost.
    get_misses: u64,
    /// SETs that updated an entry in place.
    sets_in_place: u64,
    /// SETs that appended an entry to the log.
    sets_appended: u64,
    /// Appends that took the slot of another key still in the log.
    index_evictions: u64,
    /// Requests that suffered a processing delay.
    spikes: u64,
}

/// A store and its place in memory.
#[derive(Clone, Debug)]
struct Shard {
    store: Store,
    /// First line of the buckets.
    index: Line,
    /// First line of the log.
    log: Line,
    /// The line of the store's descriptor that holds the log's head.
    head: Line,
}

impl Shard {
    /// Reserves memory for a populated store.
    fn new(store: Store, space: &mut AddressSpace) -> Shard {
        Shard {
            index: space.reserve(u64::from(store.buckets()) * LINE_BYTES),
            log: space.reserve(u64::from(store.log_lines()) * LINE_BYTES),
            head: space.reserve(LINE_BYTES),
            store,
        }
    }

    /// The line of a key's bucket.
    #[inline]
    fn bucket(&self, key: u32) -> Line {
        self.index + self.store.bucket(key)
    }
}

/// The application.
#[derive(Clone, Debug)]
pub struct Kvs {
    /// One for all cores, or one per core.
    shards: Vec<Shard>,
    client: Client,
    counters: Counters,
    requests: Requests,
    value: u32,
    set_from: u32,
    network_header: u32,
    parse_instructions: u32,
    answer_instructions: u32,
    copy_instructions: u32,
}

impl Kvs {
    /// Populated and warm stores for `cores` cores. The configuration has been checked.
    pub(crate) fn new(config: &KvsConfig, cores: u32, seed: u64, space: &mut AddressSpace) -> Kvs {
        let client = Client::new(config, seed);
        let value = config.item.0 as u32 - HEADER_BYTES;
        let mut store = Store::new(config.keys, config.buckets, config.log.0, seed);
        populate(&mut store, value as u16);
        warm(&mut store, &client, value as u16);
        Kvs {
            shards: (0..config.stores.copies(cores))
                .map(|_| Shard::new(store.clone(), space))
                .collect(),
            client,
            counters: Counters::default(),
            requests: config.requests,
            value,
            set_from: config.set_from.0 as u32,
            network_header: config.network_header.0 as u32,
            // Half of the work comes before the bucket is read, half after the copy.
            parse_instructions: config.request_instructions.div_ceil(2),
            answer_instructions: config.request_instructions / 2,
            copy_instructions: config.copy_instructions_per_line,
        }
    }

    /// The value that the packet carries, if it is a SET.
    fn value_of(&self, packet: &Packet) -> Option<u16> {
        match self.requests {
            Requests::Drawn => (!self.client.is_get(packet.seq)).then_some(self.value as u16),
            Requests::FromSize => (packet.bytes >= self.set_from).then(|| {
                // No frame reaches 64 KiB.
                (packet.bytes - self.network_header - HEADER_BYTES).min(u32::from(u16::MAX)) as u16
            }),
        }
    }

    /// Bytes of a message (request or answer) with a value of `value` bytes.
    fn message_bytes(&self, value: u32) -> u32 {
        (self.network_header + HEADER_BYTES + value).max(MIN_PACKET)
    }

    fn get(&mut self, rank: u32, key: u32, packet: &Packet, ops: &mut Ops) -> u32 {
        let shard = &self.shards[of_core(self.shards.len(), rank)];
        match shard.store.get(key) {
            Found::Live(Place { line, value }) => {
                self.counters.get_hits += 1;
                let entry = shard.log + line;
                // The addresses of the whole entry come from the slot: with the branches on the
                // key and the length predicted, the copy does not wait for the header.
                ops.load(entry, LineKind::App, Dep::After);
                // The request's key has been compared, so nothing reads the packet again.
                ops.relinquish(packet.rx, packet.bytes);
                let bytes = self.message_bytes(value);
                let from = Lines {
                    first: entry,
                    count: entry_lines(value),
                    kind: LineKind::App,
                    dep: Dep::After,
                };
                let to = Lines {
                    first: packet.tx,
                    count: lines_in(u64::from(bytes)),
                    kind: LineKind::Tx,
                    dep: Dep::Free,
                };
                copy(ops, from, to, self.copy_instructions);
                bytes
            }
            other @ (Found::Other { .. } | Found::Nothing) => {
                self.counters.get_misses += 1;
                if let Found::Other { line } = other {
                    ops.load(shard.log + line, LineKind::App, Dep::After);
                }
                ops.relinquish(packet.rx, packet.bytes);
                self.answer_without_value(packet, ops)
            }
        }
    }

    fn set(&mut self, rank: u32, key: u32, value: u16, packet: &Packet, ops: &mut Ops) -> u32 {
        let number = of_core(self.shards.len(), rank);
        let shard = &mut self.shards[number];
        let stored = shard.store.set(key, value);
        let entry = shard.log + stored.line;
        // The entry's address comes from the slot if updated in place, otherwise from the head of the log.
        let dep = if stored.appended {
            self.counters.sets_appended += 1;
            self.counters.index_evictions += u64::from(stored.evicted);
            if let Some(line) = stored.passed {
                ops.load(shard.log + line, LineKind::App, Dep::After);
            }
            ops.store(shard.bucket(key), LineKind::App, Dep::After);
            ops.store(shard.head, LineKind::App, Dep::Free);
            Dep::Free
        } else {
            self.counters.sets_in_place += 1;
            ops.load(entry, LineKind::App, Dep::After);
            Dep::After
        };
        let from = Lines {
            first: packet.rx,
            count: lines_in(u64::from(packet.bytes)),
            kind: LineKind::Rx,
            dep: Dep::Free,
        };
        let to =
            Lines { first: entry, count: entry_lines(u32::from(value)), kind: LineKind::App, dep };
        copy(ops, from, to, self.copy_instructions);
        ops.relinquish(packet.rx, packet.bytes);
        self.answer_without_value(packet, ops)
    }

    fn answer_without_value(&self, packet: &Packet, ops: &mut Ops) -> u32 {
        ops.store(packet.tx, LineKind::Tx, Dep::Free);
        self.message_bytes(0)
    }
}

impl App for Kvs {
    fn on_packet(&mut self, rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict {
        let key = self.client.key(packet.seq);
        ops.load(packet.rx, LineKind::Rx, Dep::Chain);
        ops.compute(self.parse_instructions);
        if let Some(ns) = self.client.spike_ns(packet.seq) {
            self.counters.spikes += 1;
            ops.push(Op::Delay { ns });
        }
        let shard = &self.shards[of_core(self.shards.len(), rank)];
        ops.load(shard.head, LineKind::App, Dep::Free);
        ops.load(shard.bucket(key), LineKind::App, Dep::Chain);
        let bytes = match self.value_of(packet) {
            Some(value) => self.set(rank, key, value, packet, ops),
            None => self.get(rank, key, packet, ops),
        };
        ops.compute(self.answer_instructions);
        Verdict::Reply { bytes }
    }

    fn request_bytes(&self, seq: u64) -> Option<u32> {
        match self.requests {
            Requests::Drawn => {
                let value = if self.client.is_get(seq) { 0 } else { self.value };
                Some(self.message_bytes(value))
            }
            Requests::FromSize => None,
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let c = &self.counters;
        vec![
            ("get_hits", c.get_hits),
            ("get_misses", c.get_misses),
            ("sets_in_place", c.sets_in_place),
            ("sets_appended", c.sets_appended),
            ("index_evictions", c.index_evictions),
            ("spikes", c.spikes),
        ]
    }

    fn progress(&self) -> u64 {
        let c = &self.counters;
        c.get_hits + c.get_misses + c.sets_in_place + c.sets_appended
    }

    fn reset_counters(&mut self) {
        self.counters = Counters::default();
    }
}

/// Inserts every key once, in an order unrelated to popularity: in steps of the golden section of
/// the number of keys, made coprime to it.
fn populate(store: &mut Store, value: u16) {
    let keys = u64::from(store.keys());
    let step = (keys * 618_034 / 1_000_000..)
        .find(|&step| gcd(step, keys) == 1)
        .expect("the number of keys plus one is coprime to it");
    for i in 0..keys {
        store.set((i * step % keys) as u32, value);
    }
}

/// Runs SETs with the client's popularity until log and index are stationary.
fn warm(store: &mut Store, client: &Client, value: u16) {
    let populated = store.appended_lines();
    let enough = WARMING_ROUNDS.saturating_mul(store.log_lines());
    let most = WARMING_REQUESTS_PER_KEY * u64::from(store.keys());
    for n in 0..most {
        if store.appended_lines() - populated >= enough {
            break;
        }
        store.set(client.warming_key(n), value);
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests;
