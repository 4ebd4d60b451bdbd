//! The NIC: input SRAM, receive-side scaling, descriptor rings, buffer pools, DMA credits.

pub(crate) mod buffers;
pub mod config;
pub(crate) mod counts;
pub mod dma_bench;
pub(crate) mod packet_engine;
pub(crate) mod pool;
pub(crate) mod port;
pub(crate) mod queue;
pub(crate) mod ring;
pub mod rss;
pub mod toeplitz;
