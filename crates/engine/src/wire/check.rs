//! Which values of the traffic can be simulated.

use super::config::{SizesConfig, TrafficConfig};
use super::{FlowTable, MAX_FRAME_BYTES, MIN_FRAME_BYTES};
use crate::config::units::{BitRate, Duration, Rate, Size};
use crate::time::PS_PER_S;

/// A value of the traffic that cannot be simulated. The caller adds the file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key} = {given}; expected {allowed}")]
pub struct TrafficError {
    /// The key below `traffic`, such as `sizes.of[1].weight`.
    pub key: String,
    /// What was given.
    pub given: String,
    /// What is allowed and why.
    pub allowed: String,
}

/// Above this, two packets would share a picosecond of the simulated clock.
const MAX_RATE: Rate = Rate(PS_PER_S as u64);

/// Longer than any run that finishes; keeps the arithmetic of rates within 128 bits.
const MAX_BURST: Duration = Duration(60 * PS_PER_S as u64);

impl TrafficConfig {
    /// Whether every value lies in its range; needs no capture, so it can come before any file is
    /// opened.
    ///
    /// # Errors
    /// The first value that does not.
    pub fn check(&self) -> Result<(), TrafficError> {
        match self {
            TrafficConfig::Constant { rate, sizes, flows }
            | TrafficConfig::Poisson { rate, sizes, flows } => {
                within("rate", *rate, Rate(1), MAX_RATE)?;
                check_packets(sizes, *flows)
            }
            TrafficConfig::Bursts { rate, on, off, sizes, flows } => {
                within("rate", *rate, Rate(1), MAX_RATE)?;
                within("on", *on, Duration(1), MAX_BURST)?;
                within("off", *off, Duration(0), MAX_BURST)?;
                check_packets(sizes, *flows)
            }
            TrafficConfig::Replay { rate, .. } => match rate {
                Some(BitRate(0)) => within("rate", BitRate(0), BitRate(1), BitRate(u64::MAX)),
                _ => Ok(()),
            },
            TrafficConfig::ClosedLoop(config) => config.check(),
            TrafficConfig::Backlog { depth, sizes, flows } => {
                within("depth", *depth, 1, u32::MAX)?;
                check_packets(sizes, *flows)
            }
        }
    }
}

fn check_packets(sizes: &SizesConfig, flows: u32) -> Result<(), TrafficError> {
    within("flows", flows, 1, FlowTable::MAX_SYNTHETIC)?;
    let frame = |key: &str, size: Size| {
        within(key, size, Size(MIN_FRAME_BYTES.into()), Size(MAX_FRAME_BYTES.into()))
    };
    match sizes {
        SizesConfig::Fixed { size } => frame("sizes.size", *size),
        SizesConfig::Mix { of } if of.is_empty() => Err(TrafficError {
            key: "sizes.of".into(),
            given: "[]".into(),
            allowed: "at least one entry of a size and a weight".into(),
        }),
        SizesConfig::Mix { of } => of.iter().enumerate().try_for_each(|(i, share)| {
            frame(&format!("sizes.of[{i}].size"), share.size)?;
            within(&format!("sizes.of[{i}].weight"), share.weight, 1, u32::MAX)
        }),
    }
}

fn within<T: Copy + PartialOrd + std::fmt::Display>(
    key: &str,
    given: T,
    low: T,
    high: T,
) -> Result<(), TrafficError> {
    if low <= given && given <= high {
        return Ok(());
    }
    let allowed = format!("{low} to {high}");
    Err(TrafficError { key: key.into(), given: given.to_string(), allowed })
}
