//! Any bytes after the block type that begins every pcapng file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = bytes.to_vec();
    if let Some(kind) = file.first_chunk_mut() {
        *kind = [0x0a, 0x0d, 0x0d, 0x0a];
    }
    nic2core_fuzz::capture(&file);
});
