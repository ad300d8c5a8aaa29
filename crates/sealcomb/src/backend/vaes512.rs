//! `vaes512`: four blocks per register, with VAES and VPCLMULQDQ on AVX-512 (Ice Lake, Zen 4 and later).
//!
//! GFNI is deliberately not enabled: some emulators compute it incorrectly, and no operation needs it.

use core::arch::asm;
use core::arch::x86_64::*;

use super::aesni::{Aesni, verbs};
use super::isa::Part;
use super::{BLOCK, Block, Isa, Kernel, Probe, Square, features, token};

token! {
    /// Proof that the CPU has VAES and VPCLMULQDQ on 512-bit registers, and that the OS has enabled them (XSAVE).
    Vaes512, ["sse2", "ssse3", "sse4.1", "avx", "avx2", "aes", "pclmulqdq", "vaes", "vpclmulqdq",
              "avx512f", "avx512bw", "avx512dq", "avx512vl", "bmi2"]
}

impl Isa for Vaes512 {
    const BLOCKS: usize = 4;
    const CHAINS: usize = 8;
    type V = __m512i;
    type Narrow = Aesni;
    type Part = Mask;

    #[inline(always)]
    fn narrow(self) -> Self::Narrow {
        self.into()
    }

    verbs! {
        zero() = _mm512_setzero_si512;
        xor(a, b) = _mm512_xor_si512;
        and(a, b) = _mm512_and_si512;
        or(a, b) = _mm512_or_si512;
        xor3(a, b, c) = _mm512_ternarylogic_epi64::<0x96>;
        xor_and(a, b, c) = _mm512_ternarylogic_epi64::<0x78>;
        select(mask, a, b) = _mm512_ternarylogic_epi64::<0xca>;
        add32(a, b) = _mm512_add_epi32;
        add64(a, b) = _mm512_add_epi64;
        sub64(a, b) = _mm512_sub_epi64;
        swap(a) = _mm512_shuffle_epi32::<0b0100_1110>;
        low_to_high(a) = _mm512_bslli_epi128::<8>;
        high_to_low(a) = _mm512_bsrli_epi128::<8>;
        mul_low(a, b) = _mm512_clmulepi64_epi128::<0x00>;
        mul_high(a, b) = _mm512_clmulepi64_epi128::<0x11>;
        mul_cross(a, b) = _mm512_clmulepi64_epi128::<0x10>;
        aes_round(x, key) = _mm512_aesenc_epi128;
        aes_last(x, key) = _mm512_aesenclast_epi128;
        aes_inv_round(x, key) = _mm512_aesdec_epi128;
        aes_inv_last(x, key) = _mm512_aesdeclast_epi128;
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> Self::V {
        // SAFETY: the block has 16 bytes, and the token proves AVX-512F.
        unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(block.as_ptr().cast())) }
    }

    #[inline(always)]
    fn one(self, block: &Block) -> Self::V {
        // SAFETY: the block has 16 bytes, and the token proves the CPU features.
        unsafe { _mm512_zextsi128_si512(_mm_loadu_si128(block.as_ptr().cast())) }
    }

    #[inline(always)]
    fn first(self, v: Self::V) -> Block {
        let mut block = [0; BLOCK];
        // SAFETY: the block has 16 bytes.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm512_castsi512_si128(v)) };
        block
    }

    #[inline(always)]
    fn spread(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe { _mm512_broadcast_i32x4(_mm512_castsi512_si128(v)) }
    }

    #[inline(always)]
    unsafe fn load_from(self, from: *const u8) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_to(self, v: Self::V, to: *mut u8) {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm512_storeu_si512(to.cast(), v) }
    }

    #[inline(always)]
    unsafe fn load_part_from(self, from: *const u8, bytes: usize) -> Self::V {
        // A masked access whose unmasked form would fault is correct, but takes hundreds of cycles.
        if bytes == 0 {
            return self.zero();
        }
        // SAFETY: masked-off bytes are not accessed, and the caller's contract covers the others.
        unsafe { _mm512_maskz_loadu_epi8(self.first_bytes(bytes), from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_part_to(self, v: Self::V, to: *mut u8, bytes: usize) {
        if bytes == 0 {
            return;
        }
        // SAFETY: masked-off bytes are not accessed, and the caller's contract covers the others.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), self.first_bytes(bytes), v) }
    }

    #[inline(always)]
    unsafe fn load_last_from(self, from: *const u8, Mask(mask): Mask) -> Self::V {
        // SAFETY: masked-off bytes are not accessed, and the caller's contract covers the others.
        unsafe { _mm512_maskz_loadu_epi8(mask, from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_last_to(self, v: Self::V, to: *mut u8, Mask(mask): Mask) {
        // SAFETY: masked-off bytes are not accessed, and the caller's contract covers the others.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), mask, v) }
    }

    #[inline(always)]
    fn keep_last(self, v: Self::V, Mask(mask): Mask) -> Self::V {
        // SAFETY: the token proves AVX-512BW.
        unsafe { _mm512_maskz_mov_epi8(mask, v) }
    }

    #[inline(always)]
    fn tail_registers(self, lengths: &[Block; 8]) -> [u8; 8] {
        let mut registers = [0; 8];
        // SAFETY: eight blocks are two registers, there is room for eight bytes, and the token proves the CPU features.
        unsafe {
            let low_halves = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let from = lengths.as_ptr();
            let (first, second) = (_mm512_loadu_si512(from.cast()), _mm512_loadu_si512(from.add(4).cast()));
            let lengths = _mm512_permutex2var_epi64(first, low_halves, second);
            let last = _mm512_sub_epi64(lengths, _mm512_set1_epi64(1));
            let before_last = _mm512_and_si512(_mm512_srli_epi64::<6>(last), _mm512_set1_epi64(7));
            let some = _mm512_test_epi64_mask(lengths, lengths);
            let all = _mm512_maskz_add_epi64(some, before_last, _mm512_set1_epi64(1));
            _mm_storel_epi64(registers.as_mut_ptr().cast(), _mm512_cvtepi64_epi8(all));
        }
        registers
    }

    #[inline(always)]
    fn load_each_12(self, from: [&[u8; 12]; 4]) -> Self::V {
        // SAFETY: the mask selects the three words of an array, and the token proves AVX-512VL.
        unsafe {
            let one = |i: usize| _mm_maskz_loadu_epi32(0b111, from[i].as_ptr().cast());
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one(0)), one(1));
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one(2)), one(3));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }

    #[inline(always)]
    fn numbers(self, numbers: &[u64; 4]) -> Self::V {
        // SAFETY: the array has 32 bytes, and the token proves AVX-512F.
        unsafe {
            let numbers = _mm512_castsi256_si512(_mm256_loadu_si256(numbers.as_ptr().cast()));
            _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), numbers)
        }
    }

    #[inline(always)]
    fn increment(self, a: Self::V) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe {
            let low = _mm512_add_epi64(a, _mm512_maskz_set1_epi64(0x55, 1));
            let carries =
                _mm512_mask_testn_epi64_mask(0xaa, _mm512_unpacklo_epi64(low, low), _mm512_set1_epi64(-1));
            _mm512_mask_add_epi64(low, carries, low, _mm512_set1_epi64(1))
        }
    }

    #[inline(always)]
    fn last_word(self, n: u32) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe { _mm512_maskz_set1_epi32(0x8888, n.swap_bytes().cast_signed()) }
    }

    #[inline(always)]
    fn select_equal(self, numbers: Self::V, n: u64, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe {
            let equal = _mm512_cmpeq_epi64_mask(numbers, _mm512_set1_epi64(n.cast_signed()));
            _mm512_mask_mov_epi64(b, equal, a)
        }
    }

    #[inline(always)]
    fn nonzero(self, v: Self::V) -> u64 {
        // SAFETY: the token proves AVX-512F and BMI2.
        unsafe {
            let halves = u32::from(_mm512_test_epi64_mask(v, v));
            u64::from(_pext_u32(halves | halves >> 1, 0b0101_0101))
        }
    }

    #[inline(always)]
    fn equal(self, bytes: &[u8; 64], byte: u8) -> u64 {
        // SAFETY: the array has 64 bytes, and the token proves AVX-512BW.
        unsafe {
            let bytes = _mm512_loadu_si512(bytes.as_ptr().cast());
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()))
        }
    }

    #[inline(always)]
    unsafe fn gather(self, from: *const *const u8, at: usize) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe {
            let block = |i: usize| _mm_loadu_si128((*from.add(i)).wrapping_add(at).cast());
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(block(0)), block(1));
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(block(2)), block(3));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, v: Self::V, to: *const *mut u8, at: usize) {
        // SAFETY: the caller upholds the method's contract.
        unsafe {
            let to = |i: usize| (*to.add(i)).wrapping_add(at).cast();
            _mm_storeu_si128(to(0), _mm512_castsi512_si128(v));
            _mm_storeu_si128(to(1), _mm512_extracti64x2_epi64::<1>(v));
            _mm_storeu_si128(to(2), _mm512_extracti64x2_epi64::<2>(v));
            _mm_storeu_si128(to(3), _mm512_extracti64x2_epi64::<3>(v));
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
        // SAFETY: the caller's contract covers four blocks of each of four messages.
        unsafe {
            let step = |s: usize| in_register(from[s][reg]);
            let square = self.transpose([step(0), step(1), step(2), step(3)]);
            for i in 0..4 {
                _mm512_storeu_si512((*to.add(i)).wrapping_add(at).cast(), square[i]);
            }
        }
    }

    #[inline(always)]
    fn pin(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe { pinned(v) }
    }

    #[inline(always)]
    fn shift_left(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm512_sll_epi64(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn shift_right(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm512_srl_epi64(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> Self::V {
        // SAFETY: the token proves the broadcast of this width.
        unsafe { _mm512_set1_epi32(word.cast_signed()) }
    }

    #[inline(always)]
    fn shift_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm512_sll_epi32(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn rotate_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe { _mm512_rolv_epi32(a, _mm512_set1_epi32(n.cast_signed())) }
    }

    #[inline(always)]
    fn transpose32(self, [a, b, c, d]: [Self::V; 4]) -> [Self::V; 4] {
        // SAFETY: the token proves the shuffles of this width.
        unsafe {
            let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            [
                _mm512_unpacklo_epi64(ab_low, cd_low),
                _mm512_unpackhi_epi64(ab_low, cd_low),
                _mm512_unpacklo_epi64(ab_high, cd_high),
                _mm512_unpackhi_epi64(ab_high, cd_high),
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
        // SAFETY: the token proves AVX-512BW.
        unsafe { _mm512_shuffle_epi8(a, orders) }
    }

    #[inline(always)]
    fn keep(self, v: Self::V, bytes: usize) -> Self::V {
        // SAFETY: the token proves AVX-512BW.
        unsafe { _mm512_maskz_mov_epi8(self.first_bytes(bytes), v) }
    }

    #[inline(always)]
    fn push(self, before: Self::V, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe { _mm512_alignr_epi64::<6>(v, before) }
    }

    #[inline(always)]
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V) {
        // SAFETY: the token proves AVX-512F.
        unsafe { (_mm512_shuffle_i64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b)) }
    }

    #[inline(always)]
    fn zip(self, first: Self::V, second: Self::V) -> (Self::V, Self::V) {
        // SAFETY: the token proves AVX-512F.
        unsafe {
            let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            (_mm512_permutex2var_epi64(first, low, second), _mm512_permutex2var_epi64(first, high, second))
        }
    }

    #[inline(always)]
    fn reverse_blocks(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe { _mm512_shuffle_i64x2::<0b00_01_10_11>(v, v) }
    }

    #[inline(always)]
    fn fold(self, v: Self::V) -> Self::V {
        // SAFETY: the token proves AVX-512F.
        unsafe {
            let two = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64::<1>(v));
            let one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256::<1>(two));
            _mm512_zextsi128_si512(one)
        }
    }

    #[inline(always)]
    fn aes_inv_mix(self, x: Self::V) -> Self::V {
        // SAFETY: the token proves VAES. A decryption round cancels the S-box of the preceding encryption round,
        // which leaves InvMixColumns.
        unsafe {
            let zero = _mm512_setzero_si512();
            _mm512_aesdec_epi128(_mm512_aesenclast_epi128(x, zero), zero)
        }
    }
}

/// A set of the first bytes of a register, one bit each.
#[derive(Clone, Copy)]
pub(crate) struct Mask(u64);

impl Part for Mask {
    #[inline(always)]
    fn of(bytes: usize) -> Self {
        Self(u64::MAX >> (bytes.wrapping_neg() % 64))
    }

    #[inline(always)]
    fn bytes(self) -> usize {
        self.0.count_ones() as usize
    }
}

impl Vaes512 {
    /// Returns a mask of the first `bytes` bytes of a register, at most 64.
    #[inline(always)]
    fn first_bytes(self, bytes: usize) -> u64 {
        debug_assert!(bytes <= 64);
        // SAFETY: the token proves BMI2.
        unsafe { _bzhi_u64(u64::MAX, bytes as u32) }
    }
}

/// Keeps a loaded value in its register. The compiler considers loads free and repeats them for each use, but memory
/// ports are the bottleneck of the comb's kernels.
#[inline]
#[target_feature(enable = "avx512f")]
fn in_register(mut v: __m512i) -> __m512i {
    // SAFETY: the assembly is empty.
    unsafe { asm!("/* {0} */", inout(zmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

/// Keeps a value in its register and orders its computation relative to other pinned values.
#[inline]
#[target_feature(enable = "avx512f")]
fn pinned(mut v: __m512i) -> __m512i {
    // SAFETY: the assembly is empty.
    unsafe { asm!("/* {0} */", inout(zmm_reg) v, options(nomem, nostack, preserves_flags)) };
    v
}

impl Probe for Vaes512 {}
