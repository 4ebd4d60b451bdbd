//! The interface between an application and the rest of the host.

use std::ops::Range;

use crate::core::op::Ops;
use crate::memory::address_space::AddressSpace;
use crate::memory::line::Line;
use crate::nic::pool::Buffer;
use crate::transport::config::ClosedLoopConfig;

/// Where an application is built.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// The cores of its tenant, by their numbers in the machine.
    pub(crate) on: Range<u32>,
    /// No two tenants of a run have the same.
    pub(crate) seed: u64,
    /// The traffic of the run, if it is closed-loop.
    pub(crate) closed_loop: Option<&'a ClosedLoopConfig>,
    /// Where it reserves its regions.
    pub(crate) space: &'a mut AddressSpace,
}

impl Site<'_> {
    /// How many cores it has.
    pub(crate) fn cores(&self) -> u32 {
        self.on.end - self.on.start
    }
}

/// A received packet as the application sees it.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Number of the packet on the wire, from 0, all queues and dropped packets included; the client's
    /// random draws are derived from it. With closed-loop traffic: the packet's position in its
    /// connection, from 0, which a packet that is sent again keeps.
    pub seq: u64,
    /// First line of the packet data in the receive buffer.
    pub rx: Line,
    /// First line of the transmit buffer reserved for the answer (copied transmit).
    pub tx: Line,
    /// Frame bytes.
    pub bytes: u32,
    /// Index into the flow table of the traffic; with closed-loop traffic the number of the connection.
    pub flow: u32,
    /// The receive buffer, which [`Verdict::Keep`] keeps.
    pub buffer: Buffer,
}

/// What the driver must do with the packet once the emitted operations are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Transmit `bytes` from the transmit buffer; the receive buffer is free.
    Reply {
        /// Bytes of the answer.
        bytes: u32,
    },
    /// Transmit `bytes` from the transmit buffer; the application keeps the receive buffer until it gives it back.
    Keep {
        /// Bytes of the answer.
        bytes: u32,
    },
    /// Transmit the receive buffer itself (zero copy); it is free once the NIC has read it.
    Forward,
    /// Nothing is sent.
    Consume,
}

/// The trait of all applications. One instance serves all cores of its tenant, as a server process
/// does; calls come in order of simulated time.
///
/// `rank` is the number of a core among those of the tenant, from 0, which is not its number in the
/// machine.
///
/// Contract: `on_packet` appends operations and never clears; it emits only loads and stores of its
/// own regions, of the packet's buffers and of buffers that it has kept, in program order, one per
/// cache line touched and instruction (consecutive accesses of one instruction stream to the same
/// line may be folded into one load plus compute); and its verdict states what becomes of the packet.
/// It emits no marks, but gives back what it has kept.
pub trait App {
    /// What the core of this rank does for one packet.
    fn on_packet(&mut self, rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict;

    /// What the core of this rank does when it has no packet: a slice of background work of at least
    /// 100 operations. Applications that only serve packets emit nothing, and the core polls.
    fn on_idle(&mut self, _rank: u32, _ops: &mut Ops) {}

    /// Bytes of the frame of request number `seq` ([`Packet::seq`]) if the application's client
    /// determines them (a key-value client does: a GET is small, a SET carries the item); `None` leaves
    /// them to the traffic. It is not asked with closed-loop traffic, whose senders choose the sizes.
    fn request_bytes(&self, _seq: u64) -> Option<u32> {
        None
    }

    /// What it has done since its counters were reset, by name: the packets, unless it counts more.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("packets", self.progress())]
    }

    /// The measure of its performance since its counters were reset: requests of a server, accesses of X-Mem,
    /// bytes of STREAM.
    fn progress(&self) -> u64;

    /// The same in accesses, for a program that receives no packets and whose progress counts something else.
    fn accesses(&self) -> u64 {
        self.progress()
    }

    /// Bytes that each core has moved since the counters were reset, if that is what it measures.
    fn bytes_by_core(&self) -> Option<Vec<u64>> {
        None
    }

    /// Sets the counters to zero when measuring begins.
    fn reset_counters(&mut self);
}
