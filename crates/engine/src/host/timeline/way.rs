//! The points of a packet's path, and the steps between them.

use crate::stats::timeline::Slice;
use crate::time::Ps;

/// A point that a packet passes, in the order of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(in crate::host) enum Point {
    /// It is in the NIC's SRAM.
    Arrived,
    /// All packets before it have been sent: the NIC turns to it, and it waits for a descriptor.
    First,
    /// It has its descriptor.
    DmaStart,
    /// The NIC has sent all its data.
    Sent,
    /// The last of its data is at the I/O controller.
    AtMemory,
    /// The last of its data that waited for a translation is translated.
    Translated,
    /// The LLC has taken the last of its data that was held back.
    Written,
    /// The NIC has sent its completion.
    CompletionSent,
    /// The completion is at the I/O controller.
    CompletionAtMemory,
    /// The completion is translated.
    CompletionTranslated,
    /// The core can see it.
    Visible,
    /// The driver has taken it from the ring.
    Taken,
    /// The core begins to process it.
    Begun,
    /// The request has ended.
    Ended,
    /// It is posted, which takes a free transmit descriptor.
    Posted,
    /// Its doorbell, which may cover the rest of its burst too, is at the NIC.
    Doorbell,
    /// The NIC has read its transmit descriptor, if it reads descriptors separately from the data.
    Descriptor,
    /// The NIC sends the last of the read requests for it.
    ReadSent,
    /// The last of them is at the I/O controller.
    ReadAtMemory,
    /// The last of them that waited for a translation is translated.
    ReadTranslated,
    /// The LLC has taken the last of them that was held back.
    ReadTaken,
    /// All its data is at the I/O controller.
    ReadReady,
    /// All its data is at the NIC.
    AtNic,
    /// Its last bit is on the wire.
    Transmitted,
}

pub(super) const POINTS: usize = Point::Transmitted as usize + 1;

/// Stage and name of the step that ends at each point after the first. The stages are those of the
/// latency histograms, and each ends at a time stamp that the histograms use. For an on-chip NIC,
/// [`ON_CHIP`] replaces [`LINK`].
const STEPS: [(&str, &str); POINTS - 1] = [
    ("nic", "behind others in SRAM"),
    ("nic", "receive descriptor"),
    ("dma", "link and write credits"),
    ("dma", "PCIe, data"),
    ("dma", "IOMMU, data"),
    ("dma", "LLC admission"),
    ("dma", "completion waits to be sent"),
    ("dma", "PCIe, completion"),
    ("dma", "IOMMU, completion"),
    ("dma", "completion write"),
    ("queue", "ring"),
    ("queue", "behind its burst"),
    ("service", "core"),
    ("transmit", "free transmit descriptor"),
    ("transmit", "doorbell"),
    ("transmit", "descriptor read"),
    ("transmit", "read credits"),
    ("transmit", "PCIe, read request"),
    ("transmit", "IOMMU, read"),
    ("transmit", "LLC admission, read"),
    ("transmit", "memory read"),
    ("transmit", "PCIe, read data"),
    ("transmit", "wire"),
];

const LINK: &str = "PCIe";
const ON_CHIP: &str = "on-chip network";

/// When a packet has passed each point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    stamps: [Ps; POINTS],
}

impl Way {
    pub(super) fn pass(&mut self, point: Point, at: Ps) {
        self.stamps[point as usize] = at;
    }

    /// When it has passed a point; zero if it has not.
    #[cfg(test)]
    pub(super) fn passed(&self, point: Point) -> Ps {
        self.stamps[point as usize]
    }

    /// The NIC turns to the packet, perhaps not for the first time.
    pub(super) fn first(&mut self, at: Ps) {
        let first = &mut self.stamps[Point::First as usize];
        if *first == Ps::ZERO {
            *first = at;
        }
    }

    /// The path as slices without gaps.
    ///
    /// A point that is passed before those ahead of it in the order adds no time of its own: a
    /// completion that is sent before the data is in memory, or a translation that was cached. So a
    /// step ends no earlier than the one before it, and a step that was not needed is empty.
    pub(super) fn slices(&self, on_chip: bool) -> Vec<Slice> {
        let mut begin = self.stamps[0];
        let mut slices = Vec::new();
        for (&end, (stage, step)) in self.stamps[1..].iter().zip(STEPS) {
            if end > begin {
                slices.push(Slice {
                    stage: stage.into(),
                    step: if on_chip { step.replace(LINK, ON_CHIP) } else { step.into() },
                    begin_ps: begin.0,
                    end_ps: end.0,
                });
                begin = end;
            }
        }
        slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_hide_takes_no_time() {
        let mut way = Way::default();
        for (point, ns) in [
            (Point::Arrived, 100),
            (Point::First, 110),
            (Point::DmaStart, 130),
            (Point::AtMemory, 400),
            // Sent together with the data, and in memory after it.
            (Point::CompletionSent, 140),
            (Point::CompletionAtMemory, 410),
            (Point::Visible, 430),
        ] {
            way.pass(point, Ps::from_ns(ns));
        }
        let slices = way.slices(false);
        let steps: Vec<_> =
            slices.iter().map(|s| (s.step.as_str(), s.begin_ps / 1000, s.end_ps / 1000)).collect();
        assert_eq!(
            steps,
            [
                ("behind others in SRAM", 100, 110),
                ("receive descriptor", 110, 130),
                ("PCIe, data", 130, 400),
                ("PCIe, completion", 400, 410),
                ("completion write", 410, 430),
            ]
        );
    }
}
