//! A packet capture in memory, and how it is built.

use std::collections::HashMap;

use super::capture_error::CaptureError;
use super::flow::{Flow, FlowTable};
use super::headers::{self, LinkType};
use crate::frame::{MAX_FRAME_BYTES, MIN_FRAME_BYTES, wire_bits};
use crate::stats::results::{CaptureFacts, CaptureGap};
use crate::time::Ps;

/// A packet of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedPacket {
    /// Time since the earliest packet of the capture.
    pub at: Ps,
    /// Size in bytes of the frame as it was on the wire, however little of it was captured: without
    /// FCS, with an Ethernet header in place of the capture's own, and padded to the minimum frame
    /// size.
    pub bytes: u32,
    /// Index into [`Capture::flows`].
    pub flow: u32,
}

/// The packets of a capture in time order; at least one.
///
/// Captures from several queues or interfaces contain small reorderings: packets are sorted by
/// time, and those with equal times keep their order in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capture {
    packets: Vec<CapturedPacket>,
    flows: FlowTable,
    /// Packets that come after a later one in the file, and packets with VLAN tags.
    reordered: u64,
    vlan_packets: u64,
}

impl Capture {
    #[cfg(test)]
    pub(crate) fn new(packets: Vec<CapturedPacket>, flows: FlowTable) -> Capture {
        Capture { packets, flows, reordered: 0, vlan_packets: 0 }
    }

    /// The packets in time order.
    pub fn packets(&self) -> &[CapturedPacket] {
        &self.packets
    }

    /// The flows of the packets, in the order of their first packet in the file.
    pub fn flows(&self) -> &FlowTable {
        &self.flows
    }

    /// Bytes of the largest frame.
    pub fn largest_frame(&self) -> u32 {
        self.packets.iter().map(|p| p.bytes).max().expect("a capture has a packet")
    }

    /// Time from the first packet to the last.
    pub fn span(&self) -> Ps {
        self.packets[self.packets.len() - 1].at
    }

    /// Facts about the capture, for the user.
    pub(super) fn facts(&self) -> CaptureFacts {
        let flows = self.flows.as_slice();
        let ipv6 = |flow: u32| match flows[flow as usize] {
            Flow::Ip(tuple) => tuple.src.is_ipv6(),
            Flow::Frame { .. } => false,
        };
        CaptureFacts {
            packets: self.packets.len() as u64,
            flows: flows.len() as u64,
            bytes: self.packets.iter().map(|p| u64::from(p.bytes)).sum(),
            span_ps: self.span().0,
            ipv6_packets: self.packets.iter().filter(|p| ipv6(p.flow)).count() as u64,
            reordered: self.reordered,
            vlan_packets: self.vlan_packets,
            same_time: self.packets.windows(2).filter(|two| two[0].at == two[1].at).count() as u64,
            fullest_hundredth: Some(self.fullest_hundredth()),
            largest_gap: self.largest_gap(),
        }
    }

    /// Packets in the fullest of a hundred equal parts of the time from the first packet to the last.
    fn fullest_hundredth(&self) -> u64 {
        let mut parts = [0; 100];
        let span = u128::from(self.span().0) + 1;
        self.packets.iter().for_each(|p| parts[(u128::from(p.at.0) * 100 / span) as usize] += 1);
        parts.into_iter().max().unwrap_or(0)
    }

    /// The longest time between two packets; of several, the first.
    fn largest_gap(&self) -> Option<CaptureGap> {
        let gaps = self.packets.windows(2).map(|pair| pair[1].at.0 - pair[0].at.0);
        let (i, ps) = gaps.enumerate().max_by_key(|&(i, ps)| (ps, std::cmp::Reverse(i)))?;
        Some(CaptureGap { ps, before_packet: i as u64 + 2 })
    }

    /// The bits that all packets occupy on an Ethernet link, gaps included.
    pub(super) fn wire_bits(&self) -> u128 {
        self.packets.iter().map(|p| u128::from(wire_bits(p.bytes))).sum()
    }
}

