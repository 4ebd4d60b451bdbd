//! When reads are asked for: with the acknowledgement that completes the one before, after a pause, or from several
//! senders together.

use std::collections::VecDeque;
use std::ops::Range;

use super::config::ClosedLoopConfig;
use crate::rng::{Rng, below};
use crate::time::Ps;
use crate::units::Duration;

/// How the read after a completed one is requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Request {
    /// The acknowledgement that completes the read carries the request.
    Carried,
    /// Each connection of a batch gets a message of its own.
    Later {
        /// `None` if no more is asked for.
        at: Option<Ps>,
        batch: u32,
        /// How long the block took that is complete now; `None` if reads are independent.
        block: Option<Ps>,
    },
}

/// A block that is being read: one read on each connection of a batch.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Reads of it that are not complete yet.
    left: u32,
    issued: Ps,
}

/// The blocks of a batch.
#[derive(Clone, Debug, Default)]
struct Blocks {
    complete: u64,
    /// The others, the oldest first.
    open: VecDeque<Block>,
}

/// Connections that are asked together: one by itself, or those that a queue's blocks are striped over.
#[derive(Clone, Debug)]
struct Batch {
    connections: Range<u32>,
    open_reads: u32,
    /// Mean pause between a read, or a block, and the next.
    think: Ps,
    /// When it is asked for its first reads, and from when for no more.
    start: Ps,
    stop: Option<Ps>,
    /// `None` if reads are independent.
    blocks: Option<Blocks>,
}

/// The requests of all queues.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    stream: Rng,
    batches: Vec<Batch>,
    /// By connection.
    batch_of: Vec<u32>,
}

impl Requests {
    /// The requests of `queues` queues. `stream` decides when the first reads begin, and how long pauses are.
    pub(super) fn new(config: &ClosedLoopConfig, queues: u32, stream: Rng) -> Requests {
        let mut requests = Requests { stream, batches: Vec::new(), batch_of: Vec::new() };
        for first in (0..queues).map(|queue| queue * config.senders) {
            for of in config.groups() {
                let all = first + of.senders.start..first + of.senders.end;
                let together = if of.striped { of.senders.len() } else { 1 };
                for begin in all.step_by(together) {
                    let batch = Batch {
                        connections: begin..begin + together as u32,
                        open_reads: of.open_reads,
                        think: of.think.ps(),
                        start: of.start.ps(),
                        stop: of.stop.map(Duration::ps),
                        blocks: of.striped.then(Blocks::default),
                    };
                    let number = requests.batches.len() as u32;
                    requests.batch_of.extend(batch.connections.clone().map(|_| number));
                    requests.batches.push(batch);
                }
            }
        }
        requests
    }

    /// How many batches there are.
    pub(super) fn batches(&self) -> u32 {
        self.batches.len() as u32
    }

    /// The connections of a batch.
    pub(super) fn connections(&self, batch: u32) -> Range<u32> {
        self.batches[batch as usize].connections.clone()
    }

    /// Reads that are open on each connection of a batch.
    pub(super) fn open_reads(&self, batch: u32) -> u32 {
        self.batches[batch as usize].open_reads
    }

    /// Whether acknowledgements carry the requests of a batch.
    pub(super) fn are_carried(&self, batch: u32) -> bool {
        let Batch { think, blocks, .. } = &self.batches[batch as usize];
        *think == Ps::ZERO && blocks.is_none()
    }

    /// When a batch is asked for one of its first reads: once it starts, after a pause or, without pauses, within a
    /// round trip.
    pub(super) fn first(&mut self, batch: u32, round_trip: Ps) -> Ps {
        let Batch { think, start, .. } = self.batches[batch as usize];
        start
            + match think {
                Ps::ZERO => Ps(below(self.stream.next_u64(), round_trip.0)),
                think => pause(&mut self.stream, think),
            }
    }

    /// A batch is asked for a read on each of its connections.
    pub(super) fn asked(&mut self, now: Ps, batch: u32) {
        let Batch { connections, blocks, .. } = &mut self.batches[batch as usize];
        if let Some(blocks) = blocks {
            blocks.open.push_back(Block { left: connections.len() as u32, issued: now });
        }
    }

