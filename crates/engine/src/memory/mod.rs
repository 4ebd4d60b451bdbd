//! Where bytes live: private caches, the shared LLC, placement of I/O data, DRAM.

pub mod dram;
pub mod line;
