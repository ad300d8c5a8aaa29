//! Tuning by CPU vendor.

use core::sync::atomic::{AtomicU8, Ordering};

/// Returns whether storing the blocks of wide registers one by one is the bottleneck of a chained mode. It is not on
/// Intel CPUs, which extract a block as part of the store and have store throughput to spare. AMD's Zen 5 has twice
/// the AES units for the same number of memory ports.
pub(super) fn stores_are_dear() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    let mut known = KNOWN.load(Ordering::Relaxed);
    if known == 0 {
        known = 1 + u8::from(!is_intel());
        KNOWN.store(known, Ordering::Relaxed);
    }
    known == 2
}

/// Returns whether the CPU starts two AES rounds on registers of four blocks per cycle, as AMD's CPUs do since Zen 5.
/// Intel's start one.
pub(crate) fn has_two_wide_aes_units() -> bool {
    stores_are_dear()
}

#[cfg(target_arch = "x86_64")]
fn is_intel() -> bool {
    // SAFETY: every x86-64 CPU has CPUID.
    #[allow(unused_unsafe, reason = "a safe function in newer toolchains")]
    let leaf = unsafe { core::arch::x86_64::__cpuid(0) };
    [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
}

#[cfg(not(target_arch = "x86_64"))]
fn is_intel() -> bool {
    false
}
