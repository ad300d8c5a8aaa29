//! Detection of x86-64 CPU features that are supported by the CPU and enabled by the operating system.
//!
//! A feature is usable if CPUID reports it and XCR0 shows that the operating system saves the registers it uses on
//! context switches. AVX needs the YMM state, AVX-512 the ZMM state. VAES and VPCLMULQDQ only need the YMM state on
//! 256-bit registers, and some CPUs have them without AVX-512. On 512-bit registers they also need `avx512f`, which
//! a backend must list separately.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv, CpuidResult};
use core::sync::atomic::{AtomicU32, Ordering};

/// Bits of XCR0 that a feature requires: the register state that the operating system must save.
mod saved {
    /// SSE state: none. Every 64-bit operating system saves it, possibly without XSAVE, and then has no XCR0.
    pub(super) const XMM: u32 = 0;
    /// AVX state: SSE and the upper halves of the YMM registers.
    pub(super) const YMM: u32 = 1 << 1 | 1 << 2;
    /// AVX-512 state: mask registers, the upper halves of ZMM0 to ZMM15, and ZMM16 to ZMM31, in addition to AVX.
    pub(super) const ZMM: u32 = YMM | 1 << 5 | 1 << 6 | 1 << 7;
}

/// CPUID output registers that contain feature bits.
struct Registers {
    leaf1_ecx: u32,
    leaf1_edx: u32,
    leaf7_ebx: u32,
    leaf7_ecx: u32,
}

/// Returns whether all listed features are usable.
macro_rules! usable {
    ($($feature:tt),*) => {{
        const NEEDED: $crate::backend::features::Features =
            $crate::backend::features::Features::named(&[$($feature),*]);
        $crate::backend::features::Features::usable().contain(NEEDED)
    }};
}
pub(super) use usable;

struct Feature {
    name: &'static str,
    register: fn(&Registers) -> u32,
    bit: u32,
    saved: u32,
    /// Whether the program was compiled for CPUs that have the feature.
    compiled: bool,
}

macro_rules! features {
    ($($name:literal: $register:ident[$bit:literal], $saved:ident;)*) => {
        const FEATURES: &[Feature] = &[$(Feature {
            name: $name,
            register: |registers| registers.$register,
            bit: $bit,
            saved: saved::$saved,
            compiled: cfg!(target_feature = $name),
        }),*];
    };
}

features! {
    "sse2": leaf1_edx[26], XMM;
    "ssse3": leaf1_ecx[9], XMM;
    "sse4.1": leaf1_ecx[19], XMM;
    "aes": leaf1_ecx[25], XMM;
    "pclmulqdq": leaf1_ecx[1], XMM;
    "avx": leaf1_ecx[28], YMM;
    "avx2": leaf7_ebx[5], YMM;
    "vaes": leaf7_ecx[9], YMM;
    "vpclmulqdq": leaf7_ecx[10], YMM;
    "bmi2": leaf7_ebx[8], XMM;
    "avx512f": leaf7_ebx[16], ZMM;
    "avx512dq": leaf7_ebx[17], ZMM;
    "avx512bw": leaf7_ebx[30], ZMM;
    "avx512vl": leaf7_ebx[31], ZMM;
}

/// A set of CPU features: bit `i` is entry `i` of `FEATURES`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Features(u32);

impl Features {
    /// Returns the set of the named features.
    ///
    /// # Panics
    /// If a name is not in `FEATURES`. In a constant, that is a compile-time error.
    pub(super) const fn named(names: &[&str]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < names.len() {
            bits |= 1 << index(names[at]);
            at += 1;
        }
        Self(bits)
    }

    /// Returns the usable features. The CPU is queried on the first call only.
    pub(super) fn usable() -> Self {
        // Marks the cache as filled, even on a CPU with none of the features.
        const ASKED: u32 = 1 << 31;
        static KNOWN: AtomicU32 = AtomicU32::new(0);
        const { assert!(FEATURES.len() < 32) };
        let mut known = KNOWN.load(Ordering::Relaxed);
        if known == 0 {
            known = ASKED | ask().0;
            KNOWN.store(known, Ordering::Relaxed);
        }
        Self(known & !ASKED)
    }

