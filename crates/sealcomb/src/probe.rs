//! Instruction benchmarks: single instructions and instruction mixes on the registers of a backend.
//!
//! The functions only run the instructions; the caller measures the time. The results bound the speed of a mode: no
//! implementation is faster than the mix of instructions that the mode's definition requires.
//!
//! ```
//! use sealcomb::{Backend, probe};
//!
//! let start = std::time::Instant::now();
//! let blocks = probe::mix(Backend::best(), 10, 0, 10_000);
//! println!("AES-128 costs at least {:?} for {blocks} blocks", start.elapsed());
//! ```

use core::hint::black_box;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::backend::{BLOCK, Backend, Isa, Kernel, Probe, TopBit};
use crate::primitives::gf128;

/// Number of registers that independent operations are spread over: more than latency times throughput on any known
/// CPU, and few enough for 16 registers.
const SPREAD: usize = 12;

/// Number of registers of a mix that go through AES rounds. With only eight, each round would have to complete in
/// exactly its latency.
const ROUNDS: usize = 10;

/// Number of registers of a mix that are multiplied: 16 in total with `ROUNDS` and a key.
const PRODUCTS: usize = 5;

/// Number of registers that are loaded or stored in a row.
const ROW: usize = 8;

/// An instruction on a register of blocks.
///
/// Backends without the instruction use the sequence of instructions that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A round of AES. On Arm these are two instructions, which CPUs fuse.
    AesRound,
    /// The last round of AES.
    AesLast,
    /// A round of the inverse cipher.
    AesInvRound,
    /// The last round of the inverse cipher.
    AesInvLast,
    /// `InvMixColumns`, which computes the round keys of the inverse cipher.
    AesInvMix,
    /// `AESKEYGENASSIST`, the step of the key schedule. Only `aesni` has the instruction.
    AesKeyAssist,
    /// A carry-less product of 64-bit halves.
    Clmul,
    /// A byte shuffle.
    Shuffle,
}

/// The direction of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From memory to a register.
    Load,
    /// From a register to memory.
    Store,
}

/// A method of multiplication in GF(2^128).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiply {
    /// Three carry-less products (Karatsuba) and reduction by shifts.
    Classical,
    /// Four carry-less products and reduction by two more.
    Haswell,
}

/// A method of doubling in GF(2^128): how the carry out of the top bit is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Double {
    /// Extracts the top byte, then branches.
    Extraction,
    /// Tests the block against a mask, then branches.
    Test,
    /// Collects the top bits of all bytes, then branches.
    Mask,
    /// Compares all bytes with zero, extracts the top one, then branches.
    Compare,
    /// Spreads the top bit over its half by a subtraction and masks the polynomial with it. The modes use this
    /// method.
    Spread,
}

impl Double {
    /// All methods: the four of the papers, then [`Double::Spread`].
    pub const ALL: [Self; 5] = [Self::Extraction, Self::Test, Self::Mask, Self::Compare, Self::Spread];

    /// Returns whether the method is constant-time. Those that branch are not, and process one block per register.
    pub fn is_constant_time(self) -> bool {
        self == Self::Spread
    }
}

/// A mode whose chain of multiplications can be timed with either method, as in figure 5 of the FSE 2015 paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chained {
    /// McOE-G: each block depends on a multiplication, then on AES.
    McoeG,
    /// COBRA: each pair of blocks depends on two multiplications. Its AES calls do not delay the next pair.
    Cobra,
}

/// Runs an instruction `times` times, each time on the previous result.
pub fn latency(backend: Backend, op: Op, times: u64) {
    backend.run(Repeat::<1> { op, times });
}

/// Runs an instruction `times` times on each of several independent registers. Returns the number of 16-byte blocks
/// processed.
pub fn throughput(backend: Backend, op: Op, times: u64) -> u64 {
    backend.run(Repeat::<SPREAD> { op, times })
}

/// Runs the instruction mix of a mode that costs `aes` AES rounds and `clmul` carry-less products per block, `times`
/// times for each of several registers. The products are between the rounds and independent of them. Returns the
/// number of 16-byte blocks processed.
pub fn mix(backend: Backend, aes: u32, clmul: u32, times: u64) -> u64 {
    backend.run(Mix { aes, clmul, times })
}

