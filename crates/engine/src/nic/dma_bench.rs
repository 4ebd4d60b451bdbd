//! A DMA benchmark: a device that reads or writes host memory as fast as it can, as the cards of
//! pcie-bench do (Neugebauer et al., "Understanding PCIe performance for end host networking",
//! SIGCOMM 2018).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Nic;
use crate::check::Check;
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, lines_in};
use crate::pcie::config::Pcie;
use crate::rng::Rng;
use crate::units::{Duration, Size};

/// Transactions of one size at random offsets in a window of host memory, as many in flight as the
/// credits of the NIC and the PCIe link allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DmaBench {
    /// Whether the device reads or writes.
    pub direction: Direction,
    /// Bytes per transaction: whole cache lines, at most a small page.
    pub size: Size,
    /// Size of the memory window in which the transactions lie, each aligned to its size.
    pub window: Size,
    /// Time that the device itself needs for a transaction: the next begins as long after the one before, or later if
    /// that waits for credits or the link.
    #[serde(default)]
    pub interval: Duration,
    /// Extra time that a read takes inside the device, which holds the read tags for that much longer.
    #[serde(default)]
    pub overhead: Duration,
    /// Whether the cores have touched the window beforehand, so that the LLC holds as much of it as it can, in the
    /// ways that core 0 may use.
    #[serde(default)]
    pub warm: bool,
}

impl DmaBench {
    /// Reports values that cannot be simulated with the credits of `nic` and the link.
    pub(crate) fn check(&self, nic: &Nic, pcie: Option<&Pcie>, check: &mut Check) {
        let DmaBench { direction, size, window, interval, overhead, .. } = self;
        let page = Size(4096);
        if !(Size(LINE_BYTES)..=page).contains(size) || !size.0.is_multiple_of(LINE_BYTES) {
            check.refuse("size", size, format!("a multiple of {LINE_BYTES} B up to {page}"));
            return;
        }
        if *direction == Direction::Read {
            let lines = Size(u64::from(nic.read_credits) * LINE_BYTES);
            let requests =
                pcie.map(|p| Size(u64::from(p.non_posted_credits) * p.max_read_request.0));
            let limits = [
                (Some(lines), "the lines of machine.nic.read_credits"),
                (requests, "machine.pcie.non_posted_credits requests of max_read_request"),
            ];
            for (most, of) in limits {
                if let Some(most) = most.filter(|most| size > most) {
                    check.refuse("size", size, format!("at most {most}, {of}"));
                }
            }
        }
        check.within("window", *window, *size..=Size(64 << 30));
        let longest = Duration(1_000_000_000);
        check.within("interval", *interval, Duration(0)..=longest);
        check.within("overhead", *overhead, Duration(0)..=longest);
    }
}

/// The direction of a DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From host memory to the device.
    Read,
    /// From the device to host memory.
    Write,
}

/// The window in memory and the generator of the next offset.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) first: Line,
    pub(crate) lines: u32,
    transaction_lines: u32,
    offsets: Rng,
}

impl Window {
    pub(crate) fn new(config: &DmaBench, seed: u64, space: &mut AddressSpace) -> Window {
        Window {
            first: space.reserve(config.window.0),
            lines: (config.window.0 / LINE_BYTES) as u32,
            transaction_lines: lines_in(config.size.0),
            offsets: Rng::new(seed, "dma-bench"),
        }
    }

    /// Draws the first line of the next transaction.
    pub(crate) fn next(&mut self) -> Line {
        let units = self.lines / self.transaction_lines;
        self.first + self.offsets.below(units) * self.transaction_lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_cover_the_window_and_stay_in_it() {
        let config = DmaBench {
            direction: Direction::Read,
            size: Size(256),
            window: Size(4096 + 128),
            interval: Duration(0),
            overhead: Duration(0),
            warm: false,
        };
        let mut space = AddressSpace::default();
        space.reserve(1);
        let mut window = Window::new(&config, 1, &mut space);
        let mut seen = [0; 16];
        for _ in 0..1_000 {
            let offset = window.next() - 64;
            assert_eq!(offset % 4, 0);
            seen[offset as usize / 4] += 1;
        }
        assert!(seen.iter().all(|&n| n > 20), "{seen:?}");
    }
}
