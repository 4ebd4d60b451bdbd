//! When reads are asked for, and of which size: with the acknowledgement that completes the one before, after a pause,
//! from several senders together, or whenever a user wants one.

use std::collections::VecDeque;
use std::ops::Range;

use super::config::ClosedLoopConfig;
use super::groups::Group;
use crate::mix::Mix;
use crate::rng::{Rng, below};
use crate::time::{PS_PER_S, Ps};
use crate::units::Duration;

/// How the read after a completed one is requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Request {
    /// The acknowledgement that completes the read carries the request.
    Carried(Read),
    /// Each connection of a batch gets a message of its own.
    Later {
        /// `None` if no more is asked for.
        at: Option<Ps>,
        batch: u32,
        /// How long the block took that is complete now; `None` if reads are independent.
        block: Option<Ps>,
    },
    /// Each connection of a batch gets a message for a read that has been wanted for some time.
    Waiting { read: Read, batch: u32, block: Option<Ps> },
}

/// A read to ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Read {
    /// Since when it has been wanted.
    pub(super) since: Ps,
    pub(super) packets: u32,
    /// Which of the sizes of its group it has.
    pub(super) size: u16,
}

/// What a batch wants now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wants {
    pub(super) read: Read,
    /// Whether it can be asked for at once.
    pub(super) at_once: bool,
    /// When the next is wanted, if that does not depend on this one.
    pub(super) next: Option<Ps>,
}

/// A block that is being read: one read on each connection of a batch.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Reads of it that are not complete yet.
    left: u32,
    since: Ps,
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
    /// Mean time between reads, or blocks, that are wanted whether those before are complete or not; and those that
    /// wait because as many as may be are open, the oldest first. `None` if the next is wanted when one is complete.
    wanted: Option<Wanted>,
    /// Packets of a read and the number of its size.
    sizes: Mix<(u32, u16)>,
    /// When it is asked for its first reads, and from when for no more.
    start: Ps,
    stop: Option<Ps>,
    /// `None` if reads are independent.
    blocks: Option<Blocks>,
}

