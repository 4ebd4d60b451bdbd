//! Where bytes live: private caches, the shared LLC, placement of I/O data, DRAM.

mod directory;
pub mod dram;
pub mod line;
mod replacement;
mod tags;
