//! Congestion controls: the joint, and the registry.
//!
//! docs/models/transport.md explains step by step how to add one.

pub mod dcqcn;
pub mod dctcp;
pub mod hpcc;
mod rate;
pub mod swift;
pub mod timely;
mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::dcqcn::{Dcqcn, DcqcnConfig};
use self::dctcp::{Dctcp, DctcpConfig};
use self::hpcc::{Hpcc, HpccConfig};
use self::swift::{Swift, SwiftConfig};
use self::timely::{Timely, TimelyConfig};
use crate::check::Check;
use crate::time::Ps;
use crate::transport::telemetry::Telemetry;
use crate::units::{BitRate, Duration};

/// Windows are fixed-point numbers with 32 integer bits.
const MAX_CWND: f64 = 65_536.0;
/// Far below what makes any difference, and far above the resolution of the fixed-point format.
const MIN_CWND: f64 = 1e-6;
/// The longest delay, target or timeout that can be set: one second.
pub(super) const MAX_DELAY: Duration = Duration(1_000_000_000_000);

/// What an acknowledgement tells the congestion control. Anything that the server adds, such as a
/// signal of its host, is put into the [`Datagram`](super::datagram::Datagram) by `host/closed_loop.rs` and read in
/// `Connection::on_ack`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Feedback {
    /// From sending the packet to the arrival of its acknowledgement.
    pub(crate) rtt: Ps,
    /// The smoothed round trip (RFC 6298), with this one.
    pub(crate) smoothed_rtt: Ps,
    /// The part of `rtt` that the packet spent in the server, from its arrival at the NIC until its
    /// acknowledgement was handed over; the acknowledgement carries this value.
    pub(crate) endpoint: Ps,
    /// What the queues on the way told when the packet left them.
    pub(crate) telemetry: Telemetry,
    /// Whether the switch or the server's NIC marked the packet (ECN).
    pub(crate) marked: bool,
    /// Position of this transmission among all transmissions of the connection.
    pub(crate) order: u64,
    /// Position that the connection's next transmission will have.
    pub(crate) next_order: u64,
    /// At some time since the packet was sent, the window was full: it limited what was sent, not a
    /// lack of data to send.
    pub(crate) window_full: bool,
    /// The packet had been acknowledged before, so one of its transmissions was unnecessary.
    pub(crate) duplicate: bool,
}

/// The way of a connection's data, as far as it is known before the first packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Bits that a data frame takes of a link, preamble and gap included.
    pub(crate) frame_bits: u64,
    /// Rate of the sender's link.
    pub(crate) link: BitRate,
    /// Connections of the sender, which share this link.
    pub(crate) connections: u32,
    /// Rate of the server's link, behind the switch.
    pub(crate) server_link: BitRate,
}

/// A packet that is considered lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// Position of the lost transmission among all transmissions of the connection.
    pub(crate) order: u64,
    /// Position that the connection's next transmission will have.
    pub(crate) next_order: u64,
}

/// A congestion control: the state of one connection.
///
/// Contract: calls come in time order. `window` is in packets of [`fixed::ONE`](super::fixed::ONE) and above zero; a
/// window below one packet means one packet at a time, no sooner than `pacing` after the previous
/// one. A window of 2.7 packets allows two in flight. A rate-based control limits its rate with
/// `pacing`, tells it by `rate`, and its window leaves room for what that takes; what results call
/// its window is its rate times the smoothed round trip. The connection, not the control, decides
/// what is lost; the control limits how often it reacts.
pub(crate) trait Control: Sized {
    /// The parameters that a user sets.
    type Config;

    /// Whether it reacts to marks (ECN). Users are warned of marks that nothing hears.
    const HEARS_MARKS: bool;

    /// Reports parameters that cannot be simulated. `link` is the rate of the sender's link.
    fn check(config: &Self::Config, link: BitRate, check: &mut Check);

    /// The control of a new connection.
    fn new(config: &Self::Config, path: &Path) -> Self;

    /// An acknowledgement has arrived.
    fn on_ack(&mut self, now: Ps, feedback: &Feedback);

    /// A packet is considered lost because later ones were acknowledged; it is sent again.
    fn on_fast_recovery(&mut self, now: Ps, loss: Loss);

    /// The oldest packet in flight has not been acknowledged for the retransmission timeout. All in flight are
    /// considered lost, though later ones may just have been acknowledged. `next_order` is the position that the
    /// connection's next transmission will have.
    fn on_timeout(&mut self, now: Ps, next_order: u64);

    /// A packet is sent.
    fn on_sent(&mut self) {}

    /// When `on_timer` is to be called; asked anew after every call, so that it may be put off or brought forward.
    fn timer(&self) -> Option<Ps> {
        None
    }

    /// The time of `timer` has come. Afterwards `timer` is later than `now`, or `None`.
    fn on_timer(&mut self, _now: Ps) {}

    /// How many packets may be in flight.
    fn window(&self) -> u64;

    /// Minimum time between two packets.
    fn pacing(&self) -> Ps;

