//! DRAM channels: ranks, bank groups, banks, FR-FCFS.
//!
//! [`Dram`] takes cache-line reads and writes and says when each completes. Every channel has its own
//! controller ([`channel`]), which decides only at the clocks where something can happen. The owner
//! drives it: [`Dram::push`] and [`Dram::advance`] return the time at which the channel wants to be
//! advanced next. See `docs/models/dram.md`.

mod channel;
mod config;
pub(crate) mod device;
mod gaps;
mod lanes;
mod mapping;
mod parts;
mod refresh;
mod requests;
mod stats;
mod timing;
mod trace;
mod unloaded;

use channel::Channel;
use mapping::AddressMap;

pub use config::{Admission, DramConfig, Refresh, RowPolicy, WriteToRead};
pub use mapping::{Field, Mapping, MappingError};
pub use parts::{Density, DeviceWidth};
pub use stats::{ChannelStats, Rows};
pub use timing::{Standard, TimingOverrides, Timings};
pub(crate) use unloaded::UnloadedRead;

use crate::check::{Violation, ensure};
use crate::memory::line::node_of;
use crate::time::Ps;

const READ: usize = 0;
const WRITE: usize = 1;

/// Clocks after its arrival from which on the controller sees a request.
const SEEN_AFTER: u64 = 1;

/// A clock that never comes.
const NEVER: u64 = u64::MAX;

/// The memory of a machine: all its channels. A clone is a snapshot of the whole state.
#[derive(Clone, Debug)]
pub struct Dram {
    map: AddressMap,
    /// Channels per node, and the first channel of the second node: 0 if there is none, so that lines
    /// wrap.
    per_node: usize,
    second: usize,
    admission: Admission,
    channels: Channels,
}

/// All channels, by the number of their blocks of 32 banks: loops over one or two blocks are unrolled.
#[derive(Clone, Debug)]
enum Channels {
    /// Up to 32 banks.
    Few(Vec<Channel<1>>),
    /// Up to 64 banks.
    Medium(Vec<Channel<2>>),
    /// Up to 256 banks.
    Many(Vec<Channel<8>>),
}

/// Evaluates `$do` with the vector of channels.
macro_rules! with {
    ($channels:expr, $vec:ident => $do:expr) => {
        match $channels {
            Channels::Few($vec) => $do,
            Channels::Medium($vec) => $do,
            Channels::Many($vec) => $do,
        }
    };
}

/// A request that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// As given to [`Dram::push`].
    pub tag: u32,
    /// Whether it was a write.
    pub write: bool,
    /// When the last beat of its data is on the bus; this may be in the future. (Its slot in the queue
    /// becomes free earlier.)
    pub at: Ps,
}

impl Dram {
    /// The memory described by `cfg`, all banks closed, at time zero.
    pub fn new(cfg: &DramConfig) -> Result<Dram, Violation> {
        Dram::with_nodes(cfg, 1)
    }

    /// The same memory on each of `nodes` nodes: the channels of the first node come first.
    pub(crate) fn with_nodes(cfg: &DramConfig, nodes: usize) -> Result<Dram, Violation> {
        ensure(|check| cfg.check(check))?;
        let banks = cfg.ranks * cfg.bank_groups * cfg.banks_per_group;
        let per_node = cfg.channels as usize;
        let channels = per_node * nodes;
        Ok(Dram {
            per_node,
            second: channels - per_node,
            admission: cfg.admission,
            map: AddressMap::new(&cfg.mapping, &cfg.geometry()),
            channels: match banks {
                0..=32 => Channels::Few(vec![Channel::new(cfg); channels]),
                33..=64 => Channels::Medium(vec![Channel::new(cfg); channels]),
                _ => Channels::Many(vec![Channel::new(cfg); channels]),
            },
        })
    }

    /// Channels that are scheduled independently (DDR5: subchannels).
    pub fn channels(&self) -> usize {
        with!(&self.channels, c => c.len())
    }

    /// Nodes with channels.
    pub(crate) fn nodes(&self) -> usize {
        self.channels() / self.per_node
    }

    /// Channels of a node.
    pub(crate) fn per_node(&self) -> usize {
        self.per_node
    }

    /// The channel of a line (physical address / 64). Lines beyond the capacity of a node wrap.
    #[inline]
    pub fn channel_of(&self, line: u32) -> usize {
        node_of(line) * self.second + self.map.channel(line)
    }

    /// Whether a channel accepts a read or a write: its queue has room, and with [`Admission::InOrder`]
    /// the other queue has room too.
    #[inline]
    pub fn can_accept(&self, channel: usize, write: bool) -> bool {
        let has_room = |write| with!(&self.channels, c => c[channel].can_accept(write));
        has_room(write) && (self.admission == Admission::Separate || has_room(!write))
    }

    /// Whether reads and writes that a channel does not accept wait for it in one FIFO.
    #[inline]
    pub fn takes_in_order(&self) -> bool {
        self.admission == Admission::InOrder
    }

    /// Hands a request to `channel`, which is that of its line, and returns the time at which the
    /// channel must be advanced next. `now` must not lie before an earlier push or advance of the
    /// channel, nor after the time at which it asked to be advanced.
    ///
    /// # Panics
    /// If the queue is full: ask [`Dram::can_accept`] first.
    #[inline]
    pub fn push(&mut self, now: Ps, channel: usize, line: u32, write: bool, tag: u32) -> Ps {
        debug_assert_eq!(channel, self.channel_of(line), "another channel's line");
        let place = self.map.place(line);
        with!(&mut self.channels, c => c[channel].push(now, line, place, write, tag))
    }

    /// Lets `channel` do everything up to and including `now`, adds what completed to `done`, and
    /// returns the time at which it must be advanced next. That is before the data of any other request
    /// and, when a queue is full, before a slot of it can become free (so ask [`Dram::can_accept`]
    /// again after every advance). It is [`Ps::MAX`] when no request is waiting; an idle channel
    /// catches up on its refreshes when it is used again.
    #[inline]
    pub fn advance(&mut self, channel: usize, now: Ps, done: &mut Vec<Done>) -> Ps {
        with!(&mut self.channels, c => c[channel].advance(now, done))
    }

    /// Lets all channels do everything up to and including `now`, a time at which none has asked to be
    /// advanced. The next [`Dram::advance`] hands out what this completes.
    pub fn catch_up(&mut self, now: Ps) {
        with!(&mut self.channels, c => c.iter_mut().for_each(|channel| { channel.catch_up(now); }));
    }

    /// What `channel` has counted until `now`, to which it must have been advanced or have caught up.
    pub fn stats(&self, channel: usize, now: Ps) -> ChannelStats {
        with!(&self.channels, c => c[channel].stats(now))
    }

    /// Restarts counting in all channels at `now`.
    pub fn reset_stats(&mut self, now: Ps) {
        with!(&mut self.channels, c => c.iter_mut().for_each(|channel| channel.reset_stats(now)));
    }
}

#[cfg(test)]
mod jedec;
#[cfg(test)]
mod tests;
