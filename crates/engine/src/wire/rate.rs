//! Conversion of traffic rates between bits on the wire and packets.

use super::Capture;
use super::config::{SizesConfig, TrafficConfig};
use crate::frame::WIRE_OVERHEAD_BYTES;
use crate::units::{BitRate, Rate, Size, TrafficRate};

/// The mean number of bits that a packet occupies on the wire, gaps included, as an exact fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeanPacket {
    pub(crate) bits: u128,
    pub(crate) packets: u128,
}

impl MeanPacket {
    /// The mean for these sizes; `None` for an empty mix.
    pub(crate) fn of_sizes(sizes: &SizesConfig) -> Option<MeanPacket> {
        let bits = |size: Size| (u128::from(size.0) + u128::from(WIRE_OVERHEAD_BYTES)) * 8;
        let (bits, packets) = match sizes {
            SizesConfig::Fixed { size } => (bits(*size), 1),
            SizesConfig::Mix { of } => of.iter().fold((0, 0), |(sum, packets), share| {
                let weight = u128::from(share.weight);
                (sum + bits(share.size) * weight, packets + weight)
            }),
        };
        (packets > 0).then_some(MeanPacket { bits, packets })
    }

    /// The mean of a capture or of synthetic traffic; `None` for traffic without a rate.
    pub(crate) fn of_traffic(
        traffic: &TrafficConfig,
        capture: Option<&Capture>,
    ) -> Option<MeanPacket> {
        match traffic {
            TrafficConfig::Constant { sizes, .. }
            | TrafficConfig::Poisson { sizes, .. }
            | TrafficConfig::Bursts { sizes, .. } => MeanPacket::of_sizes(sizes),
            TrafficConfig::Replay { .. } => capture.map(|capture| MeanPacket {
                bits: capture.wire_bits(),
                packets: capture.packets().len() as u128,
            }),
            TrafficConfig::Backlog { .. } | TrafficConfig::ClosedLoop(_) => None,
        }
    }

    /// The whole packets per second that this bit rate carries, rounded down so that the wire
    /// always has room for them.
    pub(crate) fn packets_at(self, rate: BitRate) -> Rate {
        let packets = u128::from(rate.0) * self.packets / self.bits;
        Rate(packets.try_into().unwrap_or(u64::MAX))
    }

    /// The bits per second of this packet rate, rounded up.
    pub(crate) fn bits_at(self, rate: Rate) -> BitRate {
        let bits = (u128::from(rate.0) * self.bits).div_ceil(self.packets);
        BitRate(bits.try_into().unwrap_or(u64::MAX))
    }
}

impl TrafficRate {
    /// The rate in packets, for traffic of these sizes.
    pub(super) fn packets(self, sizes: &SizesConfig) -> Rate {
        match self {
            TrafficRate::Packets(rate) => rate,
            TrafficRate::Bits(rate) => {
                MeanPacket::of_sizes(sizes).map_or(Rate(0), |mean| mean.packets_at(rate))
            }
        }
    }
}

impl TrafficConfig {
    /// The bit rate of synthetic traffic whose rate is given in bits.
    pub(crate) fn synthetic_bit_rate(&self) -> Option<BitRate> {
        match self {
            TrafficConfig::Constant { rate: TrafficRate::Bits(rate), .. }
            | TrafficConfig::Poisson { rate: TrafficRate::Bits(rate), .. }
            | TrafficConfig::Bursts { rate: TrafficRate::Bits(rate), .. } => Some(*rate),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::config::SizeShare;

    /// The simple IMIX: (7 x 84 + 4 x 614 + 1538) x 8 / 12 = 3054.67 bits on the wire.
    #[test]
    fn a_bit_rate_becomes_packets_by_the_mean_size() {
        let fixed = SizesConfig::Fixed { size: Size(60) };
        let share = |bytes, weight| SizeShare { size: Size(bytes), weight };
        let imix = SizesConfig::Mix { of: vec![share(60, 7), share(590, 4), share(1514, 1)] };
        let line = TrafficRate::Bits(BitRate(10_000_000_000));
        // The line rate of 10GbE, as data sheets state it.
        assert_eq!(line.packets(&fixed), Rate(14_880_952));
        assert_eq!(line.packets(&imix), Rate(10_000_000_000 * 12 / 36_656));
        let mean = MeanPacket::of_sizes(&imix).expect("sizes");
        assert_eq!(mean.bits_at(Rate(12)), BitRate(36_656));
        assert_eq!(mean.packets_at(BitRate(36_655)), Rate(11));
        assert!(MeanPacket::of_sizes(&SizesConfig::Mix { of: vec![] }).is_none());
    }
}
