//! Where the queues' buffers lie in memory, and in which order they are first used.

use std::ops::Range;

use super::config::{Queues, Start};
use super::pool::{Buffer, Pool};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, lines_in};
use crate::rng::Rng;
use crate::units::Size;

/// The memory that holds the receive buffers of all queues sharing the region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    first: Line,
    /// Queues that share it, and the number of buffers of each.
    queues: u32,
    buffers: u32,
}

impl Region {
    /// Reserves room for the buffers of `queues` queues, starting on a page of `page` bytes.
    pub(crate) fn new(
        config: &Queues,
        queues: u32,
        page: Size,
        space: &mut AddressSpace,
    ) -> Region {
        let buffers = config.buffers();
        let all = u64::from(buffer_lines(config)) * u64::from(buffers) * u64::from(queues);
        Region { first: space.reserve_on(page, all * LINE_BYTES), queues, buffers }
    }

    /// In a dealt region: the buffers that a queue's ring starts with, and its remaining buffers.
    fn dealt(&self, config: &Queues, rank: u32) -> [Range<Buffer>; 2] {
        let ring = config.rx_descriptors;
        let spare = self.buffers - ring;
        let first = ring * self.queues + rank * spare;
        [rank * ring..(rank + 1) * ring, first..first + spare]
    }

    /// Assigns the buffers dealt to a queue to the current owner.
    pub(crate) fn give(&self, config: &Queues, rank: u32, space: &mut AddressSpace) {
        let dealt = self.dealt(config, rank).into_iter().filter(|buffers| !buffers.is_empty());
        for buffers in dealt {
            space.give(self.first + buffers.start * buffer_lines(config));
        }
    }

    /// The pool of one of the queues: the buffers that its ring starts with, then the others.
    pub(super) fn pool(&self, config: &Queues, rank: u32, stream: &mut Rng) -> Pool {
        match config.start {
            Start::Dealt => {
                let [ring, spare] = self.dealt(config, rank);
                Pool::new(config.pool, ring.chain(spare))
            }
            Start::Scattered => {
                let at = stream.below(self.buffers);
                let base = rank * self.buffers;
                let end = base + self.buffers;
                Pool::new(config.pool, (base + at..end).chain(base..base + at))
            }
            Start::Shuffled => {
                let base = rank * self.buffers;
                let mut order: Vec<Buffer> = (base..base + self.buffers).collect();
                shuffle(&mut order, stream);
                Pool::new(config.pool, order.into_iter())
            }
        }
    }
}

/// Fisher–Yates shuffle.
fn shuffle(order: &mut [u32], stream: &mut Rng) {
    for last in (1..order.len()).rev() {
        order.swap(last, stream.below(last as u32 + 1) as usize);
    }
}

/// Where the parts of a queue's receive buffers lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    first: Line,
    /// Lines of one buffer, and those before its data.
    lines: u32,
    before_data: u32,
    /// Lines before the driver's metadata, if there is any.
    before_metadata: Option<u32>,
}

impl Layout {
    pub(super) fn new(config: &Queues, region: Region) -> Layout {
        let before_metadata = lines_in(config.object_header.0);
        Layout {
            first: region.first,
            lines: buffer_lines(config),
            before_data: lines_in(data_start(config)),
            before_metadata: (config.metadata.0 > 0).then_some(before_metadata),
        }
    }

    /// First line of a buffer's data.
    pub(crate) fn data(&self, buffer: Buffer) -> Line {
        self.first + buffer * self.lines + self.before_data
    }

    /// The lines of a buffer that are for data.
    pub(crate) fn data_lines(&self, buffer: Buffer) -> Range<Line> {
        let first = self.data(buffer);
        first..first + self.lines - self.before_data
    }

    /// First line of a buffer's driver metadata, if there is any.
    pub(crate) fn metadata(&self, buffer: Buffer) -> Option<Line> {
        let before_metadata = self.before_metadata?;
        Some(self.first + buffer * self.lines + before_metadata)
    }
}

/// The transmit buffers of a queue, which are used in turn.
#[derive(Clone, Debug)]
pub(crate) struct TransmitBuffers {
    /// First lines, in the order of use.
    first_lines: Vec<Line>,
    lines: u32,
    next: u32,
    /// The one that the driver reclaims next.
    oldest: u32,
}

impl TransmitBuffers {
    /// Buffers of `bytes` for all packets that have a descriptor or wait for one.
    pub(super) fn new(
        config: &Queues,
        bytes: Size,
        space: &mut AddressSpace,
        stream: &mut Rng,
    ) -> TransmitBuffers {
        let (count, lines) = (config.tx_descriptors + config.tx_backlog, lines_in(bytes.0));
        let first = space.reserve(u64::from(lines) * u64::from(count) * LINE_BYTES);
        let mut first_lines: Vec<Line> = (0..count).map(|i| first + i * lines).collect();
        if config.start == Start::Shuffled {
            shuffle(&mut first_lines, stream);
        }
        TransmitBuffers { first_lines, lines, next: 0, oldest: 0 }
    }

    /// First line of the buffer for the next packet to send.
    pub(crate) fn next(&self) -> Line {
        self.first_lines[self.next as usize]
    }

    /// The packet in the next buffer will be sent: sooner or later it takes a descriptor, in order.
    pub(crate) fn use_next(&mut self) {
        self.next = (self.next + 1) % self.first_lines.len() as u32;
    }

    /// The lines of each buffer, in the order in which they are reclaimed.
    pub(super) fn oldest_first(&self) -> impl Iterator<Item = Range<Line>> {
        let (before, from) = self.first_lines.split_at(self.oldest as usize);
        from.iter().chain(before).map(|&first| first..first + self.lines)
    }

    /// The driver reclaims the `n` oldest buffers.
    pub(super) fn reclaim(&mut self, n: u32) {
        self.oldest = (self.oldest + n) % self.first_lines.len() as u32;
    }
}

/// Lines from the start of one buffer to the start of the next.
fn buffer_lines(config: &Queues) -> u32 {
    lines_in(data_start(config) + config.buffer_size.0)
}

/// Bytes from the start of a buffer's memory to its data.
fn data_start(config: &Queues) -> u64 {
    config.object_header.0 + config.metadata.0 + config.headroom.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seed: u64) -> Vec<Buffer> {
        let config = crate::testing::forwarder(&[
            ("/queues/start", "shuffled".into()),
            ("/queues/pool_buffers", 100.into()),
        ])
        .queues;
        let region = Region { first: 0, queues: 1, buffers: 100 };
        let mut pool = region.pool(&config, 0, &mut Rng::new(seed, "pools"));
        std::iter::from_fn(|| pool.take()).collect()
    }

    #[test]
    fn a_shuffled_pool_holds_each_buffer_once_in_an_order_of_its_own() {
        let first = order(1);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
        assert_eq!(first, order(1));
        assert_ne!(first, order(2));
        // By chance, one of the 99 steps would lead to the next buffer.
        let in_row = first.windows(2).filter(|w| w[1] == w[0] + 1).count();
        assert!(in_row < 8, "{in_row}");
    }
}
