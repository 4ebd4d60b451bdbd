//! Checks that the values of the traffic can be simulated.

use super::FlowTable;
use super::config::{SizesConfig, TrafficConfig};
use super::rate::MeanPacket;
use crate::check::Check;
use crate::frame::{MAX_FRAME_BYTES, MAX_LINK, MIN_FRAME_BYTES};
use crate::time::PS_PER_S;
use crate::units::{BitRate, Duration, Rate, Size, TrafficRate};

/// Above this, two packets would share a picosecond of the simulated clock.
pub(super) const MAX_RATE: Rate = Rate(PS_PER_S as u64);

/// Longer than any run that finishes; keeps the rate arithmetic within 128 bits.
const MAX_BURST: Duration = Duration(60 * PS_PER_S as u64);

/// Far beyond the longest run, and within what the clock can count.
const MAX_FIRST: Duration = Duration(1_000_000 * PS_PER_S as u64);

impl TrafficConfig {
    /// Reports values that cannot be simulated. Needs no capture, so it can run before any file is opened.
    pub(crate) fn check(&self, check: &mut Check) {
        match self {
            TrafficConfig::Constant { rate, sizes, flows }
            | TrafficConfig::Poisson { rate, sizes, flows } => {
                check_rate(check, *rate, sizes);
                check_packets(check, sizes, *flows);
            }
            TrafficConfig::Bursts { rate, on, off, sizes, flows } => {
                check_rate(check, *rate, sizes);
                check.within("on", *on, Duration(1)..=MAX_BURST);
                check.within("off", *off, Duration(0)..=MAX_BURST);
                let gap = PS_PER_S / u128::from(rate.packets(sizes).0.max(1));
                let first = gap + gap / u128::from(on.0.max(1)) * u128::from(off.0);
                check.that(
                    first <= u128::from(MAX_FIRST.0),
                    "rate",
                    *rate,
                    "a rate at which the first packet comes within 1000000 s, pauses included",
                );
                check_packets(check, sizes, *flows);
            }
            TrafficConfig::Replay { rate, .. } => match rate {
                Some(TrafficRate::Packets(rate)) => {
                    check.within("rate", *rate, Rate(1)..=MAX_RATE);
                }
                Some(TrafficRate::Bits(rate)) => {
                    check.within("rate", *rate, BitRate(1)..=MAX_LINK);
                }
                None => {}
            },
            TrafficConfig::ClosedLoop(config) => config.check(check),
            TrafficConfig::Backlog { depth, sizes, flows } => {
                check.within("depth", *depth, 1..=u32::MAX);
                check_packets(check, sizes, *flows);
            }
        }
    }
}

fn check_rate(check: &mut Check, rate: TrafficRate, sizes: &SizesConfig) {
    match rate {
        TrafficRate::Packets(rate) => check.within("rate", rate, Rate(1)..=MAX_RATE),
        TrafficRate::Bits(rate) => {
            // Impossible sizes are reported elsewhere.
            let least =
                MeanPacket::of_sizes(sizes).map_or(BitRate(1), |mean| mean.bits_at(Rate(1)));
            let what = ", at the least a packet of the mean size per second";
            check.within_what("rate", rate, least.min(MAX_LINK)..=MAX_LINK, what);
        }
    }
}

fn check_packets(check: &mut Check, sizes: &SizesConfig, flows: u32) {
    let frames = Size(MIN_FRAME_BYTES.into())..=Size(MAX_FRAME_BYTES.into());
    check.within("flows", flows, 1..=FlowTable::MAX_SYNTHETIC);
    match sizes {
        SizesConfig::Fixed { size } => check.within("sizes.size", *size, frames),
        SizesConfig::Mix { of } => {
            if of.is_empty() {
                check.refuse("sizes.of", "[]", "at least one entry of a size and a weight");
            }
            for (i, share) in of.iter().enumerate() {
                check.within(&format!("sizes.of.{i}.size"), share.size, frames.clone());
                check.within(&format!("sizes.of.{i}.weight"), share.weight, 1..=u32::MAX);
            }
        }
    }
}
