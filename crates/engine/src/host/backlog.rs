//! The generator of backlogs: traffic that is always there, a number of packets for each queue.

use std::collections::VecDeque;

use super::Host;
use crate::time::Ps;
use crate::wire::{Arrival, Source};

/// A packet of a queue's backlog, and its number.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    arrival: Arrival,
    queue: u16,
    seq: u64,
}

/// Packets of backlogs that found no room in the NIC's SRAM and wait for it: at most one of each queue, in
/// the order in which they were drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct WithoutRoom {
    packets: VecDeque<Drawn>,
    /// A bit for each queue that has one (a machine has at most 32 cores, with a queue each). Every packet
    /// asks for it several times, which is too often for a search.
    queues: u32,
}

impl WithoutRoom {
    fn has_one_of(&self, queue: usize) -> bool {
        self.queues >> queue & 1 != 0
    }

    fn first(&self) -> Option<Drawn> {
        self.packets.front().copied()
    }

    fn add(&mut self, drawn: Drawn) {
        self.queues |= 1 << drawn.queue;
        self.packets.push_back(drawn);
    }

    fn remove_first(&mut self) {
        if let Some(drawn) = self.packets.pop_front() {
            self.queues &= !(1 << drawn.queue);
        }
    }
}

impl Host {
    /// Keeps the backlog of a queue at its depth. The generator watches the receive queue, from which a core
    /// takes a burst at a time, and never has more than two bursts in transit through the NIC: what is
    /// missing beyond these follows as they become visible. (More would wait in the NIC, which is not where
    /// the backlog is meant to be.) A packet that would find no room in the SRAM is put in when there is
    /// room, and one that would find no descriptor when the doorbell of one reaches the NIC: nothing that the
    /// generator makes up is dropped.
    pub(super) fn top_up(&mut self, now: Ps, queue: usize) {
        let Some(Source::Backlog { depth, .. }) = self.source else { return };
        let on_their_way = self.most_on_their_way();
        if self.rx.without_room.has_one_of(queue) {
            return;
        }
        for _ in 0..self.queues[queue].rx.backlog_lacks(depth, on_their_way) {
            let drawn = self.draw_for(now, queue as u16);
            if !self.put_in(now, drawn) {
                self.rx.without_room.add(drawn);
                return;
            }
        }
    }

    /// The most packets of a queue's backlog in transit through the NIC at once.
    fn most_on_their_way(&self) -> u32 {
        2 * self.scenario.queues.burst
    }

    /// Packets that must be waiting in a queue when a core takes some: the backlog, less those in transit.
    /// The queue always holds its backlog (Sweeper, section IV-B), even where cores are faster than the NIC.
    pub(super) fn least_waiting(&self) -> u32 {
        match self.source {
            Some(Source::Backlog { depth, .. }) => depth.saturating_sub(self.most_on_their_way()),
            _ => 0,
        }
    }

    /// The SRAM has room again: serves the backlogs that found none, one after the other.
    pub(super) fn top_up_without_room(&mut self, now: Ps) {
        while let Some(drawn) = self.rx.without_room.first() {
            if !self.put_in(now, drawn) {
                return;
            }
            self.rx.without_room.remove_first();
            self.top_up(now, drawn.queue as usize);
        }
    }

    /// Puts a packet of a backlog into the NIC if there is room. Returns whether there is.
    fn put_in(&mut self, now: Ps, Drawn { arrival, queue, seq }: Drawn) -> bool {
        if !self.rx.has_room(now, arrival.bytes) {
            return false;
        }
        self.queues[queue as usize].rx.add_to_backlog();
        self.admit(now, arrival, queue, seq);
        self.receive(now);
        true
    }

    /// Draws a packet for a queue's backlog, from the queue's flows if it has any.
    fn draw_for(&mut self, now: Ps, queue: u16) -> Drawn {
        let Some(Source::Backlog { draw, .. }) = &mut self.source else {
            panic!("only a backlog is drawn for a queue")
        };
        let flows = self.rss.as_ref().expect("traffic has its queues").flows_of(queue.into());
        let mut arrival =
            if flows.is_empty() { draw.draw(now) } else { draw.draw_among(now, flows) };
        arrival.bytes = self.frame_bytes(&arrival, queue);
        Drawn { arrival, queue, seq: self.next_seq() }
    }
}
