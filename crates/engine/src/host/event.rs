//! What happens on the path, as events.

use crate::core::ask::Ask;
use crate::core::op::Mark;
use crate::memory::line::Line;
use crate::transport::Step;

/// Something that happens at a point in time. Eight bytes, so that the queue moves it in a register.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The wire's next packet reaches the NIC.
    Arrival,
    /// Lines `first..first + lines` of a packet reach the memory system.
    Write { packet: u32, first: u16, lines: u8 },
    /// The completions of this many packets of a queue, all in one line, reach the memory system.
    Complete { queue: u16, packets: u32 },
    /// The completion of transmitted packets reaches the memory system.
    TransmitComplete { core: u16, line: Line },
    /// Lines of a write of the DMA benchmark reach the memory system; `ends` if they are the last
    /// ones. (`lines` is not a `u8`: `ends` would then lie in one half of the 16 bits that hold a
    /// single number in all other events, and every event would be taken apart into bytes.)
    BenchWrite { line: Line, lines: u16, ends: bool },
    /// The device of the DMA benchmark can start a transaction.
    BenchStart,
    /// The doorbell for this many receive descriptors of a queue reaches the NIC.
    ReceiveDoorbell { queue: u16, descriptors: u32 },
    /// The same for packets to transmit.
    TransmitDoorbell { queue: u16, packets: u32 },
    /// A page walk reads an entry from the memory system.
    WalkRead { walker: u16 },
    /// The LLC has served that read.
    WalkData { walker: u16 },
    /// The link to the processor can take a write that has been waiting for it.
    LinkFree,
    /// The NIC can take the next packet out of its SRAM, for which one has been waiting.
    NextReceived,
    /// The same for the next packet to send.
    NextSent,
    /// Line credits and TLP credits of DMA writes return to the NIC.
    Credits { lines: u16, tlps: u8 },
    /// The completion of a packet becomes visible to the core.
    Visible { packet: u32 },
    /// A read of the NIC reaches the memory system.
    Read { read: u32 },
    /// All data of a read is at the I/O controller.
    ReadReady { read: u32 },
    /// All data of a read for transmission is at the NIC.
    ReadAtNic { read: u32 },
    /// All data of a read is at the NIC and, for transmission, on the wire.
    ReadDone { read: u32 },
    /// A core continues to run.
    Run { core: u16 },
    /// A request of a core's miss register reaches the LLC.
    Request { core: u16, register: u16 },
    /// A sweep message reaches the LLC.
    Sweep { first: Line, lines: u16 },
    /// A `clwb` reaches the LLC.
    WriteBack { line: Line },
    /// A core has the IOMMU do an invalidation.
    Invalidate { core: u16 },
    /// A program reaches a mark.
    Mark { core: u16, mark: Mark, packet: u32 },
    /// The controller of a memory channel acts.
    Channel { channel: u16 },
    /// A line arrives from memory.
    Line { transaction: u16 },
    /// A read has crossed the link to the memory of the other socket.
    RemoteRead { transaction: u16 },
    /// The same for a write, with or without a credit.
    RemoteWrite { line: Line, credit: bool },
    /// A line read from the memory of the other socket enters the link.
    RemoteData { transaction: u16 },
    /// Something happens in the network of closed-loop traffic, to a datagram or a connection.
    Network { step: Step, of: u32 },
    /// The time series takes a sample.
    Sample,
    /// The counters of the recorded timeline are read.
    Counters,
}

const _: () = assert!(size_of::<Event>() == 8);

impl Event {
    /// The event for a request of `core`.
    #[inline]
    pub(super) fn asked(core: u16, ask: Ask) -> Event {
        match ask {
            Ask::Request(register) => Event::Request { core, register },
            Ask::Sweep(first, lines) => Event::Sweep { first, lines },
            Ask::WriteBack(line) => Event::WriteBack { line },
            Ask::Invalidate => Event::Invalidate { core },
            Ask::Mark(mark, packet) => Event::Mark { core, mark, packet },
        }
    }

    /// Line and TLP credits of DMA writes that it holds or returns.
    pub(super) fn write_credits(&self) -> (u64, u64) {
        match *self {
            Event::Write { lines, .. } => (lines.into(), 1),
            Event::BenchWrite { lines, .. } => (lines.into(), 1),
            Event::Complete { .. } => (1, 1),
            Event::Credits { lines, tlps } => (lines.into(), tlps.into()),
            _ => (0, 0),
        }
    }
}