/// Reads, or blocks, that users want.
#[derive(Clone, Debug)]
struct Wanted {
    /// Decides when, and of which size: its own, so that it depends on nothing else.
    stream: Rng,
    interval: Ps,
    waiting: VecDeque<Read>,
    open: u32,
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
                let packets = |size: u64| (size / config.payload.0) as u32;
                let sizes = of.sizes.iter().zip(0..);
                let sizes = sizes.map(|(s, number)| ((packets(s.size.0), number), s.weight));
                let sizes = Mix::new(sizes);
                let all = first + of.senders.start..first + of.senders.end;
                let together = if of.striped { of.senders.len() } else { 1 };
                for begin in all.step_by(together) {
                    let batch = Batch {
                        connections: begin..begin + together as u32,
                        open_reads: of.open_reads,
                        think: of.think.ps(),
                        wanted: interval(&of, queues).map(|interval| Wanted {
                            stream: Rng::new(requests.stream.next_u64(), "load"),
                            interval,
                            waiting: VecDeque::new(),
                            open: 0,
                        }),
                        sizes: sizes.clone(),
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

    /// Whether acknowledgements carry the requests of a batch.
    pub(super) fn are_carried(&self, batch: u32) -> bool {
        let Batch { think, blocks, wanted, .. } = &self.batches[batch as usize];
        *think == Ps::ZERO && blocks.is_none() && wanted.is_none()
    }

    /// How many requests of a batch are scheduled before any read is complete.
    pub(super) fn first_requests(&self, batch: u32) -> u32 {
        let Batch { open_reads, wanted, .. } = &self.batches[batch as usize];
        if wanted.is_some() { 1 } else { *open_reads }
    }

    /// A read of a batch that is wanted now.
    pub(super) fn draw(&mut self, now: Ps, batch: u32) -> Read {
        let Batch { sizes, wanted, .. } = &mut self.batches[batch as usize];
        let stream = wanted.as_mut().map_or(&mut self.stream, |wanted| &mut wanted.stream);
        let (packets, size) = sizes.draw(stream);
        Read { since: now, packets, size }
    }

    /// When a batch is asked for one of its first reads: once it starts, after a pause, when the first is wanted or,
    /// without pauses, within a round trip.
    pub(super) fn first(&mut self, batch: u32, round_trip: Ps) -> Ps {
        let Batch { think, start, wanted, .. } = &mut self.batches[batch as usize];
        *start
            + match (wanted, *think) {
                (Some(wanted), _) => pause(&mut wanted.stream, wanted.interval),
                (None, Ps::ZERO) => Ps(below(self.stream.next_u64(), round_trip.0)),
                (None, think) => pause(&mut self.stream, think),
            }
    }

    /// A read is wanted from each connection of a batch, unless the time for that is over. It waits if as many as may be
    /// are open.
    pub(super) fn want(&mut self, now: Ps, batch: u32) -> Option<Wants> {
        let goes_on = self.batches[batch as usize].stop.is_none_or(|stop| now < stop);
        let read = goes_on.then(|| self.draw(now, batch))?;
        let Batch { wanted, open_reads, .. } = &mut self.batches[batch as usize];
        let Some(wanted) = wanted else { return Some(Wants { read, at_once: true, next: None }) };
        let next = now + pause(&mut wanted.stream, wanted.interval);
        let at_once = wanted.open < *open_reads;
        if !at_once {
            wanted.waiting.push_back(read);
        }
        Some(Wants { read, at_once, next: Some(next) })
    }

    /// A batch is asked for a read on each of its connections, which has been wanted since `since`.
    pub(super) fn asked(&mut self, since: Ps, batch: u32) {
        let Batch { connections, blocks, wanted, .. } = &mut self.batches[batch as usize];
        if let Some(blocks) = blocks {
            blocks.open.push_back(Block { left: connections.len() as u32, since });
        }
        if let Some(wanted) = wanted {
            wanted.open += 1;
        }
    }

    /// Read `number` of a connection, counted from 0, is complete: how to ask for the next, if it is time to.
    pub(super) fn complete(&mut self, now: Ps, connection: u32, number: u64) -> Option<Request> {
        let batch = self.batch_of[connection as usize];
        let carried = self.are_carried(batch);
        let of = &mut self.batches[batch as usize];
        let goes_on = of.stop.is_none_or(|stop| now < stop);
        if carried {
            return goes_on.then(|| Request::Carried(self.draw(now, batch)));
        }
        let mut block = None;
        if let Some(blocks) = &mut of.blocks {
            let in_open = (number - blocks.complete) as usize;
            blocks.open[in_open].left -= 1;
            // Connections complete their reads in order, and so blocks are completed in order.
            let done = blocks.open.pop_front_if(|oldest| oldest.left == 0)?;
            blocks.complete += 1;
            block = Some(now - done.since);
        }
        if let Some(wanted) = &mut of.wanted {
            wanted.open -= 1;
            return Some(match wanted.waiting.pop_front_if(|_| goes_on) {
                Some(read) => Request::Waiting { read, batch, block },
                None => Request::Later { at: None, batch, block },
            });
        }
        let at = goes_on.then(|| now + pause(&mut self.stream, of.think));
        Some(Request::Later { at, batch, block })
    }
}

/// Mean time between two reads that each of `queues` threads wants of a sender of a group, if they come so.
fn interval(of: &Group<'_>, queues: u32) -> Option<Ps> {
    let load = u128::from(of.load?.0);
    let (bits, weights) = of.bits_and_weights();
    let ps = bits * u128::from(queues) * PS_PER_S / (weights * load);
    Some(Ps(u64::try_from(ps).unwrap_or(u64::MAX).clamp(1, LONGEST_INTERVAL.0)))
}

/// Longer than any run: times that are added up stay within what the clock can count.
const LONGEST_INTERVAL: Ps = Ps(1 << 50);

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
        requests_with(&[(key, value)])
    }

