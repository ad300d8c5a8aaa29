//! `aesni`: one block per register, with AES-NI and PCLMULQDQ. Almost every x86-64 CPU since about 2010 has them.

use core::arch::asm;
use core::arch::x86_64::*;

use super::vaes256::Vaes256;
use super::vaes512::Vaes512;
use super::{BLOCK, Block, Isa, Kernel, Probe, TopBit, features, token};

token! {
    /// Proof that the CPU has AES-NI, PCLMULQDQ and SSE4.1.
    Aesni, ["sse2", "ssse3", "sse4.1", "aes", "pclmulqdq"]
}

/// Implements operations that are a single intrinsic.
macro_rules! verbs {
    ($($verb:ident($($x:ident),*) = $intrinsic:expr;)*) => {$(
        #[inline(always)]
        fn $verb(self, $($x: Self::V),*) -> Self::V {
            // SAFETY: the token proves that the CPU has the instruction.
            unsafe { ($intrinsic)($($x),*) }
        }
    )*};
}
pub(super) use verbs;

// A CPU with VAES has AES-NI, PCLMULQDQ and SSE4.1: the tokens require all of them.
impl From<Vaes256> for Aesni {
    #[inline(always)]
    fn from(_: Vaes256) -> Self {
        Self(())
    }
}

impl From<Vaes512> for Aesni {
    #[inline(always)]
    fn from(_: Vaes512) -> Self {
        Self(())
    }
}

impl Isa for Aesni {
    const BLOCKS: usize = 1;
    const CHAINS: usize = 12;
    type V = __m128i;
    type Narrow = Self;
    type Part = usize;

    #[inline(always)]
    fn narrow(self) -> Self::Narrow {
        self
    }

    verbs! {
        zero() = _mm_setzero_si128;
        xor(a, b) = _mm_xor_si128;
        and(a, b) = _mm_and_si128;
        or(a, b) = _mm_or_si128;
        add32(a, b) = _mm_add_epi32;
        add64(a, b) = _mm_add_epi64;
        sub64(a, b) = _mm_sub_epi64;
        swap(a) = _mm_shuffle_epi32::<0b0100_1110>;
        low_to_high(a) = _mm_slli_si128::<8>;
        high_to_low(a) = _mm_srli_si128::<8>;
        mul_low(a, b) = _mm_clmulepi64_si128::<0x00>;
        mul_high(a, b) = _mm_clmulepi64_si128::<0x11>;
        mul_cross(a, b) = _mm_clmulepi64_si128::<0x10>;
        aes_round(x, key) = _mm_aesenc_si128;
        aes_last(x, key) = _mm_aesenclast_si128;
        aes_inv_round(x, key) = _mm_aesdec_si128;
        aes_inv_last(x, key) = _mm_aesdeclast_si128;
        aes_inv_mix(x) = _mm_aesimc_si128;
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> Self::V {
        // SAFETY: the block has 16 bytes.
        unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
    }

    #[inline(always)]
    fn one(self, block: &Block) -> Self::V {
        self.splat(block)
    }

    #[inline(always)]
    fn first(self, v: Self::V) -> Block {
        let mut block = [0; BLOCK];
        // SAFETY: the block has 16 bytes.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), v) };
        block
    }

    #[inline(always)]
    fn spread(self, v: Self::V) -> Self::V {
        v
    }

    #[inline(always)]
    unsafe fn load_from(self, from: *const u8) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_to(self, v: Self::V, to: *mut u8) {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm_storeu_si128(to.cast(), v) }
    }

    #[inline(always)]
    unsafe fn load_part_from(self, from: *const u8, bytes: usize) -> Self::V {
        // SAFETY: the caller upholds the method's contract, and the token proves SSE4.1.
        unsafe { load_part(from, bytes) }
    }

    #[inline(always)]
    unsafe fn store_part_to(self, v: Self::V, to: *mut u8, bytes: usize) {
        // SAFETY: the caller upholds the method's contract, and the token proves SSE4.1.
        unsafe { store_part(v, to, bytes) }
    }

    #[inline(always)]
    unsafe fn gather(self, from: *const *const u8, at: usize) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm_loadu_si128((*from).wrapping_add(at).cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, v: Self::V, to: *const *mut u8, at: usize) {
        // SAFETY: the caller upholds the method's contract.
        unsafe { _mm_storeu_si128((*to).wrapping_add(at).cast(), v) }
    }

    #[inline(always)]
    fn pin(self, mut v: Self::V) -> Self::V {
        // SAFETY: the assembly is empty.
        unsafe { asm!("/* {0} */", inout(xmm_reg) v, options(nomem, nostack, preserves_flags)) };
        v
    }

