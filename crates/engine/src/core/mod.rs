//! The core: what it executes and how long that takes.

mod access;
pub(crate) mod ask;
mod chain;
pub mod config;
mod deferred;
mod execute;
mod in_order;
pub(crate) mod interval;
mod misses;
pub mod op;
mod ring;
#[cfg(test)]
mod tests;
