//! Recording of the timeline: the paths of individual packets, drops, and counters alongside.
//!
//! When off, it costs one pointer test per packet and point. When on, it only takes notes: it moves no event
//! of the model, so a run gives the same results with and without a recording. The times at which a stage of
//! the latency histograms begins and ends are taken from the packet, as they are for the histograms.

mod readings;
#[cfg(test)]
mod tests;
mod way;

use super::packets::Packet;
use super::{Event, Host};
use crate::stats::timeline::{DroppedPacket, PacketWay, Timeline, TimelineConfig};
use crate::time::Ps;

use readings::Readings;
pub(super) use way::Point;
use way::Way;

const NONE: u32 = u32::MAX;

/// Drops that a recording holds; later ones are only counted.
const MAX_DROPS: usize = 100_000;

/// A packet that is followed.
#[derive(Clone, Debug)]
struct Followed {
    number: u64,
    flow: u32,
    bytes: u32,
    queue: u16,
    dropped: Option<&'static str>,
    finished: bool,
    way: Way,
}

/// What is recorded. Callers check first whether there is a recording.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    config: TimelineConfig,
    /// Packets that have arrived.
    seen: u64,
    followed: Vec<Followed>,
    /// How many of them are still on their way.
    open: u32,
    /// The next reading of the counters is scheduled.
    scheduled: bool,
    /// Index in `followed` of the packet in each slot of the host, or [`NONE`].
    of_packet: Vec<u32>,
    drops: Vec<DroppedPacket>,
    drops_left_out: u64,
    readings: Readings,
}

impl Recorder {
    /// A packet has been admitted.
    #[cold]
    pub(super) fn arrived(&mut self, packet: u32, p: &Packet) {
        let chosen = self.seen.is_multiple_of(u64::from(self.config.every))
            && self.followed.len() < self.config.packets as usize;
        self.seen += 1;
        if !chosen {
            return;
        }
        let slot = packet as usize;
        if self.of_packet.len() <= slot {
            self.of_packet.resize(slot + 1, NONE);
        }
        self.of_packet[slot] = self.followed.len() as u32;
        let mut way = Way::default();
        way.pass(Point::Arrived, p.arrived);
        self.open += 1;
        let Packet { seq: number, flow, bytes, queue, .. } = *p;
        self.followed.push(Followed {
            number,
            flow,
            bytes,
            queue,
            dropped: None,
            finished: false,
            way,
        });
    }

    /// A packet has found no room in the NIC's SRAM.
    #[cold]
    pub(super) fn not_admitted(&mut self, at: Ps, number: u64, flow: u32, queue: u16) {
        self.seen += u64::from(self.is_on());
        self.note_drop(at, number, flow, queue, "NIC SRAM full");
    }

    /// The NIC turns to a packet, perhaps not for the first time, and the packet waits for a descriptor.
    #[cold]
    pub(super) fn first(&mut self, packet: u32, at: Ps) {
        if let Some(followed) = self.followed(packet) {
            followed.way.first(at);
        }
    }

    /// A packet has found no descriptor: its path ends.
    #[cold]
    pub(super) fn no_descriptor(&mut self, at: Ps, packet: u32, p: &Packet) {
        const REASON: &str = "no receive descriptor";
        self.note_drop(at, p.seq, p.flow, p.queue, REASON);
        if let Some(followed) = self.followed(packet) {
            followed.dropped = Some(REASON);
            followed.way.first(at);
            followed.way.pass(Point::DmaStart, at);
            self.finish(packet);
        }
    }

    /// A packet has passed points.
    #[cold]
    pub(super) fn pass(&mut self, packet: u32, points: &[(Point, Ps)]) {
        if let Some(followed) = self.followed(packet) {
            points.iter().for_each(|&(point, at)| followed.way.pass(point, at));
        }
    }

