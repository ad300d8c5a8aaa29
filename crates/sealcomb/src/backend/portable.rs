//! `portable` and `portable4`: `N` blocks per register on any CPU, in constant time, with RustCrypto's AES and
//! integer arithmetic.

use alloc::boxed::Box;
use core::fmt::Debug;

use aes::cipher::{Array, Block as CipherBlock, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::hazmat;

use super::{BLOCK, Block, Isa, Kernel, Probe, RoundKeys, Weave, Wiped};

/// The token of a portable backend, which every CPU supports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable<const N: usize>;

impl<const N: usize> Portable<N> {
    pub(super) const NEEDS: &'static [&'static str] = &[];

    #[allow(clippy::unnecessary_wraps)] // the signature of every backend
    pub(super) fn detect() -> Option<Self> {
        Some(Self)
    }

    #[inline(always)]
    pub(super) fn enter<K: Kernel>(self, kernel: K) -> K::Output {
        // A method of the kernel, like the `enter` of every backend; see `token!`.
        trait Enter<const N: usize>: Kernel {
            fn enter(self, token: Portable<N>) -> Self::Output;
        }
        impl<K: Kernel, const N: usize> Enter<N> for K {
            // Inlined into its caller, the stack frames of all kernels would add up.
            #[inline(never)]
            fn enter(self, token: Portable<N>) -> K::Output {
                self.run(token)
            }
        }
        Enter::enter(kernel, self)
    }
}

/// RustCrypto's AES with an expanded key, zeroized on drop.
pub(crate) enum SoftAes {
    Aes128(Box<Wiped<aes::Aes128>>),
    Aes192(Box<Wiped<aes::Aes192>>),
    Aes256(Box<Wiped<aes::Aes256>>),
}

impl SoftAes {
    /// Expands a key of 16, 24 or 32 bytes.
    ///
    /// # Panics
    /// If the key has another length.
    pub(crate) fn new(key: &[u8]) -> Self {
        fn wiped<T, E: Debug>(cipher: Result<T, E>) -> Wiped<T> {
            Wiped::new(cipher.expect("an AES key has 16, 24 or 32 bytes"))
        }
        match key.len() {
            16 => Self::Aes128(Box::new(wiped(aes::Aes128::new_from_slice(key)))),
            24 => Self::Aes192(Box::new(wiped(aes::Aes192::new_from_slice(key)))),
            _ => Self::Aes256(Box::new(wiped(aes::Aes256::new_from_slice(key)))),
        }
    }

    #[inline]
    fn encrypt(&self, blocks: &mut [CipherBlock<aes::Aes128>]) {
        match self {
            Self::Aes128(aes) => aes.encrypt_blocks(blocks),
            Self::Aes192(aes) => aes.encrypt_blocks(blocks),
            Self::Aes256(aes) => aes.encrypt_blocks(blocks),
        }
    }

    #[inline]
    fn decrypt(&self, blocks: &mut [CipherBlock<aes::Aes128>]) {
        match self {
            Self::Aes128(aes) => aes.decrypt_blocks(blocks),
            Self::Aes192(aes) => aes.decrypt_blocks(blocks),
            Self::Aes256(aes) => aes.decrypt_blocks(blocks),
        }
    }
}

impl<const N: usize> Portable<N> {
    /// Applies `cipher` to all blocks of `x`: in one call if they share a key, otherwise block by block.
    #[inline]
    fn with_soft<K: RoundKeys<Self>, const R: usize>(
        keys: K,
        x: &mut [[u128; N]; R],
        cipher: impl Fn(&SoftAes, &mut [CipherBlock<aes::Aes128>]),
    ) {
        let mut blocks = x.map(|register| register.map(|block| Array(block.to_le_bytes())));
        if K::SHARED {
            cipher(keys.soft(0).expect("a key made for this backend"), blocks.as_flattened_mut());
        } else {
            for (lane, block) in blocks.as_flattened_mut().iter_mut().enumerate() {
                // An idle lane has no key, and its block is unused.
                if let Some(soft) = keys.soft(lane) {
                    cipher(soft, core::slice::from_mut(block));
                }
            }
        }
        *x = blocks.map(|register| register.map(|block| u128::from_le_bytes(block.0)));
    }
}

