//! Compares the DRAM model with the published latency-bandwidth curves of Ramulator 2.1.

mod curves;
mod traffic;
mod variants;