    pub(super) fn contain(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    fn of(registers: &Registers, xcr0: u32) -> Self {
        Self::those(|feature| {
            (feature.register)(registers) >> feature.bit & 1 == 1 && xcr0 & feature.saved == feature.saved
        })
    }

    fn those(holds: impl Fn(&Feature) -> bool) -> Self {
        Self(FEATURES.iter().enumerate().map(|(i, feature)| u32::from(holds(feature)) << i).sum())
    }
}

const fn index(name: &str) -> usize {
    let mut at = 0;
    while at < FEATURES.len() {
        if equal(FEATURES[at].name.as_bytes(), name.as_bytes()) {
            return at;
        }
        at += 1;
    }
    panic!("no such CPU feature in the list")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

fn ask() -> Features {
    const OSXSAVE: u32 = 1 << 27;
    // SGX enclaves may not execute CPUID and Miri cannot. Bare-metal programs are compiled for the features of their
    // CPU.
    if cfg!(any(miri, target_env = "sgx", target_os = "none", target_os = "uefi")) {
        return Features::those(|feature| feature.compiled);
    }
    // SAFETY: every x86-64 CPU has CPUID.
    #[allow(unused_unsafe, reason = "safe functions in newer toolchains")]
    let (highest, leaf1) = unsafe { (__cpuid(0).eax, __cpuid(1)) };
    let leaf7 = if highest < 7 {
        // CPUID returns the data of another leaf for one above the highest.
        CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 }
    } else {
        // SAFETY: every x86-64 CPU has CPUID.
        #[allow(unused_unsafe, reason = "a safe function in newer toolchains")]
        unsafe {
            __cpuid_count(7, 0)
        }
    };
    let xcr0 = if leaf1.ecx & OSXSAVE == 0 {
        0
    } else {
        // SAFETY: OSXSAVE shows that the operating system has enabled XGETBV, and every CPU with XGETBV has XCR0.
        unsafe { _xgetbv(0) as u32 }
    };
    let registers =
        Registers { leaf1_ecx: leaf1.ecx, leaf1_edx: leaf1.edx, leaf7_ebx: leaf7.ebx, leaf7_ecx: leaf7.ecx };
    Features::of(&registers, xcr0)
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, Features, Registers};
    use crate::backend::{aesni::Aesni, vaes256::Vaes256, vaes512::Vaes512};

    const EVERYTHING: Registers = Registers { leaf1_ecx: !0, leaf1_edx: !0, leaf7_ebx: !0, leaf7_ecx: !0 };
    const AVX512: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;

    /// Returns whether `aesni`, `vaes256` and `vaes512` are usable with these feature bits and this XCR0.
    fn backends(registers: &Registers, xcr0: u32) -> [bool; 3] {
        [Aesni::NEEDS, Vaes256::NEEDS, Vaes512::NEEDS]
            .map(|needs| Features::of(registers, xcr0).contain(Features::named(needs)))
    }

    #[test]
    fn registers_that_the_operating_system_saves_decide_how_wide_a_backend_is() {
        assert_eq!(backends(&EVERYTHING, 0b1110_0111), [true, true, true]);
        for without_all_of_zmm in [0b0000_0111, 0b1100_0111, 0b1010_0111, 0b0110_0111] {
            assert_eq!(backends(&EVERYTHING, without_all_of_zmm), [true, true, false]);
        }
        for without_ymm in [0b0000_0000, 0b0000_0011, 0b1110_0011, 0b0000_0101] {
            assert_eq!(backends(&EVERYTHING, without_ymm), [true, false, false]);
        }
    }

    #[test]
    fn vaes_without_avx512_is_enough_for_256_bits() {
        let registers = Registers { leaf7_ebx: !AVX512, ..EVERYTHING };
        for xcr0 in [0b0000_0111, 0b1110_0111] {
            assert_eq!(backends(&registers, xcr0), [true, true, false]);
        }
    }

    #[test]
    fn avx512_without_vaes_is_aesni() {
        for lacking in [1 << 9, 1 << 10] {
            let registers = Registers { leaf7_ecx: !lacking, ..EVERYTHING };
            assert_eq!(backends(&registers, 0b1110_0111), [true, false, false]);
        }
    }

    #[test]
    fn a_backend_needs_each_feature_that_it_names() {
        let all = Features::of(&EVERYTHING, !0);
        for needs in [Aesni::NEEDS, Vaes256::NEEDS, Vaes512::NEEDS] {
            for name in needs {
                let lacking = Features(all.0 & !Features::named(&[name]).0);
                assert!(!lacking.contain(Features::named(needs)), "{name}");
            }
        }
    }

    #[test]
    fn each_feature_is_what_the_standard_library_finds() {
        macro_rules! found {
            ($($name:tt)*) => {
                [$(($name, std::arch::is_x86_feature_detected!($name))),*]
            };
        }
        let found = found!["sse2" "ssse3" "sse4.1" "aes" "pclmulqdq" "avx" "avx2" "vaes" "vpclmulqdq"
            "bmi2" "avx512f" "avx512dq" "avx512bw" "avx512vl"];
        assert_eq!(found.len(), FEATURES.len());
        // The standard library does not check the AVX state for these two.
        let saved =
            |name| !["vaes", "vpclmulqdq"].contains(&name) || std::arch::is_x86_feature_detected!("avx");
        for (name, there) in found {
            let usable = Features::usable().contain(Features::named(&[name]));
            assert_eq!(usable, there && saved(name), "{name}");
        }
    }
}
