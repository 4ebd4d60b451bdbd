//! Closed-loop senders: machines behind a switch that answer the server's reads, each connection
//! under a congestion control that the server's acknowledgements drive.
//!
//! [`Network`] is everything outside the server: the connections ([`connection::Connection`]), the link of each
//! sender, and the switch port in front of the server ([`switch::Switch`]). It also keeps the server's own
//! record of which packets have arrived ([`receiver::Receiver`]). It touches neither caches nor cores: the
//! host tells it what its NIC and its cores do, and schedules the events that it asks for.
//!
//! docs/models/transport.md explains step by step how to add a congestion control.

pub mod config;

mod connection;
mod counts;
mod cuts;
mod datagram;
mod dctcp;
mod fixed;
mod network;
mod receiver;
mod requests;
mod swift;
mod switch;

pub(crate) use datagram::Step;
pub(crate) use network::Network;

use self::config::ControlConfig;
use crate::time::Ps;

/// What an acknowledgement tells the congestion control. Anything that the server adds, such as a
/// signal of its host, is put into the [`datagram::Datagram`] by `host/closed_loop.rs` and read in
/// [`Network::at_sender`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback {
    /// From sending the packet to the arrival of its acknowledgement.
    pub(crate) rtt: Ps,
    /// The part of `rtt` that the packet spent in the server, from its arrival at the NIC until its
    /// acknowledgement was handed over; the acknowledgement carries this value.
    pub(crate) endpoint: Ps,
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
/// Contract: calls come in time order. `window` is in packets of [`fixed::ONE`] and above zero; a
/// window below one packet means one packet at a time, no sooner than `pacing` after the previous
/// one. A window of 2.7 packets allows two in flight. A rate-based control limits its rate with
/// `pacing`, and its window is no smaller than what it wants in flight: its rate times the round
/// trip, rounded up. Whatever it needs to know about the path, such as the bits of a frame, is a
/// parameter of its own. The connection, not the control, decides what is lost; the control limits
/// how often it reacts.
pub(crate) trait Control: Sized {
    /// The parameters that a user sets.
    type Config;

    /// Whether it reacts to marks (ECN). Users are warned of marks that nothing hears.
    const HEARS_MARKS: bool;

    /// The control of a new connection.
    fn new(config: &Self::Config) -> Self;

    /// An acknowledgement has arrived.
    fn on_ack(&mut self, now: Ps, feedback: &Feedback);

    /// A packet is considered lost because later ones were acknowledged; it is sent again.
    fn on_fast_recovery(&mut self, now: Ps, loss: Loss);

    /// Nothing has been acknowledged for the retransmission timeout.
    fn on_timeout(&mut self, now: Ps);

    /// How many packets may be in flight.
    fn window(&self) -> u64;

    /// Minimum time between two packets.
    fn pacing(&self) -> Ps;

    /// Of a control that keeps a window for the server's delay and another for the rest: whether the
    /// former is the one that counts.
    fn host_counts(&self) -> Option<bool> {
        None
    }
}

macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident => $control:ty),* $(,)?) => {
        /// Any of the congestion controls, dispatched statically.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyControl {
            $($(#[$doc])* $name($control),)*
        }

        impl AnyControl {
            pub(crate) fn new(config: &ControlConfig) -> AnyControl {
                match config {
                    $(ControlConfig::$name(c) => AnyControl::$name(<$control as Control>::new(c)),)*
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

            pub(crate) fn on_timeout(&mut self, now: Ps) {
                match self {
                    $(AnyControl::$name(c) => c.on_timeout(now),)*
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

            pub(crate) fn host_counts(&self) -> Option<bool> {
                match self {
                    $(AnyControl::$name(c) => c.host_counts(),)*
                }
            }

            pub(crate) fn hears_marks(&self) -> bool {
                match self {
                    $(AnyControl::$name(_) => <$control as Control>::HEARS_MARKS,)*
                }
            }
        }
    };
}

controls! {
    /// Swift.
    Swift => swift::Swift,
    /// DCTCP.
    Dctcp => dctcp::Dctcp,
}