/// Adds the 64-bit words of several registers, `times` times for each: an operation that every vector unit of the CPU
/// supports. Returns the number of instructions.
pub fn sums(backend: Backend, times: u64) -> u64 {
    backend.run(Sums { times })
}

/// Loads or stores 4 KiB in the L1 cache, `times` times, one register of blocks at a time. Returns the number of
/// registers loaded or stored.
pub fn access(backend: Backend, access: Access, times: u64) -> u64 {
    backend.run(Accesses { access, times })
}

/// Loads or stores eight machine words, `times` times. Returns the number of accesses, eight times `times`.
pub fn access_words(access: Access, times: u64) -> u64 {
    let words = black_box([const { AtomicUsize::new(3) }; ROW]);
    let mut x = black_box([0_usize; ROW]);
    // One loop per direction, so that no branch is timed. Atomics, because the compiler does not merge their
    // accesses.
    match access {
        Access::Load => {
            for _ in 0..times {
                for r in 0..ROW {
                    x[r] ^= words[r].load(Relaxed);
                }
            }
        }
        Access::Store => {
            for _ in 0..times {
                for r in 0..ROW {
                    words[r].store(x[r], Relaxed);
                }
            }
        }
    }
    black_box(x);
    times * ROW as u64
}

/// Runs twelve simple instructions on machine words, `times` times: two loads, six XORs, three stores, and a compare
/// and branch, which CPUs fuse. Their bottleneck is the front end of the CPU. Returns the number of instructions,
/// twelve times `times`.
pub fn instructions(times: u64) -> u64 {
    let words = black_box([const { AtomicUsize::new(3) }; 3]);
    let mut x = black_box([5_usize; 6]);
    for _ in 0..times {
        let (first, second) = (words[0].load(Relaxed), words[1].load(Relaxed));
        // Each word is used twice. The compiler would fold a load with one use into the instruction that uses it.
        for r in 0..2 {
            x[r] ^= first;
            x[2 + r] ^= second;
            x[4 + r] ^= x[2 + r];
        }
        for r in 0..3 {
            words[r].store(x[r], Relaxed);
        }
    }
    black_box(x);
    12 * times
}

/// Multiplies in GF(2^128) `times` times: the previous product if `chained`, otherwise independent values in several
/// registers. Returns the number of products.
pub fn multiply(backend: Backend, method: Multiply, chained: bool, times: u64) -> u64 {
    if chained {
        backend.run(Products::<1> { method, times })
    } else {
        backend.run(Products::<4> { method, times })
    }
}

/// Doubles in GF(2^128) `times` times: the previous result if `chained`, otherwise independent blocks in several
/// registers. Returns the number of blocks doubled.
pub fn double(backend: Backend, method: Double, chained: bool, times: u64) -> u64 {
    if chained {
        backend.run(Doublings::<1> { method, times })
    } else {
        backend.run(Doublings::<4> { method, times })
    }
}

/// Processes `messages` messages of `pairs` pairs of blocks with a mode, one after another, in each of eight
/// registers if `batched`, otherwise in one register. The time is the cost of the mode's start, chain and tag without
/// memory accesses. Returns the number of blocks processed.
pub fn chain(
    backend: Backend,
    mode: Chained,
    method: Multiply,
    batched: bool,
    pairs: u64,
    messages: u64,
) -> u64 {
    if batched {
        backend.run(Chain::<8> { mode, method, pairs, messages })
    } else {
        backend.run(Chain::<1> { mode, method, pairs, messages })
    }
}

struct Repeat<const R: usize> {
    op: Op,
    times: u64,
}

impl<const R: usize> Kernel for Repeat<R> {
    type Output = u64;

