//! Parses a capture from the bytes of a file, whatever its format.

use super::capture::{Capture, Collector};
use super::capture_error::CaptureError;
use super::{pcap, pcapng};

impl Capture {
    /// Reads a whole pcap or pcapng file.
    ///
    /// Total: any bytes give a capture or an error. Memory use grows with the packets that are
    /// really there, never with a length that the file claims: about seven times `file` if every
    /// packet is 14 bytes long and a flow of its own, less than once for ordinary traffic.
    ///
    /// # Errors
    /// A file that is damaged anywhere is refused as a whole: half a capture would have a different
    /// rate and different flows than its user meant.
    pub fn parse(file: &[u8]) -> Result<Capture, CaptureError> {
        let mut collector = Collector::default();
        match *file {
            [] => return Err(CaptureError::Empty),
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => pcapng::read(file, &mut collector)?,
            [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..] => pcap::read(file, &mut collector)?,
            _ => {
                let hint = match *file {
                    [0x1f, 0x8b, ..] => " (gzip: decompress it first)",
                    [0x28, 0xb5, 0x2f, 0xfd, ..] => " (zstd: decompress it first)",
                    [0xfd, b'7', b'z', ..] => " (xz: decompress it first)",
                    _ => "",
                };
                let magic = file[..file.len().min(4)].to_vec();
                return Err(CaptureError::NotACapture { magic, hint });
            }
        }
        collector.finish()
    }
}
