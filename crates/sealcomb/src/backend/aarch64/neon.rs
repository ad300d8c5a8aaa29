//! `neon`: one block per register, with AES and PMULL of Armv8 on the 32 NEON registers.
//!
//! An Arm round adds its key first, an x86 round last: `aese` is `AddRoundKey`, `SubBytes` and `ShiftRows`; `aesmc` is
//! `MixColumns`.
//!
//! ```text
//! x86    x ← x + k0;  x ← aesenc(x, k1) …                 aesenclast(x, k10)
//! Arm    x ← aesmc(aese(x, k0));  x ← aesmc(aese(x, k1)) …   aese(x, k9) + k10
//! ```
//!
//! Whole ciphers (`crypt_with`) use Arm's order. The operations for single rounds use x86's: an `aese`
//! with a zero key, then an XOR with the round key. In straight-line code the compiler turns the XOR in front of an
//! `aese` into its key.

// On targets whose baseline has these features, such as Apple's, some of the intrinsics are safe functions.
#![allow(unused_unsafe)]

use core::arch::aarch64::*;
use core::mem::transmute;
use core::slice;

use super::{BLOCK, Block, Isa, Kernel, Probe, RoundKeys, Weave, features, read_part, token, write_part};

token! {
    /// Proof that the CPU has AES and PMULL. Rust's target feature `aes` includes both.
    Neon, ["neon", "aes"]
}

/// Tokens that share this file's implementation. A token may enable additional features for the compiler to use.
///
/// # Safety
/// A value of the type must prove that the CPU has NEON, AES and PMULL.
pub(super) unsafe trait Armv8: Copy + Send + Sync + 'static {
    /// Runs a kernel with the token's CPU features enabled.
    fn run<K: Kernel>(self, kernel: K) -> K::Output;
}

// SAFETY: only `detect` creates a token, after finding NEON, AES and PMULL.
unsafe impl Armv8 for Neon {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        self.enter(kernel)
    }
}

/// Implements operations that are a single intrinsic, on bytes or, with conversions, on words.
macro_rules! verbs {
    ($($verb:ident($($x:ident),*) = $intrinsic:path $(, $words:ident to $bytes:ident)?;)*) => {$(
        #[inline(always)]
        fn $verb(self, $($x: Self::V),*) -> Self::V {
            // SAFETY: the token proves that the CPU has the instruction.
            unsafe { verbs!(@ $intrinsic, ($($x),*) $(, $words to $bytes)?) }
        }
    )*};
    (@ $intrinsic:path, ($($x:ident),*)) => { $intrinsic($($x),*) };
    (@ $intrinsic:path, ($a:ident, $b:ident), $words:ident to $bytes:ident) => {
        $bytes($intrinsic($words($a), $words($b)))
    };
}

impl<T: Armv8> Isa for T {
    const BLOCKS: usize = 1;
    const CHAINS: usize = 12;
    type V = uint8x16_t;
    type Narrow = Self;
    type Part = usize;

    #[inline(always)]
    fn narrow(self) -> Self::Narrow {
        self
    }

    verbs! {
        xor(a, b) = veorq_u8;
        and(a, b) = vandq_u8;
        or(a, b) = vorrq_u8;
        add32(a, b) = vaddq_u32, vreinterpretq_u32_u8 to vreinterpretq_u8_u32;
        add64(a, b) = vaddq_u64, vreinterpretq_u64_u8 to vreinterpretq_u8_u64;
        sub64(a, b) = vsubq_u64, vreinterpretq_u64_u8 to vreinterpretq_u8_u64;
        mul_low(a, b) = product::<0, 0>;
        mul_high(a, b) = product::<1, 1>;
        mul_cross(a, b) = product::<0, 1>;
        aes_inv_mix(x) = inv_mix;
    }

