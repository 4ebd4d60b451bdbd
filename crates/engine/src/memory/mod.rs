//! Where bytes live: private caches, the shared LLC, placement of I/O data, DRAM.

pub(crate) mod address_space;
mod backend;
mod caches;
pub mod config;
pub(crate) mod contents;
mod counts;
mod directory;
pub mod dram;
mod due;
mod hand_overs;
mod index;
mod ingress;
mod invariants;
mod io;
pub mod line;
pub(crate) mod line_set;
#[cfg(test)]
mod oracle;
pub(crate) mod owners;
pub mod placement;
mod prefetch;
mod prefetched;
pub(crate) mod private;
mod reads;
mod remote_home;
mod replacement;
mod set;
#[cfg(test)]
mod shadow;
mod socket_link;
mod state;
mod sweep;
pub(crate) mod system;
mod tags;
mod trackers;
pub(crate) mod traffic;
mod victims;
pub(crate) mod ways;