    fn requests_with(set: &[(&str, Value)]) -> Requests {
        let mut config = json!({
            "senders": 3, "read": "12 KiB", "payload": "4 KiB", "headers": "332 B", "open_reads": 2,
            "acknowledgement": "100 B",
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "1 MiB" },
            "control": { "kind": "dctcp" }
        });
        set.iter().for_each(|(key, value)| config[*key] = value.clone());
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

    /// 80 Mbps of each sender are 10 MB a second: two threads want 16 KiB, on average, every 3.2768 ms.
    fn loaded(mut requests: Requests, to: Ps) -> (Requests, Vec<Read>) {
        let (mut now, mut reads) = (requests.first(2, Ps(1)), Vec::new());
        while now < to {
            let wants = requests.want(now, 2).expect("there is no end");
            reads.push(wants.read);
            if wants.at_once {
                requests.asked(now, 2);
            }
            now = wants.next.expect("there is no end");
        }
        (requests, reads)
    }

    fn mix() -> Value {
        json!([{ "size": "4 KiB", "weight": 3 }, { "size": "52 KiB", "weight": 1 }])
    }

    #[test]
    fn reads_are_wanted_at_the_load_and_in_the_shares_of_their_sizes() {
        let requests = requests_with(&[("load", json!("80 Mbps")), ("read_mix", mix())]);
        let to = Ps::from_us(3_276_800 * 20);
        let (_, reads) = loaded(requests, to);
        let (n, large) = (reads.len() as f64, reads.iter().filter(|r| r.size == 1).count() as f64);
        assert!((n - 20_000.0).abs() < 4.0 * 20_000.0f64.sqrt(), "{n}");
        assert!((large - n / 4.0).abs() < 4.0 * (n * 3.0 / 16.0).sqrt(), "{large} of {n}");
        let packets = |r: &Read| r.packets == [1, 13][usize::from(r.size)];
        assert!(reads.iter().all(packets) && reads.is_sorted_by_key(|r| r.since));
        // Intervals are as long as their mean vary.
        let spans: Vec<f64> =
            reads.windows(2).map(|r| (r[1].since - r[0].since).as_ns_f64() / 3_276_800.0).collect();
        let squares = spans.iter().map(|s| s * s).sum::<f64>() / n;
        assert!((squares - 2.0).abs() < 4.0 * (20.0 / n).sqrt(), "{squares}");
    }

    #[test]
    fn what_is_wanted_waits_for_an_open_read_and_is_asked_for_in_order() {
        let requests = requests_with(&[("load", json!("80 Mbps")), ("read_mix", mix())]);
        let (mut requests, reads) = loaded(requests, Ps::from_us(3_276_800 / 10));
        // Two are open; none has been complete for a hundred intervals.
        assert!((60..140).contains(&reads.len()), "{}", reads.len());
        for (number, read) in reads[2..].iter().enumerate() {
            let asked = requests.complete(Ps::from_us(1), 2, number as u64);
            assert_eq!(asked, Some(Request::Waiting { read: *read, batch: 2, block: None }));
            requests.asked(read.since, 2);
        }
        let last = requests.complete(Ps::from_us(1), 2, 99);
        assert_eq!(last, Some(Request::Later { at: None, batch: 2, block: None }));
    }

    #[test]
    fn rivals_are_asked_in_their_own_way() {
        let mut requests =
            requests("rivals", json!({ "senders": 2, "striped": true, "open_reads": 1 }));
        let batches: Vec<_> = (0..requests.batches())
            .map(|g| (requests.connections(g), requests.first_requests(g), requests.are_carried(g)))
            .collect();
        let (one, both) = (|c| (c..c + 1, 2, true), |c| (c..c + 2, 1, false));
        assert_eq!(batches, [one(0), both(1), one(3), both(4)]);
        let read = Read { since: Ps(5), packets: 3, size: 0 };
        assert_eq!(requests.complete(Ps(5), 3, 9), Some(Request::Carried(read)));
        requests.asked(Ps::ZERO, 3);
        assert_eq!(requests.complete(Ps::ZERO, 5, 0), None);
    }
}