    #[inline(always)]
    fn zero(self) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vdupq_n_u8(0) }
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> Self::V {
        // SAFETY: the block has 16 bytes.
        unsafe { vld1q_u8(block.as_ptr()) }
    }

    #[inline(always)]
    fn one(self, block: &Block) -> Self::V {
        self.splat(block)
    }

    #[inline(always)]
    fn first(self, v: Self::V) -> Block {
        let mut block = [0; BLOCK];
        // SAFETY: the block has 16 bytes.
        unsafe { vst1q_u8(block.as_mut_ptr(), v) };
        block
    }

    #[inline(always)]
    fn spread(self, v: Self::V) -> Self::V {
        v
    }

    #[inline(always)]
    unsafe fn load_from(self, from: *const u8) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn store_to(self, v: Self::V, to: *mut u8) {
        // SAFETY: the caller upholds the method's contract.
        unsafe { vst1q_u8(to, v) }
    }

    #[inline(always)]
    unsafe fn load_part_from(self, from: *const u8, bytes: usize) -> Self::V {
        debug_assert!(bytes <= BLOCK);
        // SAFETY: the caller upholds the method's contract.
        self.splat(&read_part(unsafe { slice::from_raw_parts(from, bytes) }))
    }

    #[inline(always)]
    unsafe fn store_part_to(self, v: Self::V, to: *mut u8, bytes: usize) {
        debug_assert!(bytes <= BLOCK);
        // SAFETY: the caller upholds the method's contract.
        write_part(&self.first(v), unsafe { slice::from_raw_parts_mut(to, bytes) });
    }

    #[inline(always)]
    unsafe fn gather(self, from: *const *const u8, at: usize) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe { vld1q_u8((*from).wrapping_add(at)) }
    }

    #[inline(always)]
    unsafe fn scatter(self, v: Self::V, to: *const *mut u8, at: usize) {
        // SAFETY: the caller upholds the method's contract.
        unsafe { vst1q_u8((*to).wrapping_add(at), v) }
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vreinterpretq_u8_u32(vdupq_n_u32(word)) }
    }

    #[inline(always)]
    fn shift_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vreinterpretq_u8_u32(vshlq_u32(vreinterpretq_u32_u8(a), vdupq_n_s32(n.cast_signed()))) }
    }

    #[inline(always)]
    fn rotate_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves NEON, whose left shifts by a negative count are right shifts.
        unsafe {
            let a = vreinterpretq_u32_u8(a);
            let left = vshlq_u32(a, vdupq_n_s32(n.cast_signed()));
            let right = vshlq_u32(a, vdupq_n_s32(n.cast_signed() - 32));
            vreinterpretq_u8_u32(vorrq_u32(left, right))
        }
    }

    #[inline(always)]
    fn transpose32(self, [a, b, c, d]: [Self::V; 4]) -> [Self::V; 4] {
        // SAFETY: the token proves NEON, and all 16-byte vector types are valid for any bytes.
        unsafe {
            let [a, b, c, d]: [uint32x4_t; 4] = transmute([a, b, c, d]);
            let even: [uint64x2_t; 2] = transmute([vtrn1q_u32(a, b), vtrn1q_u32(c, d)]);
            let odd: [uint64x2_t; 2] = transmute([vtrn2q_u32(a, b), vtrn2q_u32(c, d)]);
            transmute([
                vtrn1q_u64(even[0], even[1]),
                vtrn1q_u64(odd[0], odd[1]),
                vtrn2q_u64(even[0], even[1]),
                vtrn2q_u64(odd[0], odd[1]),
            ])
        }
    }

    #[inline(always)]
    fn shift_left(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(a), vdupq_n_s64(n.into()))) }
    }

    #[inline(always)]
    fn shift_right(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves NEON, whose left shift by a negative count is a right shift.
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(a), vdupq_n_s64(-i64::from(n)))) }
    }

    #[inline(always)]
    fn shuffle_each(self, a: Self::V, orders: Self::V) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vqtbl1q_u8(a, orders) }
    }

    #[inline(always)]
    fn swap(self, a: Self::V) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vextq_u8::<8>(a, a) }
    }

    #[inline(always)]
    fn low_to_high(self, a: Self::V) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vextq_u8::<8>(self.zero(), a) }
    }

    #[inline(always)]
    fn high_to_low(self, a: Self::V) -> Self::V {
        // SAFETY: the token proves NEON.
        unsafe { vextq_u8::<8>(a, self.zero()) }
    }

    #[inline(always)]
    fn push(self, before: Self::V, _: Self::V) -> Self::V {
        before
    }

    #[inline(always)]
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V) {
        (a, b)
    }

    #[inline(always)]
    fn zip(self, first: Self::V, second: Self::V) -> (Self::V, Self::V) {
        (first, second)
    }

    #[inline(always)]
    fn reverse_blocks(self, v: Self::V) -> Self::V {
        v
    }

    #[inline(always)]
    fn fold(self, v: Self::V) -> Self::V {
        v
    }

    #[inline(always)]
    fn aes_round(self, x: Self::V, key: Self::V) -> Self::V {
        // SAFETY: the token proves AES.
        self.xor(unsafe { round(x, self.zero()) }, key)
    }

    #[inline(always)]
    fn aes_last(self, x: Self::V, key: Self::V) -> Self::V {
        // SAFETY: the token proves AES.
        self.xor(unsafe { last(x, self.zero()) }, key)
    }

    #[inline(always)]
    fn aes_inv_round(self, x: Self::V, key: Self::V) -> Self::V {
        // SAFETY: the token proves AES.
        self.xor(unsafe { inv_round(x, self.zero()) }, key)
    }

    #[inline(always)]
    fn aes_inv_last(self, x: Self::V, key: Self::V) -> Self::V {
        // SAFETY: the token proves AES.
        self.xor(unsafe { inv_last(x, self.zero()) }, key)
    }

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        self.run(kernel)
    }

    #[inline(always)]
    fn crypt_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize, const INVERSE: bool>(
        self,
        keys: K,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        // Keys are hidden, the nine rounds of every key size unrolled, and the others a loop, as in `rounds`.
        let keys = keys.hidden();
        let rounds = keys.rounds();
        each_round!(I => {
            for r in 0..R {
                x[r] = own_round::<INVERSE>(self, x[r], keys.key(self, I - 1, r));
            }
            if I <= R {
                weave.thread(self, I - 1);
            }
        });
        for i in 9..rounds - 1 {
            for r in 0..R {
                x[r] = own_round::<INVERSE>(self, x[r], keys.key(self, i, r));
            }
        }
        for r in 0..R {
            let key = keys.key(self, rounds - 1, r);
            // SAFETY: the token proves AES.
            let last = unsafe { if INVERSE { inv_last(x[r], key) } else { last(x[r], key) } };
            x[r] = self.xor(last, keys.key(self, rounds, r));
        }
    }
}

