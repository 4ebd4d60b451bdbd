//! The NIC: receive-side scaling, queue pairs with their descriptor rings, buffer pools, packet engines. Its SRAM, its DMA
//! and their credits, through which packets of all queues go, are in `host`.

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
