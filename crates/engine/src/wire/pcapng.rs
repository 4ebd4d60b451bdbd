//! The block format of Wireshark (draft-ietf-opsawg-pcapng): sections, interfaces, packets.
//!
//! Parsed here rather than with the `pcap-file` crate, whose version 2.0 takes every time stamp as
//! nanoseconds whatever `if_tsresol` says, refuses a valid `if_tzone`, and refuses option lists
//! without an end mark. Only those options that affect times are read.

use super::capture::Collector;
use super::capture_error::CaptureError;
use crate::time::PS_PER_S;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
/// Obsolete; written by tools from before 2010.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

/// What is needed from an interface to interpret its packets.
struct Interface {
    link: u32,
    resolution: Resolution,
    /// Added to every time stamp, in seconds.
    offset_s: i64,
}

/// How many ticks of a time stamp make a second.
#[derive(Clone, Copy)]
enum Resolution {
    /// 10 to this power, at most [`Resolution::MAX_DECIMAL`].
    Decimal(u32),
    /// 2 to this power, at most 127.
    Binary(u32),
}

impl Resolution {
    /// 10^38 is the largest power of ten that 128 bits hold.
    const MAX_DECIMAL: u32 = 38;

    fn from_option(value: u8) -> Option<Resolution> {
        let exponent = u32::from(value & 0x7f);
        if value & 0x80 != 0 {
            Some(Resolution::Binary(exponent))
        } else {
            (exponent <= Self::MAX_DECIMAL).then_some(Resolution::Decimal(exponent))
        }
    }

    fn ps(self, ticks: u64) -> u128 {
        // Below 2^104, so the product cannot overflow.
        let scaled = u128::from(ticks) * PS_PER_S;
        match self {
            Resolution::Decimal(exponent) => scaled / 10u128.pow(exponent),
            Resolution::Binary(exponent) => scaled >> exponent,
        }
    }
}

/// Bytes, and the byte order of their section.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl<'a> Reader<'a> {
    fn u16(self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// A time stamp: the upper 32 bits come first in either byte order.
    fn ticks(self, at: usize) -> Option<u64> {
        Some(u64::from(self.u32(at)?) << 32 | u64::from(self.u32(at + 4)?))
    }

    fn slice(self, at: usize, length: u32) -> Option<&'a [u8]> {
        self.bytes.get(at..)?.get(..length as usize)
    }
}

/// Passes every packet of `file`, which begins with a section header, to `collector`.
pub(super) fn read(file: &[u8], collector: &mut Collector) -> Result<(), CaptureError> {
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut big_endian = false;
    let mut offset = 0;
    while offset < file.len() {
        let read = collector.len();
        let truncated = CaptureError::Truncated { read, offset };
        let damaged = move |what| CaptureError::Damaged { read, offset, what };

        let mut block = Reader { bytes: &file[offset..], big_endian };
        let kind = block.u32(0).ok_or(truncated.clone())?;
        if kind == SECTION_HEADER {
            // The byte-order magic comes after the length that it is needed to read.
            let magic = block.bytes.get(8..12).ok_or(truncated.clone())?;
            big_endian = match magic {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                _ => return Err(damaged("the byte-order magic of a section header is wrong")),
            };
            block.big_endian = big_endian;
            interfaces.clear();
        }
        let length = block.u32(4).ok_or(truncated.clone())?;
        if length < 12 || length % 4 != 0 {
            return Err(damaged("a block length is below 12 or no multiple of 4"));
        }
        let whole = block.slice(0, length).ok_or(truncated)?;
        if block.u32(length as usize - 4) != Some(length) {
            return Err(damaged("the two lengths of a block differ"));
        }
        offset += whole.len();

        let body = Reader { bytes: &whole[8..whole.len() - 4], big_endian };
        match kind {
            INTERFACE_DESCRIPTION => interfaces.push(interface(body).map_err(damaged)?),
            ENHANCED_PACKET | PACKET => {
                let short = || damaged("a packet block is too short for its fields");
                let id = match kind {
                    PACKET => body.u16(0).map(u32::from),
                    _ => body.u32(0),
                };
                let id = id.ok_or_else(short)?;
                let ticks = body.ticks(4).ok_or_else(short)?;
                let captured = body.u32(12).ok_or_else(short)?;
                let original = body.u32(16).ok_or_else(short)?;
                let data = body
                    .slice(20, captured)
                    .ok_or_else(|| damaged("a captured length is larger than its block"))?;
                let interface = interfaces.get(id as usize).ok_or(CaptureError::Interface {
                    packet: read + 1,
                    interface: id,
                    known: interfaces.len(),
                })?;
                let at = interface.resolution.ps(ticks) as i128
                    + i128::from(interface.offset_s) * PS_PER_S as i128;
                collector.push(at, interface.link, original, data)?;
            }
            SIMPLE_PACKET => return Err(CaptureError::NoTime { packet: read + 1 }),
            // Names, statistics, secrets, custom blocks: not needed for a replay.
            _ => {}
        }
    }
    Ok(())
}

