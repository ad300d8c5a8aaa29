//! `vaes256`: two blocks per register, with VAES and VPCLMULQDQ on AVX2, for CPUs without AVX-512 (Zen 3, Alder
//! Lake).

use core::arch::asm;
use core::arch::x86_64::*;

use super::aesni::{Aesni, load_part, store_part, verbs};
use super::{BLOCK, Block, Isa, Kernel, Probe, Square, features, token};

token! {
    /// Proof that the CPU has VAES and VPCLMULQDQ on 256-bit registers.
    Vaes256, ["sse2", "ssse3", "sse4.1", "avx", "avx2", "aes", "pclmulqdq", "vaes", "vpclmulqdq"]
}

impl Isa for Vaes256 {
    const BLOCKS: usize = 2;
    const CHAINS: usize = 8;
    type V = __m256i;
    type Narrow = Aesni;
    type Part = usize;

    #[inline(always)]
    fn narrow(self) -> Self::Narrow {
        self.into()
    }

    verbs! {
        zero() = _mm256_setzero_si256;
        xor(a, b) = _mm256_xor_si256;
        and(a, b) = _mm256_and_si256;
        or(a, b) = _mm256_or_si256;
        add32(a, b) = _mm256_add_epi32;
        add64(a, b) = _mm256_add_epi64;
        sub64(a, b) = _mm256_sub_epi64;
        swap(a) = _mm256_shuffle_epi32::<0b0100_1110>;
        low_to_high(a) = _mm256_slli_si256::<8>;
        high_to_low(a) = _mm256_srli_si256::<8>;
        mul_low(a, b) = _mm256_clmulepi64_epi128::<0x00>;
        mul_high(a, b) = _mm256_clmulepi64_epi128::<0x11>;
        mul_cross(a, b) = _mm256_clmulepi64_epi128::<0x10>;
        aes_round(x, key) = _mm256_aesenc_epi128;
        aes_last(x, key) = _mm256_aesenclast_epi128;
        aes_inv_round(x, key) = _mm256_aesdec_epi128;
        aes_inv_last(x, key) = _mm256_aesdeclast_epi128;
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> Self::V {
        // SAFETY: the block has 16 bytes, and the token proves AVX2.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(block.as_ptr().cast())) }
    }

    #[inline(always)]
    fn one(self, block: &Block) -> Self::V {
        // SAFETY: the block has 16 bytes, and the token proves the CPU features.
        unsafe { _mm256_zextsi128_si256(_mm_loadu_si128(block.as_ptr().cast())) }
    }

    #[inline(always)]
    fn first(self, v: Self::V) -> Block {
        let mut block = [0; BLOCK];
        // SAFETY: the block has 16 bytes.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm256_castsi256_si128(v)) };
        block
    }

    #[inline(always)]
    fn spread(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_broadcastsi128_si256(_mm256_castsi256_si128(v)) }
    }

