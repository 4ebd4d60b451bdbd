//! Any text as a scenario, a machine and an override.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nic2core_fuzz::scenario(bytes));