/// Reads an interface description and those of its options that affect times.
fn interface(body: Reader<'_>) -> Result<Interface, &'static str> {
    let link = body.u16(0).ok_or("an interface description is too short")?;
    // Microseconds unless said otherwise.
    let mut interface =
        Interface { link: link.into(), resolution: Resolution::Decimal(6), offset_s: 0 };
    let mut at = 8;
    while let (Some(code), Some(length)) = (body.u16(at), body.u16(at + 2)) {
        if code == 0 {
            break;
        }
        let value = body.slice(at + 4, length.into()).ok_or("an option overruns its block")?;
        match (code, value) {
            (IF_TSRESOL, &[resolution]) => {
                interface.resolution = Resolution::from_option(resolution)
                    .ok_or("if_tsresol is finer than 10^-38 s")?;
            }
            (IF_TSOFFSET, value) => {
                let value = value.try_into().map_err(|_| "if_tsoffset is not 8 bytes long")?;
                interface.offset_s = if body.big_endian {
                    i64::from_be_bytes(value)
                } else {
                    i64::from_le_bytes(value)
                };
            }
            (IF_TSRESOL, _) => return Err("if_tsresol is not 1 byte long"),
            _ => {}
        }
        at += 4 + usize::from(length).next_multiple_of(4);
    }
    Ok(interface)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Ps;
    use crate::wire::Capture;

    fn le(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let length = body.len() as u32 + 12;
        [&le(&[kind, length]), body, &le(&[length])].concat()
    }

    fn section() -> Vec<u8> {
        block(SECTION_HEADER, &le(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]))
    }

    fn interface(options: &[u8]) -> Vec<u8> {
        block(INTERFACE_DESCRIPTION, &[&le(&[1, 0]), options].concat())
    }

    /// A 60-byte packet with nothing in it.
    fn packet(interface: u32, ticks: u64) -> Vec<u8> {
        let head = le(&[interface, (ticks >> 32) as u32, ticks as u32, 60, 60]);
        block(ENHANCED_PACKET, &[&head, &[0; 60][..]].concat())
    }

    /// The times of two packets `ticks` apart, on an interface with `options`.
    fn span(options: &[u8], ticks: u64) -> Result<Ps, CaptureError> {
        let file =
            [section(), interface(options), packet(0, 1 << 40), packet(0, (1 << 40) + ticks)];
        Capture::parse(&file.concat()).map(|capture| capture.span())
    }

    #[test]
    fn time_stamps_have_the_resolution_of_their_interface() {
        let tsresol = |value| [9, 0, 1, 0, value, 0, 0, 0];
        assert_eq!(span(&[], 7), Ok(Ps::from_us(7)));
        assert_eq!(span(&tsresol(9), 7), Ok(Ps::from_ns(7)));
        assert_eq!(span(&tsresol(12), 7), Ok(Ps(7)));
        assert_eq!(span(&tsresol(0), 7), Ok(Ps(7_000_000_000_000)));
        assert_eq!(span(&tsresol(0x80 | 10), 1024), Ok(Ps(1_000_000_000_000)));
        assert!(matches!(span(&tsresol(39), 7), Err(CaptureError::Damaged { .. })));
    }

    #[test]
    fn options_that_trip_other_readers_are_skipped() {
        // if_tzone of 4 bytes, a name that is not UTF-8, no end mark; then the resolution.
        let options =
            [10, 0, 4, 0, 1, 0, 0, 0, 2, 0, 2, 0, 0xff, 0xfe, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0];
        assert_eq!(span(&options, 5), Ok(Ps::from_ns(5)));
        let overrun = [2, 0, 200, 0, b'e', b't', b'h', b'0'];
        assert!(matches!(span(&overrun, 5), Err(CaptureError::Damaged { .. })));
    }

    #[test]
    fn interfaces_of_different_offset_share_one_time_line() {
        let late = [&[14, 0, 8, 0][..], &2i64.to_le_bytes()].concat();
        let early = [&[14, 0, 8, 0][..], &(-1i64).to_le_bytes()].concat();
        let file = [section(), interface(&late), interface(&early), packet(0, 5), packet(1, 5)];
        let capture = Capture::parse(&file.concat()).unwrap();
        assert_eq!(capture.span(), Ps(3_000_000_000_000));
    }

    #[test]
    fn the_obsolete_packet_block_is_read() {
        let head = le(&[0xffff << 16, 0, 9, 60, 60]);
        let old = block(PACKET, &[&head, &[0; 60][..]].concat());
        let file = [section(), interface(&[]), packet(0, 5), old].concat();
        assert_eq!(Capture::parse(&file).map(|c| c.span()), Ok(Ps::from_us(4)));
    }

    #[test]
    fn what_cannot_be_replayed_is_refused() {
        let parse = |blocks: &[Vec<u8>]| Capture::parse(&blocks.concat()).unwrap_err();
        assert_eq!(
            parse(&[section(), interface(&[]), packet(0, 1), packet(3, 1)]),
            CaptureError::Interface { packet: 2, interface: 3, known: 1 }
        );
        // A new section forgets the interfaces of the previous one.
        assert_eq!(
            parse(&[section(), interface(&[]), packet(0, 1), section(), packet(0, 1)]),
            CaptureError::Interface { packet: 2, interface: 0, known: 0 }
        );
        let simple = block(SIMPLE_PACKET, &[&le(&[60]), &[0; 60][..]].concat());
        assert_eq!(parse(&[section(), interface(&[]), simple]), CaptureError::NoTime { packet: 1 });
        assert_eq!(parse(&[section(), interface(&[])]), CaptureError::NoPackets);
        let long = block(ENHANCED_PACKET, &le(&[0, 0, 0, 60, 60]));
        assert!(matches!(parse(&[section(), interface(&[]), long]), CaptureError::Damaged { .. }));
    }
}