    /// Of a rate-based control: at what rate it sends.
    fn rate(&self) -> Option<BitRate> {
        None
    }

    /// Of a control that keeps a window for the server's delay and another for the rest: whether the former
    /// is the one that limits it. One that hears of nothing but the server's delay returns `Some(true)`.
    fn limited_by_host(&self) -> Option<bool> {
        None
    }
}

/// Checks that `max` is at least `min`, and that `initial` lies between them.
fn check_windows(check: &mut Check, min: f64, max: f64, initial: f64) {
    check.within_what("max_cwnd", max, min..=MAX_CWND, ", the first being min_cwnd");
    if min <= max {
        check.within_what("initial_cwnd", initial, min..=max, ", which are min_cwnd and max_cwnd");
    }
}

/// Checks the least rate of a rate-based control.
fn check_min_rate(check: &mut Check, min: BitRate, link: BitRate) {
    // One packet in a second takes some thousand bits.
    let what = ", the last being network.sender_link";
    check.within_what("min_rate", min, BitRate(100_000)..=link, what);
}

/// For each control: its description, its name in scenarios, its type, and its parameters.
macro_rules! controls {
    ($($(#[$doc:meta])* $kind:literal => $name:ident($config:ty);)*) => {
        /// A congestion control.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum ControlConfig {
            $($(#[$doc])* #[serde(rename = $kind)] $name($config),)*
        }

        impl ControlConfig {
            /// `link` is the rate of the sender's link.
            pub(super) fn check(&self, link: BitRate, check: &mut Check) {
                match self {
                    $(ControlConfig::$name(config) => $name::check(config, link, check),)*
                }
            }
        }

        /// Any of the congestion controls, dispatched statically.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyControl {
            $($(#[$doc])* $name($name),)*
        }

        impl AnyControl {
            pub(crate) fn new(config: &ControlConfig, path: &Path) -> AnyControl {
                match config {
                    $(ControlConfig::$name(c) => AnyControl::$name(Control::new(c, path)),)*
                }
            }

            pub(crate) fn on_ack(&mut self, now: Ps, feedback: &Feedback) {
                match self {
                    $(AnyControl::$name(c) => c.on_ack(now, feedback),)*
                }
            }

            pub(crate) fn on_fast_recovery(&mut self, now: Ps, loss: Loss) {
                match self {
                    $(AnyControl::$name(c) => c.on_fast_recovery(now, loss),)*
                }
            }

            pub(crate) fn on_timeout(&mut self, now: Ps, next_order: u64) {
                match self {
                    $(AnyControl::$name(c) => c.on_timeout(now, next_order),)*
                }
            }

            pub(crate) fn on_sent(&mut self) {
                match self {
                    $(AnyControl::$name(c) => c.on_sent(),)*
                }
            }

            pub(crate) fn timer(&self) -> Option<Ps> {
                match self {
                    $(AnyControl::$name(c) => c.timer(),)*
                }
            }

            pub(crate) fn on_timer(&mut self, now: Ps) {
                match self {
                    $(AnyControl::$name(c) => c.on_timer(now),)*
                }
            }

            pub(crate) fn window(&self) -> u64 {
                match self {
                    $(AnyControl::$name(c) => c.window(),)*
                }
            }

            pub(crate) fn pacing(&self) -> Ps {
                match self {
                    $(AnyControl::$name(c) => c.pacing(),)*
                }
            }

            pub(crate) fn rate(&self) -> Option<BitRate> {
                match self {
                    $(AnyControl::$name(c) => c.rate(),)*
                }
            }

            pub(crate) fn limited_by_host(&self) -> Option<bool> {
                match self {
                    $(AnyControl::$name(c) => c.limited_by_host(),)*
                }
            }

            pub(crate) fn hears_marks(&self) -> bool {
                match self {
                    $(AnyControl::$name(_) => <$name as Control>::HEARS_MARKS,)*
                }
            }
        }
    };
}

controls! {
    /// Swift: delay targets for fabric and endpoint (SIGCOMM 2020).
    "swift" => Swift(SwiftConfig);
    /// DCTCP: reacts to the fraction of packets that are marked (SIGCOMM 2010).
    "dctcp" => Dctcp(DctcpConfig);
    /// TIMELY: sends at a rate that follows the gradient of the round trip (SIGCOMM 2015).
    "timely" => Timely(TimelyConfig);
    /// DCQCN: sends at a rate that marks cut and timers raise (SIGCOMM 2015).
    "dcqcn" => Dcqcn(DcqcnConfig);
    /// HPCC: a window that follows the utilisation of the busiest queue on the way, as told by telemetry (SIGCOMM 2019).
    "hpcc" => Hpcc(HpccConfig);
}

/// A way for tests: frames of 4 KiB and headers on 100 Gbps, for one connection.
#[cfg(test)]
pub(super) const PATH: Path = Path {
    frame_bits: 35_616,
    link: BitRate(100_000_000_000),
    connections: 1,
    server_link: BitRate(100_000_000_000),
};