/// Computes a full round in Arm's order.
#[inline(always)]
fn own_round<const INVERSE: bool>(_: impl Armv8, x: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    // SAFETY: the token proves AES.
    unsafe { if INVERSE { inv_round(x, key) } else { round(x, key) } }
}

impl<T: Armv8> Probe for T {
    #[inline(always)]
    fn aes_own_round(self, x: Self::V, key: Self::V) -> Self::V {
        // SAFETY: the token proves AES.
        unsafe { round(x, key) }
    }

    #[inline(always)]
    fn aes_own_inv_round(self, x: Self::V, key: Self::V) -> Self::V {
        // SAFETY: the token proves AES.
        unsafe { inv_round(x, key) }
    }
}

/// Defines AES rounds that add their key first, with or without `MixColumns`. CPUs fuse the two instructions of a
/// round if they are adjacent.
macro_rules! keyed {
    ($($round:ident = $first:ident $($then:ident)?;)*) => {$(
        #[inline]
        #[target_feature(enable = "neon,aes")]
        fn $round(x: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
            let x = $first(x, key);
            $(let x = $then(x);)?
            x
        }
    )*};
}

keyed! {
    round = vaeseq_u8 vaesmcq_u8;
    last = vaeseq_u8;
    inv_round = vaesdq_u8 vaesimcq_u8;
    inv_last = vaesdq_u8;
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn inv_mix(x: uint8x16_t) -> uint8x16_t {
    vaesimcq_u8(x)
}

/// Returns the carry-less product of half `A` of `a` and half `B` of `b`, where 0 is the low and 1 the high half.
#[inline]
#[target_feature(enable = "neon,aes")]
fn product<const A: i32, const B: i32>(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    let a = vgetq_lane_u64::<A>(vreinterpretq_u64_u8(a));
    let b = vgetq_lane_u64::<B>(vreinterpretq_u64_u8(b));
    vreinterpretq_u8_p128(vmull_p64(a, b))
}
