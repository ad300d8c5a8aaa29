//! What a study measures a machine with: single instructions and mixes of them, on the registers of a backend.
//!
//! The functions only run the instructions; timing is the caller's. Together they give the bound of a mode: no
//! implementation can be faster than the mix of instructions that its definition asks for.
//!
//! ```
//! use sealcomb::{Backend, probe};
//!
//! let start = std::time::Instant::now();
//! let blocks = probe::mix(Backend::best(), 10, 0, 10_000);
//! println!("AES-128 costs at least {:?} for {blocks} blocks", start.elapsed());
//! ```

use core::hint::black_box;

use crate::backend::{BLOCK, Backend, Isa, Kernel};
use crate::primitives::gf128;

/// Registers that independent operations are spread over: more than latency times throughput on any known CPU, and
/// few enough for 16 registers.
const SPREAD: usize = 12;

/// Registers of a mix: with as few as eight, every round would have to come through in exactly its latency.
const MIX: usize = 12;

/// An instruction on a register of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A round of AES.
    AesRound,
    /// A round of the inverse cipher.
    AesInvRound,
    /// A carry-less product of 64-bit halves.
    Clmul,
    /// A byte shuffle.
    Shuffle,
}

/// A way to multiply in GF(2^128).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiply {
    /// Karatsuba's three carry-less products and reduction by shifts.
    Classical,
    /// Four carry-less products and reduction by two more.
    Haswell,
}

/// Runs an instruction `times` times, each on the result of the one before.
pub fn latency(backend: Backend, op: Op, times: u64) {
    backend.run(Repeat::<1> { op, times });
}

/// Runs an instruction `times` times on each of several registers. Returns on how many blocks of 16 bytes.
pub fn throughput(backend: Backend, op: Op, times: u64) -> u64 {
    backend.run(Repeat::<SPREAD> { op, times })
}

/// Runs, `times` times, `aes` rounds and `clmul` carry-less products on each of several registers: the instruction mix
/// of a mode that costs as much a block. Returns for how many blocks.
pub fn mix(backend: Backend, aes: u32, clmul: u32, times: u64) -> u64 {
    backend.run(Mix { aes, clmul, times })
}

/// Multiplies `times` times in GF(2^128): each product by the one before, or independent ones in several registers.
/// Returns how many products those are.
pub fn multiply(backend: Backend, method: Multiply, chained: bool, times: u64) -> u64 {
    if chained {
        backend.run(Products::<1> { method, times })
    } else {
        backend.run(Products::<4> { method, times })
    }
}

/// Doubles `times` times in GF(2^128), in several registers. Returns how many blocks were doubled.
pub fn double(backend: Backend, times: u64) -> u64 {
    backend.run(Doublings { times })
}

struct Repeat<const R: usize> {
    op: Op,
    times: u64,
}

impl<const R: usize> Kernel for Repeat<R> {
    type Output = u64;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> u64 {
        let order = black_box([3; BLOCK]);
        let key = b.splat(&order);
        let mut x = [key; R];
        for _ in 0..self.times {
            for r in 0..R {
                x[r] = match self.op {
                    Op::AesRound => b.aes_round(x[r], key),
                    Op::AesInvRound => b.aes_inv_round(x[r], key),
                    Op::Clmul => b.mul_low(x[r], key),
                    Op::Shuffle => b.shuffle(x[r], &order),
                };
            }
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
    fn run<B: Isa>(self, b: B) -> u64 {
        let key = b.splat(&black_box([3; BLOCK]));
        let mut x = [key; MIX];
        for _ in 0..self.times {
            for _ in 0..self.aes {
                for r in 0..MIX {
                    x[r] = b.aes_round(x[r], key);
                }
            }
            for _ in 0..self.clmul {
                for r in 0..MIX {
                    x[r] = b.mul_low(x[r], key);
                }
            }
        }
        consume(b, &x);
        self.times * (MIX * B::BLOCKS) as u64
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

struct Doublings {
    times: u64,
}

impl Kernel for Doublings {
    type Output = u64;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> u64 {
        let mut x = [b.splat(&black_box([3; BLOCK])); 4];
        for _ in 0..self.times {
            for r in 0..4 {
                x[r] = gf128::double(b, x[r]);
            }
        }
        consume(b, &x);
        self.times * (4 * B::BLOCKS) as u64
    }
}

/// Makes the compiler believe that the results are used.
#[inline(always)]
fn consume<B: Isa, const R: usize>(b: B, x: &[B::V; R]) {
    let mut sum = b.zero();
    for r in 0..R {
        sum = b.xor(sum, x[r]);
    }
    black_box(b.first(b.fold(sum)));
}
