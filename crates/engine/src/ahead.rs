//! What the simulation looks up soon, loaded ahead into the caches of the processor that runs it.
//!
//! The tables of all caches and of the directory are far larger than that processor's own caches, but most of what is
//! looked up is known some events before. Without this, a third of the time goes into waiting for these tables
//! (docs/speed.md). Nothing that is simulated depends on it.

/// Begins to load `soon`.
#[inline(always)]
pub(crate) fn load<T>(soon: &T) {
    let start: *const i8 = std::ptr::from_ref(soon).cast();
    for offset in (0..size_of::<T>()).step_by(HOST_LINE) {
        load_line(start.wrapping_add(offset));
    }
}

/// Bytes of a cache line of the processor that runs the simulation; on one with longer lines, some are loaded twice.
const HOST_LINE: usize = 64;

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the only access to a prefetch instruction in stable Rust")]
#[inline(always)]
fn load_line(at: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has this instruction, which has no effect but on time, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
}

#[cfg(not(target_arch = "x86_64"))]
fn load_line(_: *const i8) {}