    #[inline(always)]
    unsafe fn load_from(self, from: *const u8) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_to(self, v: Self::V, to: *mut u8) {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm256_storeu_si256(to.cast(), v) }
    }

    #[inline(always)]
    unsafe fn load_part_from(self, from: *const u8, bytes: usize) -> Self::V {
        // SAFETY: the caller's contract covers both halves.
        unsafe {
            if bytes > BLOCK {
                let low = _mm_loadu_si128(from.cast());
                _mm256_set_m128i(load_part(from.add(BLOCK), bytes - BLOCK), low)
            } else {
                _mm256_zextsi128_si256(load_part(from, bytes))
            }
        }
    }

    #[inline(always)]
    unsafe fn store_part_to(self, v: Self::V, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's contract covers both halves.
        unsafe {
            let low = _mm256_castsi256_si128(v);
            if bytes > BLOCK {
                _mm_storeu_si128(to.cast(), low);
                store_part(_mm256_extracti128_si256::<1>(v), to.add(BLOCK), bytes - BLOCK);
            } else {
                store_part(low, to, bytes);
            }
        }
    }

    #[inline(always)]
    fn equal(self, bytes: &[u8; 64], byte: u8) -> u64 {
        // SAFETY: the array has two times 32 bytes, and the token proves AVX2.
        unsafe {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            let half = |at: usize| {
                let bytes = _mm256_loadu_si256(bytes.as_ptr().add(at).cast());
                u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, byte)).cast_unsigned())
            };
            half(0) | half(32) << 32
        }
    }

    #[inline(always)]
    unsafe fn gather(self, from: *const *const u8, at: usize) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe {
            let low = _mm_loadu_si128((*from).wrapping_add(at).cast());
            let high = _mm_loadu_si128((*from.add(1)).wrapping_add(at).cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, v: Self::V, to: *const *mut u8, at: usize) {
        // SAFETY: the caller upholds the method's contract.
        unsafe {
            _mm_storeu_si128((*to).wrapping_add(at).cast(), _mm256_castsi256_si128(v));
            _mm_storeu_si128((*to.add(1)).wrapping_add(at).cast(), _mm256_extracti128_si256::<1>(v));
        }
    }

    #[inline(always)]
    unsafe fn scatter_square<const R: usize>(
        self,
        from: &Square<Self, R>,
        reg: usize,
        to: *const *mut u8,
        at: usize,
    ) {
        let (s, t) = (from[0][reg], from[1][reg]);
        // SAFETY: the caller's contract covers two blocks of each of two messages.
        unsafe {
            let a = _mm256_permute2x128_si256::<0x20>(s, t);
            let b = _mm256_permute2x128_si256::<0x31>(s, t);
            _mm256_storeu_si256((*to).wrapping_add(at).cast(), a);
            _mm256_storeu_si256((*to.add(1)).wrapping_add(at).cast(), b);
        }
    }

    #[inline(always)]
    fn pin(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX.
        unsafe { pinned(v) }
    }

    #[inline(always)]
    fn shift_left(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm256_sll_epi64(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn shift_right(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm256_srl_epi64(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> Self::V {
        // SAFETY: the token proves the broadcast of this width.
        unsafe { _mm256_set1_epi32(word.cast_signed()) }
    }

    #[inline(always)]
    fn shift_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm256_sll_epi32(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn rotate_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shifts of this width.
        unsafe {
            let left = _mm256_sll_epi32(a, _mm_cvtsi32_si128(n.cast_signed()));
            let right = _mm256_srl_epi32(a, _mm_cvtsi32_si128((32 - n).cast_signed()));
            _mm256_or_si256(left, right)
        }
    }

    #[inline(always)]
    fn transpose32(self, [a, b, c, d]: [Self::V; 4]) -> [Self::V; 4] {
        // SAFETY: the token proves the shuffles of this width.
        unsafe {
            let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            [
                _mm256_unpacklo_epi64(ab_low, cd_low),
                _mm256_unpackhi_epi64(ab_low, cd_low),
                _mm256_unpacklo_epi64(ab_high, cd_high),
                _mm256_unpackhi_epi64(ab_high, cd_high),
            ]
        }
    }

    #[inline(always)]
    fn prefetch(self, from: *const u8) {
        // SAFETY: a prefetch of any address is allowed, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
    }

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        self.enter(kernel)
    }

    #[inline(always)]
    fn shuffle_each(self, a: Self::V, orders: Self::V) -> Self::V {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_shuffle_epi8(a, orders) }
    }

    #[inline(always)]
    fn push(self, before: Self::V, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_permute2x128_si256::<0x21>(before, v) }
    }

    #[inline(always)]
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V) {
        // SAFETY: the token proves AVX2.
        unsafe { (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)) }
    }

    #[inline(always)]
    fn zip(self, first: Self::V, second: Self::V) -> (Self::V, Self::V) {
        self.unzip(first, second)
    }

    #[inline(always)]
    fn reverse_blocks(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_permute4x64_epi64::<0b01_00_11_10>(v) }
    }

    #[inline(always)]
    fn fold(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX2.
        unsafe {
            let sum = _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
            _mm256_zextsi128_si256(sum)
        }
    }

    #[inline(always)]
    fn aes_inv_mix(self, x: Self::V) -> Self::V {
        // SAFETY: the token proves AES-NI. `AESIMC` exists for 128-bit registers only.
        unsafe {
            let low = _mm_aesimc_si128(_mm256_castsi256_si128(x));
            let high = _mm_aesimc_si128(_mm256_extracti128_si256::<1>(x));
            _mm256_set_m128i(high, low)
        }
    }
}

/// Keeps a value in its register and orders its computation relative to other pinned values.
#[inline]
#[target_feature(enable = "avx")]
fn pinned(mut v: __m256i) -> __m256i {
    // SAFETY: the assembly is empty.
    unsafe { asm!("/* {0} */", inout(ymm_reg) v, options(nomem, nostack, preserves_flags)) };
    v
}

impl Probe for Vaes256 {}
