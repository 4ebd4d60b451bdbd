//! Closed-loop senders: machines behind a switch that answer the server's reads, each connection
//! under a congestion control that the server's acknowledgements drive.
//!
//! [`Network`] is everything outside the server: the connections ([`connection::Connection`]), the link of each
//! sender, and the switch port in front of the server ([`switch::Switch`]). It also keeps the server's own
//! record of which packets have arrived ([`receiver::Receiver`]). It touches neither caches nor cores: the
//! host tells it what its NIC and its cores do, and schedules the events that it asks for.
//!
//! docs/models/transport.md explains step by step how to add a congestion control.

pub(crate) mod check;
pub mod config;
pub mod control;
pub(crate) mod groups;
pub(crate) mod telemetry;

mod connection;
mod counts;
mod cuts;
mod datagram;
mod fixed;
mod network;
mod receiver;
mod requests;
mod switch;

pub(crate) use datagram::Step;
pub(crate) use network::Network;
