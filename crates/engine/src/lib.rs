//! The nic2core engine: what happens to a packet between the NIC and the core.
//!
//! A pure library: no files, no threads, no printing, no global state. The module tree follows the
//! packet: [`wire`] → [`nic`] → [`pcie`] → [`iommu`] → [`memory`] → [`core`] → [`apps`];
//! [`transport`] is the part of closed-loop traffic outside the server; `host` wires the path
//! together from a scenario. [`peak`] searches with it for the highest rate, and [`fluid`] tells
//! without it what rings would lose.

mod ahead;
pub mod apps;
mod bits;
pub mod check;
pub mod config;
pub mod core;
mod divisor;
pub mod events;
pub mod fluid;
mod frame;
pub mod host;
pub mod iommu;
pub mod memory;
mod mix;
pub mod nic;
pub mod pcie;
pub mod peak;
pub mod rng;
mod serial;
mod slots;
pub mod stats;
#[cfg(test)]
mod testing;
pub mod time;
pub mod transport;
pub mod units;
pub mod wire;