/// Applies one of RustCrypto's constant-time round functions to a block.
#[inline]
fn round(x: u128, step: impl Fn(&mut aes::Block)) -> u128 {
    let mut block = Array(x.to_le_bytes());
    step(&mut block);
    u128::from_le_bytes(block.0)
}

const NO_KEY: aes::Block = Array([0; BLOCK]);

/// The value 1 in each 32-bit word.
const EVERY_WORD: u128 = 1 << 96 | 1 << 64 | 1 << 32 | 1;

/// Permutes the bytes of a block. Not inlined, because unrolling it for all registers of a step takes the compiler
/// minutes.
#[inline(never)]
fn shuffle(x: u128, order: &Block) -> u128 {
    let from = x.to_le_bytes();
    u128::from_le_bytes(order.map(|i| if i < 128 { from[usize::from(i % 16)] } else { 0 }))
}

/// Returns the low 64 bits of a carry-less product. Computed from integer products of operands in which only every
/// fourth bit is set, so that carries do not reach the next significant bit.
#[inline]
fn mul_low_half(a: u64, b: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let mut product = 0;
    for i in 0..4 {
        let mut sum = 0;
        for j in 0..4 {
            let k = (4 + i - j) % 4;
            sum ^= (a & (EVERY_FOURTH << j)).wrapping_mul(b & (EVERY_FOURTH << k));
        }
        product |= sum & (EVERY_FOURTH << i);
    }
    product
}