    #[inline(always)]
    fn run<B: Probe>(self, b: B) -> u64 {
        let order = black_box([3; BLOCK]);
        let key = b.splat(&order);
        let mut x = [key; R];
        // One loop per instruction: selecting it within the loop would cost more than the instruction.
        macro_rules! repeat {
            ($v:ident => $step:expr) => {
                for _ in 0..self.times {
                    for r in 0..R {
                        let $v = x[r];
                        x[r] = $step;
                    }
                }
            };
        }
        match self.op {
            Op::AesRound => repeat!(v => b.aes_own_round(v, key)),
            Op::AesLast => repeat!(v => b.aes_last(v, key)),
            Op::AesInvRound => repeat!(v => b.aes_own_inv_round(v, key)),
            Op::AesInvLast => repeat!(v => b.aes_inv_last(v, key)),
            Op::AesInvMix => repeat!(v => b.aes_inv_mix(v)),
            Op::AesKeyAssist => repeat!(v => b.aes_key_assist(v)),
            Op::Clmul => repeat!(v => b.mul_low(v, key)),
            Op::Shuffle => repeat!(v => b.shuffle(v, &order)),
        }
        consume(b, &x);
        self.times * (R * B::BLOCKS) as u64
    }
}

struct Mix {
    aes: u32,
    clmul: u32,
    times: u64,
}

impl Kernel for Mix {
    type Output = u64;

    #[inline(always)]
    fn run<B: Probe>(self, b: B) -> u64 {
        let key = b.splat(&black_box([3; BLOCK]));
        let Self { aes, clmul, times } = self;
        let (mut x, mut y) = ([key; ROUNDS], [key; PRODUCTS]);
        let steps = aes.max(clmul);
        for _ in 0..times {
            let (mut rounds, mut products) = (0, 0);
            for _ in 0..steps {
                rounds += aes;
                if rounds >= steps {
                    rounds -= steps;
                    for r in 0..ROUNDS {
                        x[r] = b.aes_own_round(x[r], key);
                    }
                }
                products += clmul;
                if products >= steps {
                    products -= steps;
                    for r in 0..ROUNDS {
                        // Without AES rounds, all `ROUNDS` registers are free for products.
                        if aes == 0 {
                            x[r] = b.mul_low(x[r], key);
                        } else {
                            y[r % PRODUCTS] = b.mul_low(y[r % PRODUCTS], key);
                        }
                    }
                }
            }
        }
        consume(b, &x);
        consume(b, &y);
        times * (ROUNDS * B::BLOCKS) as u64
    }
}

struct Sums {
    times: u64,
}

impl Kernel for Sums {
    type Output = u64;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> u64 {
        let mut x = [b.splat(&black_box([3; BLOCK])); SPREAD];
        for _ in 0..self.times {
            // The compiler would combine repeated additions of the same register.
            for r in 0..SPREAD {
                x[r] = b.add64(x[r], x[(r + 1) % SPREAD]);
            }
        }
        consume(b, &x);
        self.times * SPREAD as u64
    }
}

/// 4 KiB, aligned to cache lines.
#[repr(align(64))]
struct Near([[u8; BLOCK]; 256]);

struct Accesses {
    access: Access,
    times: u64,
}

impl Kernel for Accesses {
    type Output = u64;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> u64 {
        let mut near = Near([[3; BLOCK]; 256]);
        let mut x = [b.splat(&black_box([5; BLOCK])); ROW];
        match self.access {
            Access::Load => {
                for _ in 0..self.times {
                    for row in black_box(&near).0.chunks_exact(ROW * B::BLOCKS) {
                        for r in 0..ROW {
                            x[r] = b.xor(x[r], b.load(&row[r * B::BLOCKS..]));
                        }
                    }
                }
            }
            Access::Store => {
                for _ in 0..self.times {
                    for row in black_box(&mut near).0.chunks_exact_mut(ROW * B::BLOCKS) {
                        for r in 0..ROW {
                            b.store(x[r], &mut row[r * B::BLOCKS..]);
                        }
                    }
                }
            }
        }
        consume(b, &x);
        self.times * (near.0.len() / B::BLOCKS) as u64
    }
}

struct Products<const R: usize> {
    method: Multiply,
    times: u64,
}

impl<const R: usize> Kernel for Products<R> {
    type Output = u64;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> u64 {
        let h = b.splat(&black_box([3; BLOCK]));
        let mut x = [h; R];
        for _ in 0..self.times {
            for r in 0..R {
                x[r] = match self.method {
                    Multiply::Classical => gf128::multiply_classical(b, x[r], h),
                    Multiply::Haswell => gf128::multiply(b, x[r], h),
                };
            }
        }
        consume(b, &x);
        self.times * (R * B::BLOCKS) as u64
    }
}

struct Doublings<const R: usize> {
    method: Double,
    times: u64,
}

