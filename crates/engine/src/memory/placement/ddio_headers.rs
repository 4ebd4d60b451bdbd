//! DDIO for headers: the first lines of each packet, and what is no packet, go the way of DDIO; the payload
//! goes to memory. For applications that read only headers, so that payload does not take their place in the
//! LLC: the selective direct DRAM access of Alian et al., "IDIO" (MICRO 2022), for all packets. On a link, a
//! steering tag in the TLP can ask for this (PCI Express Base Specification 5.0, 6.17, "TLP Processing Hints").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ddio::Ddio;
use super::dma::Dma;
use super::{DmaWrite, Place, Written};
use crate::check::Check;
use crate::memory::caches::Caches;
use crate::memory::line::LineKind;

/// What only `ddio-headers` reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DdioHeadersKeys {
    /// How many lines of a packet, from its first, go the way of DDIO. Headers of Ethernet, IPv4 and UDP have 42 B, with
    /// TCP and its timestamps 66.
    pub lines: u32,
}

impl Default for DdioHeadersKeys {
    fn default() -> DdioHeadersKeys {
        DdioHeadersKeys { lines: 1 }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DdioHeaders {
    lines: u32,
}

impl Place for DdioHeaders {
    type Keys = DdioHeadersKeys;

    fn check(keys: &DdioHeadersKeys, check: &mut Check) {
        check.at_least_one("lines", keys.lines);
    }

    fn new(keys: &DdioHeadersKeys) -> DdioHeaders {
        DdioHeaders { lines: keys.lines }
    }

    #[inline]
    fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written {
        let payload = write.kind == LineKind::Rx && write.index >= self.lines;
        if payload { Dma.write(caches, write) } else { Ddio.write(caches, write) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn only_payload_goes_to_memory() {
        let mut caches = Caches::new(&machine().hierarchy(), vec![u32::MAX; 2], 0b11, 1);
        let mut policy = DdioHeaders { lines: 2 };
        let mut written = |line, kind, index| {
            policy.write(&mut caches, DmaWrite { line, kind, index, reader: None })
        };
        assert_eq!(written(100, LineKind::Rx, 0), Written::Miss);
        assert_eq!(written(101, LineKind::Rx, 1), Written::Miss);
        assert_eq!(written(102, LineKind::Rx, 2), Written::Memory);
        assert_eq!(written(100, LineKind::Rx, 0), Written::Hit);
        // What held a header is now payload: no older copy stays.
        assert_eq!(written(100, LineKind::Rx, 7), Written::Memory);
        assert_eq!(written(100, LineKind::Rx, 0), Written::Miss);
        assert_eq!(written(200, LineKind::Descriptor, 1), Written::Miss);
    }
}
