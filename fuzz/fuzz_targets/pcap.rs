//! Any bytes as a pcap file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nic2core_fuzz::capture(bytes));