impl<const R: usize> Kernel for Doublings<R> {
    type Output = u64;

    #[inline(always)]
    fn run<B: Probe>(self, b: B) -> u64 {
        // Different blocks, so that the branches of one register do not predict those of the next.
        let mut x: [B::V; R] = core::array::from_fn(|r| b.splat(&black_box([3 + 40 * r as u8; BLOCK])));
        match self.method {
            Double::Extraction => self.repeat(&mut x, |v| gf128::double_branching(b, v, TopBit::Extract)),
            Double::Test => self.repeat(&mut x, |v| gf128::double_branching(b, v, TopBit::Test)),
            Double::Mask => self.repeat(&mut x, |v| gf128::double_branching(b, v, TopBit::Collect)),
            Double::Compare => self.repeat(&mut x, |v| gf128::double_branching(b, v, TopBit::Compare)),
            Double::Spread => self.repeat(&mut x, |v| gf128::double(b, v)),
        }
        consume(b, &x);
        let blocks = if self.method.is_constant_time() { B::BLOCKS } else { 1 };
        self.times * (R * blocks) as u64
    }
}

impl<const R: usize> Doublings<R> {
    #[inline(always)]
    fn repeat<V: Copy>(&self, x: &mut [V; R], double: impl Fn(V) -> V) {
        for _ in 0..self.times {
            for r in 0..R {
                x[r] = double(x[r]);
            }
        }
    }
}

struct Chain<const R: usize> {
    mode: Chained,
    method: Multiply,
    pairs: u64,
    messages: u64,
}

impl<const R: usize> Kernel for Chain<R> {
    type Output = u64;

    #[inline(always)]
    fn run<B: Probe>(self, b: B) -> u64 {
        let key = b.splat(&black_box([3; BLOCK]));
        let mut tags = [key; R];
        for _ in 0..self.messages {
            match self.mode {
                Chained::McoeG => self.mcoe_g(b, key, &mut tags),
                Chained::Cobra => self.cobra(b, key, &mut tags),
            }
        }
        consume(b, &tags);
        2 * self.messages * self.pairs * (R * B::BLOCKS) as u64
    }
}

impl<const R: usize> Chain<R> {
    /// Processes one message: `τ = E(N), U = τ ⊕ N`, the blocks, then `T = E(τ ⊕ h) ⊕ h` where `h = U K2`. The nonce
    /// is the previous tag.
    #[inline(always)]
    fn mcoe_g<B: Probe>(&self, b: B, key: B::V, nonces: &mut [B::V; R]) {
        let mut tau = *nonces;
        ten_rounds(b, key, &mut tau);
        let mut u = sum(b, tau, *nonces);
        for _ in 0..2 * self.pairs {
            self.mcoe_g_block(b, key, &mut u);
        }
        let h = self.products(b, u, key);
        let mut tags = sum(b, tau, h);
        ten_rounds(b, key, &mut tags);
        *nonces = sum(b, tags, h);
    }

    /// Processes one message: `V = L² ⊕ N L`, the pairs of blocks, then `T = E(E(Σ) ⊕ N)` where `Σ` is the XOR of the
    /// ciphers' outputs for all pairs.
    #[inline(always)]
    fn cobra<B: Probe>(&self, b: B, key: B::V, nonces: &mut [B::V; R]) {
        let mut v = self.products(b, *nonces, key);
        let mut checksum = [key; R];
        for _ in 0..self.pairs {
            self.cobra_pair(b, key, &mut v, &mut checksum);
        }
        ten_rounds(b, key, &mut checksum);
        let mut tags = sum(b, checksum, *nonces);
        ten_rounds(b, key, &mut tags);
        *nonces = tags;
    }

    /// `h = U K2, C = E(M ⊕ h) ⊕ h, U = M ⊕ C`
    #[inline(always)]
    fn mcoe_g_block<B: Probe>(&self, b: B, key: B::V, u: &mut [B::V; R]) {
        let h = self.products(b, *u, key);
        let mut c = sum(b, h, [key; R]);
        ten_rounds(b, key, &mut c);
        *u = sum(b, sum(b, c, h), [key; R]);
    }