/// No packet is more than 13 days from the first in the file: two such spans and the gap to the
/// next round of a replay stay within a quarter of what the simulated clock can count.
const MAX_SPAN_PS: u64 = 1 << 60;

/// Collects packets in the order of the file, whatever its format.
#[derive(Default)]
pub(super) struct Collector {
    /// The time of the first packet in the file, in picoseconds since any epoch.
    epoch: i128,
    /// Times are relative to `epoch` and may lie before it.
    packets: Vec<(i64, u32, u32)>,
    flows: Vec<Flow>,
    /// Used for lookups only, so its order never matters.
    index: HashMap<Flow, u32>,
    /// The latest time so far.
    latest: i64,
    reordered: u64,
    vlan_packets: u64,
}

impl Collector {
    /// How many packets have been collected.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Adds a packet of `original` bytes, the first of which are `data`, captured at `at` (in
    /// picoseconds since any epoch) with the link type `link`.
    pub(super) fn push(
        &mut self,
        at: i128,
        link: u32,
        original: u32,
        data: &[u8],
    ) -> Result<(), CaptureError> {
        let packet = self.len() + 1;
        let link =
            LinkType::numbered(link).ok_or(CaptureError::LinkType { packet, number: link })?;
        if !(1..=MAX_FRAME_BYTES).contains(&original) {
            return Err(CaptureError::Length { packet, bytes: original });
        }
        if data.len() > original as usize {
            let captured = data.len();
            return Err(CaptureError::CapturedLength { packet, captured, bytes: original });
        }
        let flow = headers::flow(link, data, original)
            .map_err(|needed| CaptureError::SnapLength { packet, captured: data.len(), needed })?;
        if self.packets.is_empty() {
            self.epoch = at;
        }
        let at = at
            .checked_sub(self.epoch)
            .and_then(|span| i64::try_from(span).ok())
            .filter(|span| span.unsigned_abs() <= MAX_SPAN_PS)
            .ok_or(CaptureError::Span { packet })?;
        self.reordered += u64::from(at < self.latest);
        self.latest = self.latest.max(at);
        self.vlan_packets += u64::from(headers::is_tagged(link, data));
        let payload = original.saturating_sub(link.header_bytes());
        let bytes = (payload + LinkType::Ethernet.header_bytes()).max(MIN_FRAME_BYTES);
        let next = self.flows.len() as u32;
        let flow = *self.index.entry(flow).or_insert_with(|| {
            self.flows.push(flow);
            next
        });
        self.packets.push((at, bytes, flow));
        Ok(())
    }

