//! Closed-loop senders by group: those that are like one another.

use std::iter::once;
use std::ops::Range;

use super::config::{ClosedLoopConfig, ReadShare};
use super::control::ControlConfig;
use crate::time::PS_PER_S;
use crate::units::{BitRate, Duration, Size};

/// Senders that are like one another.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) senders: Range<u32>,
    /// Sizes of reads.
    pub(crate) sizes: Vec<ReadShare>,
    /// Payload that is wanted from each of them in a second, if that does not depend on what is complete.
    pub(crate) load: Option<BitRate>,
    pub(crate) open_reads: u32,
    pub(crate) think: Duration,
    pub(crate) striped: bool,
    /// When they are asked for their first reads, and from when for no more.
    pub(crate) start: Duration,
    pub(crate) stop: Option<Duration>,
    /// One-way delay to the server.
    pub(crate) delay: Duration,
    /// Rate of the link of each of them.
    pub(crate) link: BitRate,
    /// The key of their congestion control.
    pub(crate) control_key: &'static str,
    pub(crate) control: &'a ControlConfig,
}

impl Group<'_> {
    /// Bits of all sizes, each as often as its weight, and the sum of the weights.
    pub(crate) fn bits_and_weights(&self) -> (u128, u128) {
        self.sizes.iter().fold((0, 0), |(bits, weights), share| {
            let weight = u128::from(share.weight);
            (bits + 8 * u128::from(share.size.0) * weight, weights + weight)
        })
    }

    /// Reads that are wanted of each of them in `ps` picoseconds, on average; none without a load.
    pub(crate) fn wanted_in(&self, ps: u128) -> u128 {
        let (bits, weights) = self.bits_and_weights();
        let load = self.load.map_or(0, |load| u128::from(load.0));
        // Seconds first: the product of all would not fit.
        load * weights / bits.max(1) * ps / PS_PER_S
    }

    /// The largest of the sizes of reads.
    pub(crate) fn largest_read(&self) -> Size {
        self.sizes.iter().map(|share| share.size).max().unwrap_or_default()
    }
}

impl ClosedLoopConfig {
    /// The groups of senders that are like one another, the rivals last.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let all = Group {
            senders: 0..self.senders,
            sizes: sizes(self.read, mix(&self.read_mix)),
            load: self.load,
            open_reads: self.open_reads,
            think: self.think,
            striped: self.striped,
            start: Duration(0),
            stop: None,
            delay: self.network.delay,
            link: self.network.sender_link,
            control_key: "traffic.control",
            control: &self.control,
        };
        let Some(rivals) = &self.rivals else { return once(all).chain(None) };
        let first = self.senders.saturating_sub(rivals.senders);
        let own = rivals.control.as_ref();
        let theirs = Group {
            senders: first..self.senders,
            sizes: match (rivals.read, mix(&rivals.read_mix)) {
                (None, []) => all.sizes.clone(),
                (Some(read), _) => sizes(Some(read), &[]),
                (None, mix) => mix.to_vec(),
            },
            load: rivals.load.or(self.load),
            open_reads: rivals.open_reads.unwrap_or(self.open_reads),
            think: rivals.think.unwrap_or(self.think),
            striped: rivals.striped.unwrap_or(self.striped),
            start: rivals.start.unwrap_or_default(),
            stop: rivals.stop,
            delay: rivals.delay.unwrap_or(all.delay),
            link: rivals.sender_link.unwrap_or(all.link),
            control_key: own.map_or(all.control_key, |_| "traffic.rivals.control"),
            control: own.unwrap_or(all.control),
        };
        once(Group { senders: 0..first, ..all }).chain(Some(theirs))
    }

    /// What is read from each sender.
    pub(crate) fn reads(&self) -> Vec<Reads> {
        let of = |group: &Group<'_>| Reads {
            packets: group.largest_read().0.div_ceil(self.payload.0) as u32,
            open: group.open_reads,
        };
        self.groups().flat_map(|g| std::iter::repeat_n(of(&g), g.senders.len())).collect()
    }
}

/// The sizes of a mix: none if there is no mix.
pub(super) fn mix(given: &Option<Vec<ReadShare>>) -> &[ReadShare] {
    given.as_deref().unwrap_or_default()
}

/// The sizes of reads: those of a mix, or one.
pub(super) fn sizes(read: Option<Size>, mix: &[ReadShare]) -> Vec<ReadShare> {
    match (mix, read) {
        ([], Some(size)) => vec![ReadShare { size, weight: 1 }],
        _ => mix.to_vec(),
    }
}

/// What is read from a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reads {
    /// Packets of the largest read.
    pub(crate) packets: u32,
    /// Reads that are open on each connection.
    pub(crate) open: u32,
}

impl Reads {
    /// Packets of all open reads of a connection, at most.
    pub(crate) fn open_packets(self) -> u32 {
        self.packets * self.open
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::transport::config::tests::config;

    #[test]
    fn rivals_have_what_they_do_not_say_from_the_others() {
        let groups = |rivals: Value| {
            let config = config("/rivals", rivals);
            let of = |g: Group<'_>| {
                (
                    g.senders.clone(),
                    g.largest_read(),
                    g.open_reads,
                    g.think,
                    g.striped,
                    g.control_key,
                )
            };
            (config.groups().map(of).collect::<Vec<_>>(), config.reads())
        };
        let (same, _) = groups(json!({ "senders": 4, "open_reads": 1 }));
        let others = (0..36, Size(16 << 10), 1, Duration(0), false, "traffic.control");
        let mut alike = others.clone();
        alike.0 = 36..40;
        assert_eq!(same, [others.clone(), alike]);
        let own = json!({
            "senders": 4, "read": "64 KiB", "open_reads": 2, "think": "5 us", "striped": true,
            "control": { "kind": "dctcp" }
        });
        let (different, reads) = groups(own);
        let theirs =
            (36..40, Size(64 << 10), 2, Duration(5_000_000), true, "traffic.rivals.control");
        assert_eq!(different, [others, theirs]);
        assert_eq!((reads.len(), reads[35].open_packets(), reads[36].open_packets()), (40, 4, 32));
    }
}