    /// Packets have passed points.
    #[cold]
    pub(super) fn pass_all<'a>(
        &mut self,
        packets: impl Iterator<Item = &'a u32>,
        points: &[(Point, Ps)],
    ) {
        packets.for_each(|&packet| self.pass(packet, points));
    }

    /// The request of a packet has ended, and with it the packet's path, unless the packet is to be sent.
    #[cold]
    pub(super) fn ended(&mut self, at: Ps, packet: u32, p: &Packet) {
        if let Some(followed) = self.followed(packet) {
            // Without effect if the packet has waited for a descriptor.
            followed.way.first(p.dma_start);
        }
        let points = [
            (Point::DmaStart, p.dma_start),
            (Point::Visible, p.visible),
            (Point::Begun, p.begun),
            (Point::Ended, at),
        ];
        self.pass(packet, &points);
        if !p.to_send {
            self.finish(packet);
        }
    }

    /// The NIC has sent a packet.
    #[cold]
    pub(super) fn transmitted(&mut self, at: Ps, packet: u32, p: &Packet) {
        self.pass(packet, &[(Point::Transmitted, at)]);
        if p.ended {
            self.finish(packet);
        }
    }

    /// Whether there are packets to be followed, or followed packets on their way.
    fn is_on(&self) -> bool {
        self.followed.len() < self.config.packets as usize || self.open > 0
    }

    fn followed(&mut self, packet: u32) -> Option<&mut Followed> {
        let &index = self.of_packet.get(packet as usize)?;
        (index != NONE).then(|| &mut self.followed[index as usize])
    }

    fn note_drop(&mut self, at: Ps, number: u64, flow: u32, queue: u16, reason: &str) {
        if self.is_on() && self.drops.len() < MAX_DROPS {
            let reason = reason.into();
            self.drops.push(DroppedPacket { at_ps: at.0, number, flow, queue, reason });
        } else if self.is_on() {
            self.drops_left_out += 1;
        }
    }

    /// The packet leaves the host.
    fn finish(&mut self, packet: u32) {
        if let Some(followed) = self.followed(packet) {
            followed.finished = true;
            self.of_packet[packet as usize] = NONE;
            self.open -= 1;
        }
    }
}

impl Host {
    /// Starts to record the paths of packets that arrive from now on.
    ///
    /// # Panics
    /// If `every` or `interval_ps` of `config` is zero.
    pub fn record_timeline(&mut self, config: TimelineConfig) {
        assert!(config.every > 0 && config.interval_ps > 0, "got {config:?}");
        let scheduled = self.recording.as_ref().is_some_and(|earlier| earlier.scheduled);
        self.recording = Some(Box::new(Recorder {
            config,
            seen: 0,
            followed: Vec::new(),
            open: 0,
            scheduled: true,
            of_packet: Vec::new(),
            drops: Vec::new(),
            drops_left_out: 0,
            readings: self.no_readings(),
        }));
        if !scheduled {
            self.events.push(self.now(), Event::Counters);
        }
    }

    /// Reads the counters of the recording, and schedules the next reading while it is on.
    #[cold]
    pub(super) fn read_counters(&mut self, now: Ps) {
        // Taken out, because reading the counters borrows the host.
        let Some(mut recorder) = self.recording.take() else { return };
        recorder.scheduled = recorder.is_on() && recorder.readings.has_room();
        if recorder.scheduled {
            self.read_into(&mut recorder.readings, now);
            self.events.push(Ps(now.0 + recorder.config.interval_ps), Event::Counters);
        }
        self.recording = Some(recorder);
    }

    /// What has been recorded; `None` without a recording.
    pub fn timeline(&self) -> Option<Timeline> {
        let recorder = self.recording.as_ref()?;
        let finished = recorder.followed.iter().filter(|f| f.finished);
        let (times_ps, counters) = recorder.readings.results();
        let way = |f: &Followed| PacketWay {
            number: f.number,
            flow: f.flow,
            bytes: f.bytes,
            queue: f.queue,
            dropped: f.dropped.map(str::to_owned),
            slices: f.way.slices(self.interconnect.link().is_none()),
        };
        let packets: Vec<PacketWay> = finished.map(way).collect();
        let last = packets.iter().flat_map(|p| &p.slices).map(|s| s.end_ps).max();
        let end = if recorder.is_on() { self.now().0 } else { last.unwrap_or(0) };
        Some(Timeline {
            packets,
            readings_left_out: recorder.readings.left_out(end, recorder.config.interval_ps),
            drops_left_out: recorder.drops_left_out,
            unfinished: u64::from(recorder.open),
            drops: recorder.drops.clone(),
            times_ps,
            counters,
        })
    }
}
