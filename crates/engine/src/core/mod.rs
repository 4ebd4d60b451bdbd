//! The core: what it executes and how long that takes.

pub(crate) mod ask;
mod in_order;
pub(crate) mod interval;
pub mod op;
#[cfg(test)]
mod tests;
