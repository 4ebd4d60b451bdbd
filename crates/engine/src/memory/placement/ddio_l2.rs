//! DDIO into the L2: as `ddio`, and the core's L2 fetches the lines of its packets from the LLC at once, so that the
//! core finds them there. This is the network-driven MLC prefetching of Alian et al., "IDIO" (MICRO 2022), in
//! which data is first steered to the LLC and from there to the L2.
//!
//! Packets of a long queue would displace one another from the L2 before the core has read them. IDIO therefore
//! stops while an L2 writes much back; here a packet stays in the LLC while `packets` others wait for the core.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ddio::Ddio;
use super::{DmaWrite, Place, Written};
use crate::check::Check;
use crate::memory::caches::Caches;
use crate::memory::line::LineKind;

/// What only `ddio-l2` reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DdioL2Keys {
    /// A packet goes up to the core's L2 while fewer packets than this wait for the core in its queue. By default two
    /// bursts of the 32 packets that DPDK's examples take at a time: one that the core works on, one that waits.
    pub packets: u32,
}

impl Default for DdioL2Keys {
    fn default() -> DdioL2Keys {
        DdioL2Keys { packets: 64 }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DdioL2 {
    packets: u32,
}

impl Place for DdioL2 {
    type Keys = DdioL2Keys;

    fn check(keys: &DdioL2Keys, check: &mut Check) {
        check.at_least_one("packets", keys.packets);
    }

    fn new(keys: &DdioL2Keys) -> DdioL2 {
        DdioL2 { packets: keys.packets }
    }

    #[inline(never)]
    fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written {
        let written = Ddio.write(caches, write);
        if write.kind == LineKind::Rx
            && let Some(reader) = write.reader
            && reader.waiting < self.packets
        {
            caches.fetch_from_llc(reader.core.into(), write.line);
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::memory::line::Line;
    use crate::memory::placement::Reader;
    use crate::memory::private::Found;
    use crate::stats::results::Results;
    use crate::testing::{forwarder, machine, results};

    #[test]
    fn the_reader_finds_in_its_l2_what_comes_while_few_packets_wait() {
        let mut caches = Caches::new(&machine().hierarchy(), vec![u32::MAX; 2], 0b11, 1);
        let mut policy = DdioL2 { packets: 4 };
        let mut write = |caches: &mut Caches, line: Line, kind, waiting| {
            let reader = Some(Reader { core: 1, waiting });
            let written = policy.write(caches, DmaWrite { line, kind, index: 0, reader });
            assert_eq!(written, Written::Miss);
            (0..2).map(|core| caches.private_access(core, line, None)).collect::<Vec<_>>()
        };
        let nowhere = vec![Found::Nowhere; 2];
        assert_eq!(write(&mut caches, 100, LineKind::Rx, 3), [Found::Nowhere, Found::L2]);
        assert_eq!(write(&mut caches, 101, LineKind::Rx, 4), nowhere);
        assert_eq!(write(&mut caches, 102, LineKind::Descriptor, 0), nowhere);
        caches.check().unwrap();
    }

    #[test]
    fn a_core_that_keeps_up_reads_its_packets_from_the_l2() {
        let run = |policy: &str| {
            let r = results(&forwarder(&[
                // Packets of one line, so that all of them fit into the L2, which the core may write when they
                // have moved up.
                ("/traffic/sizes/size", json!("64 B")),
                ("/machine/llc/io_lines", json!("move")),
                ("/placement/policy", json!(policy)),
            ]));
            let of_packets = r.caches.iter().find(|c| c.level == "l2" && c.kind == "rx");
            let c = of_packets.expect("packets are read");
            (c.misses as f64 / (c.hits + c.misses) as f64, r)
        };
        let (ddio, plain) = run("ddio");
        let (l2, up) = run("ddio-l2");
        assert!(ddio > 0.99 && l2 < 0.01, "{ddio} of the reads miss the L2, {l2} with ddio-l2");
        let mean = |r: &Results| {
            let service = r.latency.iter().find(|l| l.stage == "service");
            service.expect("packets are served").distribution.mean_ns
        };
        assert!(mean(&up) < mean(&plain), "{} ns, {} with ddio", mean(&up), mean(&plain));
    }
}