    #[inline(always)]
    fn shift_left(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm_sll_epi64(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn shift_right(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm_srl_epi64(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> Self::V {
        // SAFETY: the token proves the broadcast of this width.
        unsafe { _mm_set1_epi32(word.cast_signed()) }
    }

    #[inline(always)]
    fn shift_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shift of this width.
        unsafe { _mm_sll_epi32(a, _mm_cvtsi32_si128(n.cast_signed())) }
    }

    #[inline(always)]
    fn rotate_left32(self, a: Self::V, n: u32) -> Self::V {
        // SAFETY: the token proves the shifts of this width.
        unsafe {
            let left = _mm_sll_epi32(a, _mm_cvtsi32_si128(n.cast_signed()));
            let right = _mm_srl_epi32(a, _mm_cvtsi32_si128((32 - n).cast_signed()));
            _mm_or_si128(left, right)
        }
    }

    #[inline(always)]
    fn transpose32(self, [a, b, c, d]: [Self::V; 4]) -> [Self::V; 4] {
        // SAFETY: the token proves the shuffles of this width.
        unsafe {
            let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(ab_low, cd_low),
                _mm_unpackhi_epi64(ab_low, cd_low),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
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
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_shuffle_epi8(a, orders) }
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
}

/// Loads up to 16 bytes by overlapping scalar loads, zero-padded. A call of `memcpy` would spill all live vector
/// registers.
///
/// # Safety
/// `bytes` must be at most 16, that many bytes must be readable, and the CPU must have SSE4.1.
#[inline(always)]
pub(super) unsafe fn load_part(from: *const u8, bytes: usize) -> __m128i {
    debug_assert!(bytes <= BLOCK);
    // SAFETY: every load is within the `bytes` bytes, and the intrinsics are SSE2.
    unsafe {
        if bytes == BLOCK {
            _mm_loadu_si128(from.cast())
        } else if bytes >= 8 {
            let low = from.cast::<u64>().read_unaligned();
            let last = from.add(bytes - 8).cast::<u64>().read_unaligned();
            // The top `bytes - 8` bytes of `last` are new. Two shifts, because `bytes` may be 8 and a shift by 64 is
            // undefined.
            let high = (last >> 1) >> (8 * (16 - bytes) - 1);
            _mm_set_epi64x(high.cast_signed(), low.cast_signed())
        } else {
            _mm_set_epi64x(0, load_word(from, bytes).cast_signed())
        }
    }
}

/// Loads up to 7 bytes as a little-endian number.
///
/// # Safety
/// `bytes` must be at most 7, and that many bytes must be readable.
#[inline(always)]
unsafe fn load_word(from: *const u8, bytes: usize) -> u64 {
    // SAFETY: every load is within the `bytes` bytes.
    unsafe {
        if bytes >= 4 {
            let low = u64::from(from.cast::<u32>().read_unaligned());
            let last = u64::from(from.add(bytes - 4).cast::<u32>().read_unaligned());
            low | (last << (8 * (bytes - 4)))
        } else if bytes > 0 {
            let middle = bytes / 2;
            u64::from(from.read())
                | u64::from(from.add(middle).read()) << (8 * middle)
                | u64::from(from.add(bytes - 1).read()) << (8 * (bytes - 1))
        } else {
            0
        }
    }
}

/// Stores the first `bytes` bytes of a register, at most 16, by scalar stores.
///
/// # Safety
/// `bytes` must be at most 16, that many bytes must be writable, and the CPU must have SSE4.1.
#[inline(always)]
pub(super) unsafe fn store_part(v: __m128i, to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= BLOCK);
    // SAFETY: every store is within the `bytes` bytes, and the caller guarantees SSE4.1.
    unsafe {
        if bytes == BLOCK {
            _mm_storeu_si128(to.cast(), v);
            return;
        }
        let mut word = _mm_cvtsi128_si64(v).cast_unsigned();
        let mut to = to;
        let mut left = bytes;
        if left >= 8 {
            to.cast::<u64>().write_unaligned(word);
            word = _mm_extract_epi64::<1>(v).cast_unsigned();
            to = to.add(8);
            left -= 8;
        }
        if left >= 4 {
            to.cast::<u32>().write_unaligned(word as u32);
            word >>= 32;
            to = to.add(4);
            left -= 4;
        }
        for _ in 0..left {
            to.write(word as u8);
            word >>= 8;
            to = to.add(1);
        }
    }
}

impl Probe for Aesni {
    verbs! {
        aes_key_assist(x) = _mm_aeskeygenassist_si128::<1>;
    }

    #[inline(always)]
    fn top_bit(self, v: Self::V, how: TopBit) -> bool {
        // SAFETY: the token proves SSE4.1.
        unsafe {
            match how {
                TopBit::Extract => _mm_extract_epi8::<15>(v) & 0x80 != 0,
                TopBit::Test => _mm_testz_si128(v, _mm_set_epi64x(i64::MIN, 0)) == 0,
                TopBit::Collect => _mm_movemask_epi8(v) & 0x8000 != 0,
                TopBit::Compare => _mm_extract_epi8::<15>(_mm_cmpgt_epi8(_mm_setzero_si128(), v)) != 0,
            }
        }
    }
}
