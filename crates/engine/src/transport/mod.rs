//! Closed-loop senders: machines across a switch that answer the server's reads, each connection
//! under a congestion control that hears the server's acknowledgements.
//!
//! [`Network`] is everything outside of the server: the connections ([`Connection`]), the link of each
//! sender, and the switch port in front of the server ([`Switch`]); and the server's own record of
//! which packets it has got ([`Receiver`]). It touches neither caches nor cores: the host hands it what
//! its NIC and its cores do, and schedules what it asks for.
//!
//! docs/models/transport.md says step by step how a congestion control is added.

pub mod config;

mod connection;
mod counts;
mod datagram;
mod dctcp;
mod fixed;
mod network;
mod receiver;
mod swift;
mod switch;

pub(crate) use datagram::Step;
pub(crate) use network::Network;

use self::config::ControlConfig;
use crate::time::Ps;

/// What an acknowledgement tells the congestion control. What the server adds to it, such as a signal of
/// its host, is put into the [`datagram::Datagram`] by `host/closed_loop.rs`, and taken out in
/// [`Network::at_sender`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback {
    /// From the packet's sending to the acknowledgement's arrival.
    pub(crate) rtt: Ps,
    /// The part of it that the packet spent in the server, from its arrival at the NIC to the handing
    /// over of its acknowledgement, as the acknowledgement says.
    pub(crate) endpoint: Ps,
    /// Whether the switch or the server's NIC has marked the packet (ECN).
    pub(crate) marked: bool,
    /// Place of the packet among the transmissions of the connection.
    pub(crate) order: u64,
    /// Place that its next transmission will have.
    pub(crate) next_order: u64,
    /// The window was full of the packets sent with it or after it: it bounded what was sent, not the lack
    /// of something to send.
    pub(crate) window_full: bool,
    /// The packet was acknowledged before: one of its transmissions was needless.
    pub(crate) duplicate: bool,
}

/// What became of a packet that was not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// Place of the packet among the transmissions of the connection.
    pub(crate) order: u64,
    /// Place that its next transmission will have.
    pub(crate) next_order: u64,
}

/// A congestion control: the state of one connection.
///
/// Contract: calls come in the order of time. `window` is in packets of [`fixed::ONE`] and above zero;
/// a window below one packet means one packet at a time, no sooner than `pacing` after the one before.
/// A window of 2.7 packets lets two be in flight. A control by rate paces, and its window is no
/// less than what it wants in flight, its rate times the round trip rounded up: `pacing` bounds the rate. What
/// it has to know of the path, such as the bits of a frame, is a parameter of its own.
/// The connection, not the control, decides what is lost; the control bounds how often it reacts.
pub(crate) trait Control: Sized {
    /// What a user sets.
    type Config;

    /// The control of a new connection.
    fn new(config: &Self::Config) -> Self;

    /// An acknowledgement has come.
    fn on_ack(&mut self, now: Ps, feedback: &Feedback);

    /// Later packets were acknowledged and this one not: it is sent again.
    fn on_fast_recovery(&mut self, now: Ps, loss: Loss);

    /// Nothing was acknowledged for the retransmission timeout.
    fn on_timeout(&mut self, now: Ps);

    /// Packets that may be in flight.
    fn window(&self) -> u64;

    /// Least distance between two packets.
    fn pacing(&self) -> Ps;
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
        }
    };
}

controls! {
    /// Swift.
    Swift => swift::Swift,
    /// DCTCP.
    Dctcp => dctcp::Dctcp,
}
