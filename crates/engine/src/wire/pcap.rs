//! The classic capture format (draft-ietf-opsawg-pcap), parsed with the `pcap-file` crate.

use pcap_file::pcap::PcapParser;
use pcap_file::{PcapError, TsResolution};

use super::capture::Collector;
use super::capture_error::CaptureError;

/// Passes every packet of `file`, which begins with a pcap magic number, to `collector`.
pub(super) fn read(file: &[u8], collector: &mut Collector) -> Result<(), CaptureError> {
    let (mut rest, parser) = PcapParser::new(file).map_err(|e| broken(&e, 0, 0))?;
    let header = parser.header();
    // The upper half of the field says whether frames include an FCS; it is not part of the number.
    let link = u32::from(header.datalink) & 0xffff;
    let (ticks, unit) = match header.ts_resolution {
        TsResolution::MicroSecond => (1_000_000, "microseconds"),
        TsResolution::NanoSecond => (1_000_000_000, "nanoseconds"),
    };
    let fraction_ps = 1_000_000_000_000 / i128::from(ticks);
    while !rest.is_empty() {
        // Raw, because the checked parser refuses every packet longer than the snapshot length,
        // although such packets are what a snapshot length is for.
        let offset = file.len() - rest.len();
        let (after, packet) =
            parser.next_raw_packet(rest).map_err(|e| broken(&e, collector.len(), offset))?;
        if packet.ts_frac >= ticks {
            let packet_number = collector.len() + 1;
            let fraction = packet.ts_frac;
            return Err(CaptureError::Fraction { packet: packet_number, fraction, ticks, unit });
        }
        let at = i128::from(packet.ts_sec) * 1_000_000_000_000
            + i128::from(packet.ts_frac) * fraction_ps;
        collector.push(at, link, packet.orig_len, &packet.data)?;
        rest = after;
    }
    Ok(())
}

fn broken(error: &PcapError, read: usize, offset: usize) -> CaptureError {
    match error {
        PcapError::IncompleteBuffer => CaptureError::Truncated { read, offset },
        PcapError::InvalidField(what) => CaptureError::Damaged { read, offset, what },
        _ => CaptureError::Damaged { read, offset, what: "not a pcap record" },
    }
}