    /// `X = M ⊕ V, Y = M' ⊕ X L, ρ = E(Y), σ = E(X ⊕ ρ), V = Y L`
    #[inline(always)]
    fn cobra_pair<B: Probe>(&self, b: B, key: B::V, v: &mut [B::V; R], checksum: &mut [B::V; R]) {
        let x = sum(b, *v, [key; R]);
        let y = sum(b, self.products(b, x, key), [key; R]);
        let mut rho = y;
        ten_rounds(b, key, &mut rho);
        let mut sigma = sum(b, x, rho);
        ten_rounds(b, key, &mut sigma);
        *checksum = sum(b, *checksum, sum(b, rho, sigma));
        *v = self.products(b, y, key);
    }

    #[inline(always)]
    fn products<B: Probe>(&self, b: B, x: [B::V; R], h: B::V) -> [B::V; R] {
        let mut x = x;
        for r in 0..R {
            x[r] = match self.method {
                Multiply::Classical => gf128::multiply_classical(b, x[r], h),
                Multiply::Haswell => gf128::multiply(b, x[r], h),
            };
        }
        x
    }
}

#[inline(always)]
fn sum<B: Isa, const R: usize>(b: B, x: [B::V; R], y: [B::V; R]) -> [B::V; R] {
    let mut x = x;
    for r in 0..R {
        x[r] = b.xor(x[r], y[r]);
    }
    x
}

/// Computes ten AES rounds, the number of AES-128, all with the same round key.
#[inline(always)]
fn ten_rounds<B: Probe, const R: usize>(b: B, key: B::V, x: &mut [B::V; R]) {
    for _ in 0..10 {
        for r in 0..R {
            x[r] = b.aes_own_round(x[r], key);
        }
    }
}

/// Keeps the compiler from removing the computation of `x`.
#[inline(always)]
fn consume<B: Isa, const R: usize>(b: B, x: &[B::V; R]) {
    let mut all = b.zero();
    for r in 0..R {
        all = b.xor(all, x[r]);
    }
    black_box(b.first(b.fold(all)));
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Methods(Double, [u8; BLOCK]);

    impl Kernel for Methods {
        type Output = [u8; BLOCK];

        #[inline(always)]
        fn run<B: Probe>(self, b: B) -> [u8; BLOCK] {
            let v = b.one(&self.1);
            b.first(match self.0 {
                Double::Extraction => gf128::double_branching(b, v, TopBit::Extract),
                Double::Test => gf128::double_branching(b, v, TopBit::Test),
                Double::Mask => gf128::double_branching(b, v, TopBit::Collect),
                Double::Compare => gf128::double_branching(b, v, TopBit::Compare),
                Double::Spread => b.reverse(gf128::double(b, b.reverse(v))),
            })
        }
    }

    struct Assist([u8; BLOCK]);

    impl Kernel for Assist {
        type Output = [u8; BLOCK];

        #[inline(always)]
        fn run<B: Probe>(self, b: B) -> [u8; BLOCK] {
            b.first(b.aes_key_assist(b.one(&self.0)))
        }
    }

    /// The key of FIPS 197, appendix A.1. For its last word, `SubWord(RotWord(w)) ⊕ Rcon` is `8b84eb01`.
    #[test]
    fn aes_key_assist_returns_the_words_for_the_next_round_key() {
        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
        for backend in Backend::available() {
            let [.., s0, s1, s2, s3, r0, r1, r2, r3] = backend.run(Assist(key));
            assert_eq!([r0, r1, r2, r3], [0x8b, 0x84, 0xeb, 0x01], "{backend:?}");
            assert_eq!([s0, s1, s2, s3], [0x01, 0x8a, 0x84, 0xeb], "{backend:?}");
        }
    }

    #[test]
    fn all_doubling_methods_agree() {
        let mut x = 0x8000_0000_0000_0001_7fff_ffff_ffff_fffe_u128;
        for _ in 0..300 {
            let expected = (x << 1) ^ if x >> 127 == 1 { 0x87 } else { 0 };
            for backend in Backend::available() {
                for method in Double::ALL {
                    let doubled = backend.run(Methods(method, x.to_le_bytes()));
                    assert_eq!(doubled, expected.to_le_bytes(), "{backend:?} {method:?} {x:x}");
                }
            }
            x = expected;
        }
    }
}