    /// Read `number` of a connection, counted from 0, is complete: how to ask for the next, if it is time to.
    pub(super) fn complete(&mut self, now: Ps, connection: u32, number: u64) -> Option<Request> {
        let batch = self.batch_of[connection as usize];
        let carried = self.are_carried(batch);
        let of = &mut self.batches[batch as usize];
        let goes_on = of.stop.is_none_or(|stop| now < stop);
        if carried {
            return goes_on.then_some(Request::Carried);
        }
        let mut block = None;
        if let Some(blocks) = &mut of.blocks {
            let in_open = (number - blocks.complete) as usize;
            blocks.open[in_open].left -= 1;
            // Connections complete their reads in order, and so blocks are completed in order.
            let done = blocks.open.pop_front_if(|oldest| oldest.left == 0)?;
            blocks.complete += 1;
            block = Some(now - done.issued);
        }
        let at = goes_on.then(|| now + pause(&mut self.stream, of.think));
        Some(Request::Later { at, batch, block })
    }
}

/// A pause before a request: exponentially distributed.
fn pause(stream: &mut Rng, mean: Ps) -> Ps {
    match mean {
        Ps::ZERO => Ps::ZERO,
        Ps(mean) => Ps(((u128::from(mean) * u128::from(stream.exponential())) >> 32) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Two queues with connections to three senders and two open reads on each.
    fn requests(key: &str, value: Value) -> Requests {
        let mut config = json!({
            "senders": 3, "read": "12 KiB", "payload": "4 KiB", "headers": "332 B", "open_reads": 2,
            "acknowledgement": "100 B",
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "1 MiB" },
            "control": { "kind": "dctcp" }
        });
        config[key] = value;
        let config: ClosedLoopConfig = serde_json::from_value(config).expect("parses");
        Requests::new(&config, 2, Rng::new(1, "test"))
    }

    #[test]
    fn the_next_block_is_asked_for_when_the_slowest_sender_has_answered() {
        let mut requests = requests("striped", json!(true));
        assert_eq!((requests.batches(), requests.connections(1)), (2, 3..6));
        let ns = Ps::from_ns;
        requests.asked(ns(1), 1);
        requests.asked(ns(2), 1);
        // The second queue: two senders complete both reads before the third completes its first.
        for (connection, number) in [(3, 0), (5, 0), (5, 1), (3, 1)] {
            assert_eq!(requests.complete(ns(5), connection, number), None);
        }
        let later =
            |at, took| Some(Request::Later { at: Some(ns(at)), batch: 1, block: Some(ns(took)) });
        assert_eq!(requests.complete(ns(9), 4, 0), later(9, 8));
        requests.asked(ns(9), 1);
        assert_eq!(requests.complete(ns(10), 4, 1), later(10, 8));
        assert_eq!(requests.complete(ns(11), 4, 2), None);
        assert_eq!(requests.complete(ns(12), 5, 2), None);
        assert_eq!(requests.complete(ns(13), 3, 2), later(13, 4));
    }

    #[test]
    fn pauses_are_exponentially_distributed_and_of_each_connection() {
        let mut requests = requests("think", json!("50 us"));
        assert_eq!((requests.batches(), requests.connections(4)), (6, 4..5));
        let (n, mut sum, mut long) = (20_000, 0.0, 0.0);
        for number in 0..n {
            let ask = requests.complete(Ps::from_us(7), 4, number);
            let Some(Request::Later { at: Some(at), batch: 4, block: None }) = ask else {
                panic!("{ask:?}")
            };
            let pause = (at - Ps::from_us(7)).as_ns_f64();
            sum += pause;
            long += f64::from(u8::from(pause > 50e3));
        }
        // The mean, and how many are longer than it, within four standard deviations.
        let (n, share) = (n as f64, (-1.0f64).exp());
        assert!((sum / n - 50e3).abs() < 4.0 * 50e3 / n.sqrt(), "{}", sum / n);
        assert!((long - n * share).abs() < 4.0 * (n * share * (1.0 - share)).sqrt(), "{long}");
    }

    #[test]
    fn rivals_are_asked_in_their_own_way() {
        let mut requests =
            requests("rivals", json!({ "senders": 2, "striped": true, "open_reads": 1 }));
        let batches: Vec<_> = (0..requests.batches())
            .map(|g| (requests.connections(g), requests.open_reads(g), requests.are_carried(g)))
            .collect();
        let (one, both) = (|c| (c..c + 1, 2, true), |c| (c..c + 2, 1, false));
        assert_eq!(batches, [one(0), both(1), one(3), both(4)]);
        assert_eq!(requests.complete(Ps::ZERO, 3, 9), Some(Request::Carried));
        requests.asked(Ps::ZERO, 3);
        assert_eq!(requests.complete(Ps::ZERO, 5, 0), None);
    }
}
