//! Measurements, and the one result type of a run.

pub(crate) mod histogram;
pub(crate) mod occupancy;
pub mod results;
pub mod timeline;
