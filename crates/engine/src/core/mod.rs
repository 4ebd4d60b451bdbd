//! The core: what it executes and how long that takes.

pub mod op;
