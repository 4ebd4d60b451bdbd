//! The NIC: input SRAM, receive-side scaling, descriptor rings, buffer pools, DMA credits.

pub mod config;
pub(crate) mod counts;
pub mod dma_bench;
pub(crate) mod pool;
pub(crate) mod port;
pub(crate) mod queue;
pub mod rss;