    /// The finished capture, at the end of the file.
    pub(super) fn finish(self) -> Result<Capture, CaptureError> {
        let first = self.packets.iter().map(|p| p.0).min().ok_or(CaptureError::NoPackets)?;
        let since_first = |(at, bytes, flow): (i64, u32, u32)| CapturedPacket {
            at: Ps(at.abs_diff(first)),
            bytes,
            flow,
        };
        let mut packets: Vec<_> = self.packets.into_iter().map(since_first).collect();
        packets.sort_by_key(|p| p.at);
        Ok(Capture {
            packets,
            flows: FlowTable::new(self.flows),
            reordered: self.reordered,
            vlan_packets: self.vlan_packets,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Captures taken with tcpdump on a loopback interface (UDP and TCP, IPv4 and IPv6), also the
    /// seeds of the fuzz targets.
    macro_rules! real {
        ($path:literal) => {
            include_bytes!(concat!("../../../../fuzz/corpus/", $path))
        };
    }

    const PCAP: &[u8] = real!("pcap/ethernet-us.pcap");
    const PCAPNG: &[u8] = real!("pcapng/three-interfaces.pcapng");

    /// Offset of the first packet record of a pcap file, and the length of a record's header.
    const PCAP_HEADER: usize = 24;
    const RECORD_HEADER: usize = 16;

    /// A 60-byte Ethernet frame (type 0x88b5, local experiments), and a microsecond later the same
    /// frame as IPv6 without a next header.
    #[test]
    fn facts_are_those_of_the_file() {
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        let record = |us| {
            let header = words(&[0, us, 60, 60]);
            [header.as_slice(), &[2; 12], &[0x88, 0xb5], &[0; 46]].concat()
        };
        let header = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, 1]);
        let one = [header, record(0)].concat();
        let mut facts = CaptureFacts {
            packets: 1,
            flows: 1,
            bytes: 60,
            span_ps: 0,
            ipv6_packets: 0,
            reordered: 0,
            vlan_packets: 0,
            same_time: 0,
            fullest_hundredth: Some(1),
            largest_gap: None,
        };
        assert_eq!(Capture::parse(&one).unwrap().facts(), facts);
        let mut second = record(1);
        second[RECORD_HEADER + 12..][..3].copy_from_slice(&[0x86, 0xdd, 0x60]);
        second[RECORD_HEADER + 20] = 59;
        let two = [one, second].concat();
        (facts.packets, facts.flows, facts.bytes) = (2, 2, 120);
        (facts.span_ps, facts.ipv6_packets) = (1_000_000, 1);
        facts.largest_gap = Some(CaptureGap { ps: 1_000_000, before_packet: 2 });
        assert_eq!(Capture::parse(&two).unwrap().facts(), facts);
        // Three more that come after a later one: the second is tagged, the third has the time of the first.
        let mut tagged = record(2);
        tagged[RECORD_HEADER + 12..][..2].copy_from_slice(&[0x81, 0]);
        let six = [two, record(9), record(3), tagged, record(3)].concat();
        let facts = Capture::parse(&six).unwrap().facts();
        assert_eq!((facts.reordered, facts.vlan_packets, facts.same_time), (3, 1, 1));
        assert_eq!(facts.fullest_hundredth, Some(2));
        assert_eq!(facts.largest_gap, Some(CaptureGap { ps: 6_000_000, before_packet: 6 }));
    }

    /// Packets and seconds as `capinfos` counts them, flows as `tcpdump -n` prints addresses, bytes
    /// as `capinfos` counts them less the difference between the capture's link header and
    /// Ethernet's.
    #[test]
    #[expect(clippy::type_complexity, reason = "a table")]
    fn real_captures_read_as_wireshark_reads_them() {
        let cases: [(&str, &[u8], usize, u64, u64, usize); 10] = [
            ("us", PCAP, 28, 6742, 18_941_000_000, 12),
            ("ns", real!("pcap/ethernet-ns-snap128.pcap"), 28, 6742, 24_756_817_000, 12),
            ("big", real!("pcap/ethernet-us-big-endian.pcap"), 8, 2335, 10_388_000_000, 6),
            ("sll", real!("pcap/linux-cooked.pcap"), 16, 3727 - 2 * 16, 11_440_000_000, 8),
            ("sll2", real!("pcap/linux-cooked2.pcap"), 16, 3791 - 6 * 16, 11_442_000_000, 8),
            ("raw", real!("pcap/raw-ip.pcap"), 14, 867 + 14 * 14, 10_419_000_000, 6),
            ("ng us", real!("pcapng/ethernet-us.pcapng"), 16, 3695, 12_582_000_000, 8),
            ("ng ns", real!("pcapng/ethernet-ns.pcapng"), 28, 6742, 24_756_817_000, 12),
            ("ng 3", PCAPNG, 18, 6636 - 6 * 6 - 2 * 6, 4_629_973_580_000, 18),
            (
                "ng 2+3",
                real!("pcapng/two-sections.pcapng"),
                34,
                10331 - 6 * 6 - 2 * 6,
                6_957_797_000_000,
                26,
            ),
        ];
        for (name, file, packets, bytes, span_ps, flows) in cases {
            let capture = Capture::parse(file).expect(name);
            assert_eq!(capture.packets().len(), packets, "{name}");
            let sum: u64 = capture.packets().iter().map(|p| u64::from(p.bytes)).sum();
            assert_eq!(sum, bytes, "{name}");
            assert_eq!(capture.span(), Ps(span_ps), "{name}");
            assert_eq!(capture.flows().len(), flows, "{name}");
            assert_eq!(capture.packets()[0].at, Ps::ZERO, "{name}");
        }
    }

    #[test]
    fn formats_of_one_capture_agree() {
        let ns = Capture::parse(real!("pcap/ethernet-ns-snap128.pcap"));
        assert_eq!(ns, Capture::parse(real!("pcapng/ethernet-ns.pcapng")));
    }

    #[test]
    fn what_is_not_a_capture_is_named() {
        assert_eq!(Capture::parse(&[]), Err(CaptureError::Empty));
        let magic = |file: &[u8]| Capture::parse(file).unwrap_err().to_string();
        assert!(magic(b"PK").contains("[50, 4b]"), "{}", magic(b"PK"));
        assert!(magic(&[0x1f, 0x8b, 8, 0]).contains("gzip"));
        assert_eq!(Capture::parse(&PCAP[..PCAP_HEADER]), Err(CaptureError::NoPackets));
    }

    #[test]
    fn a_truncated_file_says_where_it_ends() {
        let captured =
            |at: usize| u32::from_le_bytes(PCAP[at + 8..at + 12].try_into().unwrap()) as usize;
        let second = PCAP_HEADER + RECORD_HEADER + captured(PCAP_HEADER);
        for end in [second + 1, second + RECORD_HEADER, second + RECORD_HEADER + 10] {
            let error = Capture::parse(&PCAP[..end]).unwrap_err();
            assert_eq!(error, CaptureError::Truncated { read: 1, offset: second });
            assert!(error.to_string().contains("packet 2"), "{error}");
            assert!(error.to_string().ends_with("keeps its whole packets"), "{error}");
        }
        let error = Capture::parse(&PCAP[..10]).unwrap_err();
        assert_eq!(error, CaptureError::Truncated { read: 0, offset: 0 });
        assert!(error.to_string().contains("in the middle of its header"), "{error}");
        let error = Capture::parse(&PCAPNG[..PCAPNG.len() - 7]).unwrap_err();
        assert!(matches!(error, CaptureError::Truncated { .. }), "{error}");
    }

    fn patched(at: usize, bytes: &[u8]) -> Result<Capture, CaptureError> {
        let mut file = PCAP.to_vec();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        Capture::parse(&file)
    }

    #[test]
    fn absurd_fields_are_refused() {
        let wifi = 105;
        assert_eq!(
            patched(20, &[wifi, 0, 0, 0]),
            Err(CaptureError::LinkType { packet: 1, number: wifi.into() })
        );
        let original = PCAP_HEADER + 12;
        for bytes in [0, MAX_FRAME_BYTES + 1, u32::MAX] {
            let given = patched(original, &bytes.to_le_bytes());
            assert_eq!(given, Err(CaptureError::Length { packet: 1, bytes }));
        }
        assert!(matches!(
            patched(PCAP_HEADER + 8, &[0xff; 4]),
            Err(CaptureError::Truncated { read: 0, .. })
        ));
    }

    #[test]
    fn a_damaged_time_or_length_names_its_packet() {
        let whole = Capture::parse(PCAP).unwrap();
        assert!(whole.packets().len() > 1);
        let fraction = PCAP_HEADER + 4;
        assert!(patched(fraction, &999_999u32.to_le_bytes()).is_ok());
        for ticks in [1_000_000, u32::MAX] {
            let given = patched(fraction, &ticks.to_le_bytes()).unwrap_err();
            let told = format!(
                "the time stamp of packet 1 is damaged: its fraction of a second is {ticks}, and \
                 1000000 microseconds make a whole one"
            );
            assert_eq!(given.to_string(), told);
        }
        let captured = u32::from_le_bytes(PCAP[PCAP_HEADER + 8..][..4].try_into().unwrap());
        let given = patched(PCAP_HEADER + 12, &(captured - 1).to_le_bytes());
        assert_eq!(
            given,
            Err(CaptureError::CapturedLength {
                packet: 1,
                captured: captured as usize,
                bytes: captured - 1
            })
        );
    }

    /// 0x24: the FCS flag and a length of two 16-bit words (draft-ietf-opsawg-pcap section 4).
    #[test]
    fn the_fcs_bits_are_not_part_of_the_link_type() {
        assert_eq!(patched(20, &[1, 0, 0, 0x24]), Capture::parse(PCAP));
    }

    #[test]
    fn a_snapshot_without_the_headers_is_refused() {
        // One UDP packet truncated after 20 bytes: up to the end of the IP header it takes 34.
        let mut file = PCAP[..PCAP_HEADER + RECORD_HEADER + 20].to_vec();
        file[PCAP_HEADER + 8] = 20;
        assert_eq!(
            Capture::parse(&file),
            Err(CaptureError::SnapLength { packet: 1, captured: 20, needed: 34 })
        );
    }

    #[test]
    fn packets_out_of_order_are_sorted_stably() {
        let mut collector = Collector::default();
        for (at, size) in [(5_000, 100), (4_000, 101), (5_000, 102), (3_000, 103)] {
            collector.push(at, 1, size, &[0; 60]).unwrap();
        }
        let capture = collector.finish().unwrap();
        let packets: Vec<_> = capture.packets().iter().map(|p| (p.at.0, p.bytes)).collect();
        assert_eq!(packets, [(0, 103), (1_000, 101), (2_000, 100), (2_000, 102)]);
    }

    #[test]
    fn frames_are_padded_as_on_the_wire_and_spans_are_bounded() {
        let mut collector = Collector::default();
        collector.push(0, 1, 42, &[0; 42]).unwrap();
        assert_eq!(
            collector.push(i128::from(MAX_SPAN_PS) + 1, 1, 42, &[0; 42]),
            Err(CaptureError::Span { packet: 2 })
        );
        assert_eq!(collector.finish().unwrap().packets()[0].bytes, MIN_FRAME_BYTES);
    }

    /// Invariants of every capture, whatever bytes it came from.
    fn check(capture: &Capture) {
        assert!(capture.packets()[0].at == Ps::ZERO);
        assert!(capture.packets().is_sorted_by_key(|p| p.at));
        for packet in capture.packets() {
            assert!((packet.flow as usize) < capture.flows().len());
            assert!((MIN_FRAME_BYTES..=MAX_FRAME_BYTES + 14).contains(&packet.bytes));
        }
    }

    proptest! {
        /// Bytes of a valid file replaced, cut out or repeated: a capture or an error, no panic.
        #[test]
        fn mutated_files_never_panic(
            which in 0usize..4,
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
            cut in any::<(prop::sample::Index, prop::sample::Index)>(),
            repeat: bool,
        ) {
            let mut file = [
                PCAP,
                PCAPNG,
                real!("pcapng/two-sections.pcapng"),
                real!("pcap/linux-cooked2.pcap"),
            ][which].to_vec();
            for (at, byte) in edits {
                let at = at.index(file.len());
                file[at] = byte;
            }
            let (a, b) = (cut.0.index(file.len()), cut.1.index(file.len()));
            let range = a.min(b)..a.max(b);
            if repeat {
                file.extend_from_within(range);
            } else if range.len() < file.len() / 4 {
                file.drain(range);
            }
            if let Ok(capture) = Capture::parse(&file) {
                check(&capture);
            }
        }
    }
}
