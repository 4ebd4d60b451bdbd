//! Whole runs of scenarios with any keys set.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nic2core_fuzz::run(bytes));
