//! The network card: what happens to a frame between the wire and the memory of the host.

pub mod rss;