/// Returns a carry-less product. Its high half is the bit-reversed low half of the product of the bit-reversed
/// operands.
#[inline(never)]
fn mul(a: u64, b: u64) -> u128 {
    let high = mul_low_half(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(mul_low_half(a, b)) | u128::from(high) << 64
}

#[inline]
fn low(x: u128) -> u64 {
    x as u64
}

#[inline]
fn high(x: u128) -> u64 {
    (x >> 64) as u64
}

#[inline]
fn halves(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

#[inline]
fn map2<const N: usize>(a: [u128; N], b: [u128; N], f: impl Fn(u128, u128) -> u128) -> [u128; N] {
    core::array::from_fn(|i| f(a[i], b[i]))
}

// Kernels are translated in many units. `#[inline]` gives each of them a copy of the operations.
impl<const N: usize> Isa for Portable<N> {
    const BLOCKS: usize = N;
    const CHAINS: usize = 8;
    const SOFT: bool = true;
    type V = [u128; N];
    type Narrow = Portable<1>;
    type Part = usize;

    #[inline]
    fn narrow(self) -> Self::Narrow {
        Portable
    }

    #[inline]
    fn zero(self) -> Self::V {
        [0; N]
    }

    #[inline]
    fn splat(self, block: &Block) -> Self::V {
        [u128::from_le_bytes(*block); N]
    }

    #[inline]
    fn one(self, block: &Block) -> Self::V {
        core::array::from_fn(|i| if i == 0 { u128::from_le_bytes(*block) } else { 0 })
    }

    #[inline]
    fn first(self, v: Self::V) -> Block {
        v[0].to_le_bytes()
    }

    #[inline]
    fn spread(self, v: Self::V) -> Self::V {
        [v[0]; N]
    }

    #[inline]
    unsafe fn load_from(self, from: *const u8) -> Self::V {
        // SAFETY: the caller upholds the method's contract.
        let blocks = unsafe { from.cast::<[Block; N]>().read_unaligned() };
        blocks.map(u128::from_le_bytes)
    }

    #[inline]
    unsafe fn store_to(self, v: Self::V, to: *mut u8) {
        // SAFETY: the caller upholds the method's contract.
        unsafe { to.cast::<[Block; N]>().write_unaligned(v.map(u128::to_le_bytes)) }
    }

    #[inline]
    unsafe fn load_part_from(self, from: *const u8, bytes: usize) -> Self::V {
        let mut blocks = [[0; BLOCK]; N];
        assert!(bytes <= BLOCK * N);
        // SAFETY: the caller upholds the method's contract, and the array has at least `bytes` bytes.
        unsafe { core::ptr::copy_nonoverlapping(from, blocks.as_mut_ptr().cast(), bytes) };
        blocks.map(u128::from_le_bytes)
    }

    #[inline]
    unsafe fn store_part_to(self, v: Self::V, to: *mut u8, bytes: usize) {
        let blocks = v.map(u128::to_le_bytes);
        assert!(bytes <= BLOCK * N);
        // SAFETY: the caller upholds the method's contract, and the array has at least `bytes` bytes.
        unsafe { core::ptr::copy_nonoverlapping(blocks.as_ptr().cast(), to, bytes) };
    }

    #[inline]
    unsafe fn gather(self, from: *const *const u8, at: usize) -> Self::V {
        core::array::from_fn(|i| {
            // SAFETY: the caller upholds the method's contract.
            let block = unsafe { (*from.add(i)).wrapping_add(at).cast::<Block>().read_unaligned() };
            u128::from_le_bytes(block)
        })
    }

    #[inline]
    unsafe fn scatter(self, v: Self::V, to: *const *mut u8, at: usize) {
        for (i, block) in v.iter().enumerate() {
            // SAFETY: the caller upholds the method's contract.
            unsafe { (*to.add(i)).wrapping_add(at).cast::<Block>().write_unaligned(block.to_le_bytes()) };
        }
    }

    #[inline]
    fn xor(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| a ^ b)
    }

    #[inline]
    fn and(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| a & b)
    }

    #[inline]
    fn or(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| a | b)
    }

    #[inline]
    fn add32(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| {
            (0..4).fold(0, |sum, i| {
                let word = ((a >> (32 * i)) as u32).wrapping_add((b >> (32 * i)) as u32);
                sum | u128::from(word) << (32 * i)
            })
        })
    }

    #[inline]
    fn add64(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| halves(low(a).wrapping_add(low(b)), high(a).wrapping_add(high(b))))
    }

    #[inline]
    fn sub64(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| halves(low(a).wrapping_sub(low(b)), high(a).wrapping_sub(high(b))))
    }

    #[inline]
    fn splat32(self, word: u32) -> Self::V {
        [u128::from(word) * EVERY_WORD; N]
    }

    #[inline]
    fn shift_left32(self, a: Self::V, n: u32) -> Self::V {
        let kept = u128::from(u32::MAX >> n) * EVERY_WORD;
        a.map(|a| (a & kept) << n)
    }

    #[inline]
    fn rotate_left32(self, a: Self::V, n: u32) -> Self::V {
        let low = u128::from(u32::MAX >> n) * EVERY_WORD;
        a.map(|a| (a & low) << n | (a & !low) >> (32 - n))
    }

    #[inline]
    fn transpose32(self, rows: [Self::V; 4]) -> [Self::V; 4] {
        core::array::from_fn(|j| {
            core::array::from_fn(|block| {
                (0..4).fold(0, |column, i| {
                    let word = (rows[i][block] >> (32 * j)) as u32;
                    column | u128::from(word) << (32 * i)
                })
            })
        })
    }

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        self.enter(kernel)
    }

    #[inline]
    fn shift_left(self, a: Self::V, n: u32) -> Self::V {
        a.map(|a| halves(low(a) << n, high(a) << n))
    }

    #[inline]
    fn shift_right(self, a: Self::V, n: u32) -> Self::V {
        a.map(|a| halves(low(a) >> n, high(a) >> n))
    }

    #[inline]
    fn shuffle(self, a: Self::V, order: &Block) -> Self::V {
        a.map(|a| shuffle(a, order))
    }

    #[inline]
    fn shuffle_each(self, a: Self::V, orders: Self::V) -> Self::V {
        core::array::from_fn(|i| shuffle(a[i], &orders[i].to_le_bytes()))
    }

    #[inline]
    fn reverse(self, a: Self::V) -> Self::V {
        a.map(u128::swap_bytes)
    }

    #[inline]
    fn swap(self, a: Self::V) -> Self::V {
        a.map(|a| a.rotate_left(64))
    }

    #[inline]
    fn low_to_high(self, a: Self::V) -> Self::V {
        a.map(|a| a << 64)
    }

    #[inline]
    fn high_to_low(self, a: Self::V) -> Self::V {
        a.map(|a| a >> 64)
    }

    #[inline]
    fn mul_low(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| mul(low(a), low(b)))
    }

    #[inline]
    fn mul_high(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| mul(high(a), high(b)))
    }

    #[inline]
    fn mul_cross(self, a: Self::V, b: Self::V) -> Self::V {
        map2(a, b, |a, b| mul(low(a), high(b)))
    }

    #[inline]
    fn push(self, before: Self::V, v: Self::V) -> Self::V {
        core::array::from_fn(|i| if i == 0 { before[N - 1] } else { v[i - 1] })
    }

    #[inline]
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V) {
        let run = |i| if i < N { a[i] } else { b[i - N] };
        (core::array::from_fn(|i| run(2 * i)), core::array::from_fn(|i| run(2 * i + 1)))
    }

    #[inline]
    fn zip(self, first: Self::V, second: Self::V) -> (Self::V, Self::V) {
        let run = |i| if i % 2 == 0 { first[i / 2] } else { second[i / 2] };
        (core::array::from_fn(run), core::array::from_fn(|i| run(N + i)))
    }

    #[inline]
    fn reverse_blocks(self, v: Self::V) -> Self::V {
        core::array::from_fn(|i| v[N - 1 - i])
    }

    #[inline]
    fn fold(self, v: Self::V) -> Self::V {
        let sum = v.iter().fold(0, |sum, block| sum ^ block);
        core::array::from_fn(|i| if i == 0 { sum } else { 0 })
    }

    #[inline]
    fn aes_round(self, x: Self::V, key: Self::V) -> Self::V {
        map2(x, key, |x, key| round(x, |block| hazmat::cipher_round(block, &Array(key.to_le_bytes()))))
    }

    /// Processes up to eight blocks together: the bitsliced cipher takes no longer for eight than for one.
    #[inline]
    fn aes_round_each<const R: usize>(self, x: [Self::V; R], keys: [Self::V; R]) -> [Self::V; R] {
        const { assert!(R <= 8) };
        let mut rounds = x;
        for lane in 0..N {
            let (mut blocks, mut round_keys) = (hazmat::Block8::default(), hazmat::Block8::default());
            for r in 0..R {
                blocks[r] = Array(x[r][lane].to_le_bytes());
                round_keys[r] = Array(keys[r][lane].to_le_bytes());
            }
            hazmat::cipher_round_par(&mut blocks, &round_keys);
            for r in 0..R {
                rounds[r][lane] = u128::from_le_bytes(blocks[r].0);
            }
        }
        rounds
    }

    #[inline]
    fn aes_last(self, x: Self::V, key: Self::V) -> Self::V {
        map2(x, key, |x, key| {
            key ^ round(x, |block| {
                hazmat::cipher_round(block, &NO_KEY);
                hazmat::inv_mix_columns(block);
            })
        })
    }

    #[inline]
    fn aes_inv_round(self, x: Self::V, key: Self::V) -> Self::V {
        map2(x, key, |x, key| {
            round(x, |block| hazmat::equiv_inv_cipher_round(block, &Array(key.to_le_bytes())))
        })
    }

    #[inline]
    fn aes_inv_last(self, x: Self::V, key: Self::V) -> Self::V {
        map2(x, key, |x, key| {
            key ^ round(x, |block| {
                hazmat::equiv_inv_cipher_round(block, &NO_KEY);
                hazmat::mix_columns(block);
            })
        })
    }

    #[inline]
    fn aes_inv_mix(self, x: Self::V) -> Self::V {
        x.map(|x| round(x, hazmat::inv_mix_columns))
    }

    #[inline]
    fn crypt_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize, const INVERSE: bool>(
        self,
        keys: K,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        Self::with_soft(keys, x, if INVERSE { SoftAes::decrypt } else { SoftAes::encrypt });
        for piece in 0..R {
            weave.thread(self, piece);
        }
    }
}

impl<const N: usize> Probe for Portable<N> {}
