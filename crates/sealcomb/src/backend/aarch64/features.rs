//! Detection of Arm CPU features. User-mode programs cannot read an Arm CPU's feature registers, so the operating
//! system is queried: by the standard library with the feature `std`, which supports most systems; without it by
//! `cpufeatures`, which supports Linux, Android and Apple's systems. On other systems, such as bare metal, the
//! features are those that the program was compiled for.

/// Returns whether all listed features are usable. A feature without an arm in `has!` does not compile.
macro_rules! usable {
    ($($feature:tt),*) => { $($crate::backend::aarch64::features::has!($feature))&&* };
}
pub(super) use usable;

macro_rules! has {
    // The backends are only compiled for targets with NEON.
    ("neon") => {
        true
    };
    ("aes") => {
        $crate::backend::aarch64::features::aes()
    };
    ("sha3") => {
        $crate::backend::aarch64::features::sha3()
    };
}
pub(super) use has;

/// Returns whether AES and PMULL are usable. Rust's target feature `aes` includes both.
#[cfg(feature = "std")]
pub(super) fn aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes") && std::arch::is_aarch64_feature_detected!("pmull")
}

/// Returns whether SHA-3 is usable. Rust's target feature `sha3` includes SHA-512.
#[cfg(feature = "std")]
pub(super) fn sha3() -> bool {
    std::arch::is_aarch64_feature_detected!("sha3")
}

#[cfg(not(feature = "std"))]
pub(super) fn aes() -> bool {
    cpufeatures::new!(cpu, "aes");
    cpu::get()
}

#[cfg(not(feature = "std"))]
pub(super) fn sha3() -> bool {
    cpufeatures::new!(cpu, "sha2", "sha3");
    cpu::get()
}
