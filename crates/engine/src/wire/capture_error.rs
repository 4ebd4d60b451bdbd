//! What can be wrong with a capture file.

use super::MAX_FRAME_BYTES;

/// Why bytes are not a capture that can be replayed. The caller adds the file's name. Packets are
/// counted from 1, as in Wireshark.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CaptureError {
    #[error("the file is empty; expected a pcap or pcapng capture")]
    Empty,
    #[error(
        "not a capture: the file begins with {magic:02x?}{hint}; expected pcap (d4 c3 b2 a1 or \
         4d 3c b2 a1, in either byte order) or pcapng (0a 0d 0d 0a)"
    )]
    NotACapture { magic: Vec<u8>, hint: &'static str },
    #[error("{}: it is truncated or damaged{}", end(*.read, *.offset), rescue(*.read))]
    Truncated { read: usize, offset: usize },
    #[error("damaged after {read} whole packets, in the record at byte {offset}: {what}")]
    Damaged { read: usize, offset: usize, what: &'static str },
    #[error("the capture holds no packet")]
    NoPackets,
    #[error(
        "link type {number} of packet {packet} is not supported; supported are 0 (BSD loopback), \
         1 (Ethernet), 101 (raw IP), 108 (OpenBSD loopback), 113 and 276 (Linux cooked), 228 and \
         229 (raw IPv4 and IPv6), as numbered at https://www.tcpdump.org/linktypes.html"
    )]
    LinkType { packet: usize, number: u32 },
    #[error(
        "packet {packet} is {bytes} bytes long; expected 1 to {max}",
        max = MAX_FRAME_BYTES
    )]
    Length { packet: usize, bytes: u32 },
    #[error(
        "{captured} bytes of packet {packet} were captured, but it is only {bytes} bytes long: its \
         record is damaged"
    )]
    CapturedLength { packet: usize, captured: usize, bytes: u32 },
    #[error(
        "the time stamp of packet {packet} is damaged: its fraction of a second is {fraction}, and \
         {ticks} {unit} make a whole one"
    )]
    Fraction { packet: usize, fraction: u32, ticks: u32, unit: &'static str },
    #[error(
        "only {captured} bytes of packet {packet} were captured, too few for its headers ({needed} \
         bytes); capture with a snapshot length of at least 128 (tcpdump -s 128)"
    )]
    SnapLength { packet: usize, captured: usize, needed: usize },
    #[error(
        "packet {packet} refers to interface {interface}, but the section describes only {known}"
    )]
    Interface { packet: usize, interface: u32, known: usize },
    #[error(
        "packet {packet} has no time stamp (a pcapng Simple Packet Block); capture with a tool \
         that records times, such as tcpdump or dumpcap"
    )]
    NoTime { packet: usize },
    #[error(
        "packet {packet} lies more than 13 days from the first one: its time stamp is damaged, or the \
         capture is too long to be replayed"
    )]
    Span { packet: usize },
}

/// Where a truncated file ends.
fn end(read: usize, offset: usize) -> String {
    if offset == 0 {
        return "the file ends in the middle of its header".into();
    }
    let next = read + 1;
    format!(
        "the file ends after {read} whole packets in the middle of the record at byte {offset}, \
         where packet {next} would be"
    )
}

/// How to salvage the whole packets of a truncated file.
fn rescue(read: usize) -> &'static str {
    if read == 0 { "" } else { "; `tcpdump -r CAPTURE -w NEW` keeps its whole packets" }
}
