//! What the CPUs of one maker do better than those of another.

use core::sync::atomic::{AtomicU8, Ordering};

/// Whether a store of each block out of wide registers holds up the rounds beside it. Intel's CPUs take a block out as they
/// store it, and have time for that; AMD's Zen 5 has twice the AES units for the same ports to memory.
pub(super) fn stores_are_dear() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    let mut known = KNOWN.load(Ordering::Relaxed);
    if known == 0 {
        known = 1 + u8::from(!is_intel());
        KNOWN.store(known, Ordering::Relaxed);
    }
    known == 2
}

#[cfg(target_arch = "x86_64")]
fn is_intel() -> bool {
    // SAFETY: every x86-64 CPU has the instruction.
    #[allow(unused_unsafe, reason = "a safe function in newer toolchains")]
    let leaf = unsafe { core::arch::x86_64::__cpuid(0) };
    [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
}

#[cfg(not(target_arch = "x86_64"))]
fn is_intel() -> bool {
    false
}
