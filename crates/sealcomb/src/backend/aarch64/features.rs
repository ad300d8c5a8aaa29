//! What this CPU has. Only the operating system may ask an Arm CPU, so it depends on the system who is asked here: with the
//! feature `std` the standard library, which knows most systems; without it `cpufeatures`, which knows Linux, Android and
//! Apple's. Elsewhere, as on bare metal, it is what the program is compiled for.

/// Whether code may use all of these features. What has no line here does not compile.
macro_rules! usable {
    ($($feature:tt),*) => { $($crate::backend::aarch64::features::has!($feature))&&* };
}
pub(super) use usable;

macro_rules! has {
    // Without it there would be no backend in this build.
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

/// AES and PMULL: code that may use the one may use the other.
#[cfg(feature = "std")]
pub(super) fn aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes") && std::arch::is_aarch64_feature_detected!("pmull")
}

/// SHA-3, which brings SHA-512 with it.
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
