//! Measures the CPU's instructions and derives the bound of each mode from them.

use super::bench;
use super::bench::Bench;
use super::plan::MAIN_LENGTH;
use super::results::Direction;
use super::results::{FieldOperation, Instruction, MultiplicationChain};
use super::workload::Workload;
use sealcomb::probe::{self, Chained, Double, Multiply, Op};
use sealcomb::study::{self, Schedule, Work};
use sealcomb::{Algorithm, Backend, Cipher};
use std::collections::HashMap;

/// Operations in one call of a probe, enough to make its start negligible.
pub(crate) const TIMES: u64 = 2000;

/// Operations in a chain whose latency is measured, enough to make the overlap with the following chain negligible.
const CHAINED: u64 = 40_000;

/// Carry-less products per multiplication in GF(2^128) by the classical method, the minimum known.
const PRODUCTS_PER_MULTIPLICATION: u32 = 3;

/// Size of a block in bytes.
const BLOCK: f64 = 16.0;

/// Size of two blocks in bytes.
const PAIR: usize = 32;

const OPERATIONS: [(Op, &str); 8] = [
    (Op::AesRound, "aesenc"),
    (Op::AesInvRound, "aesdec"),
    (Op::AesLast, "aesenclast"),
    (Op::AesInvLast, "aesdeclast"),
    (Op::AesInvMix, "aesimc"),
    (Op::AesKeyAssist, KEY_ASSIST),
    (Op::Clmul, "pclmulqdq"),
    (Op::Shuffle, "pshufb"),
];

/// Operation that no CPU has for more than one block.
const KEY_ASSIST: &str = "aeskeygenassist";

/// Number of figures that [`instructions`] times on a backend: latency and throughput of each operation.
pub(crate) const NUMBERS: usize = 2 * OPERATIONS.len();

/// Returns the number of figures that [`field_operations`] and [`multiplication_chains`] time on a backend.
pub(crate) fn field_numbers(chain_lengths: &[usize]) -> usize {
    let of_operations = 2 * (METHODS.len() + DOUBLINGS.len());
    let of_chains = 2 * (1 + chain_lengths.len()) * CHAINS.len() * METHODS.len();
    of_operations + of_chains
}

/// Both multiplication methods, with the papers' names.
const METHODS: [(Multiply, &str); 2] = [(Multiply::Classical, "classical"), (Multiply::Haswell, "Haswell")];

/// The modes whose chains of multiplications the papers measure with each method.
const CHAINS: [(Chained, &str); 2] = [(Chained::McoeG, "McOE-G"), (Chained::Cobra, "COBRA")];

/// Measures latency and throughput of the instructions that modes use.
pub(crate) fn instructions(bench: &mut Bench, backend: Backend) -> Vec<Instruction> {
    OPERATIONS
        .into_iter()
        .filter(|(_, operation)| *operation != KEY_ASSIST || study::blocks(backend) == 1)
        .map(|(op, operation)| {
            let latency = bench.clock.measure(bench.samples, || probe::latency(backend, op, CHAINED));
            let blocks_per_cycle = rate(bench, || probe::throughput(backend, op, TIMES));
            Instruction {
                backend: backend.name(),
                operation,
                latency: latency.median / CHAINED as f64,
                inverse_throughput: study::blocks(backend) as f64 / blocks_per_cycle,
                blocks_per_cycle,
            }
        })
        .collect()
}

/// Doubling methods, in the papers' order.
const DOUBLINGS: [(Double, &str); 5] = [
    (Double::Extraction, "doubling, extraction"),
    (Double::Test, "doubling, test"),
    (Double::Mask, "doubling, mask"),
    (Double::Compare, "doubling, compare"),
    (Double::Spread, "doubling, spread carry"),
];

/// Measures multiplication by the papers' two methods, and doubling by theirs and ours.
pub(crate) fn field_operations(bench: &mut Bench, backend: Backend) -> Vec<FieldOperation> {
    let registers = study::blocks(backend) as f64;
    let mut operations = Vec::new();
    for (method, operation) in
        [(Multiply::Classical, "multiplication, classical"), (Multiply::Haswell, "multiplication, Haswell")]
    {
        operations.push(FieldOperation {
            backend: backend.name(),
            operation,
            constant_time: true,
            chained: registers / rate(bench, || probe::multiply(backend, method, true, TIMES)),
            independent: 1.0 / rate(bench, || probe::multiply(backend, method, false, TIMES)),
        });
    }
    for (method, operation) in DOUBLINGS {
        // Methods that branch process one block at a time.
        if method.is_constant_time() || study::blocks(backend) == 1 {
            operations.push(FieldOperation {
                backend: backend.name(),
                operation,
                constant_time: method.is_constant_time(),
                chained: registers / rate(bench, || probe::double(backend, method, true, CHAINED)),
                independent: 1.0 / rate(bench, || probe::double(backend, method, false, TIMES)),
            });
        }
    }
    operations
}

/// Measures [`CHAINS`] over messages of these lengths in bytes.
pub(crate) fn multiplication_chains(
    bench: &mut Bench,
    backend: Backend,
    lengths: &[usize],
) -> Vec<MultiplicationChain> {
    let mut chains = Vec::new();
    for (chained, mode) in CHAINS {
        for (multiply, method) in METHODS {
            let mut cpb = |batched, pairs, messages| {
                let run = || probe::chain(backend, chained, multiply, batched, pairs, messages);
                let lanes = if batched { 1.0 } else { study::blocks(backend) as f64 };
                lanes / BLOCK / rate(bench, run)
            };
            let mut by_length = |batched| -> Vec<f64> {
                let pairs = lengths.iter().map(|bytes| (bytes / PAIR) as u64);
                pairs.map(|pairs| cpb(batched, pairs, TIMES.div_ceil(pairs))).collect()
            };
            let (single_by_length, batched_by_length) = (by_length(false), by_length(true));
            chains.push(MultiplicationChain {
                backend: backend.name(),
                mode,
                method,
                single: cpb(false, TIMES, 1),
                batched: cpb(true, TIMES, 1),
                lengths: lengths.to_vec(),
                single_by_length,
                batched_by_length,
            });
        }
    }
    chains
}

/// Measures operations per cycle of `work`, which returns the number of operations that it executed.
pub(crate) fn rate(bench: &mut Bench, mut work: impl FnMut() -> u64) -> f64 {
    let mut operations = 0;
    let cycles = bench.clock.measure(bench.samples, || operations = work());
    operations as f64 / cycles.median
}

/// Bounds measured so far, by backend, rounds per cipher call, and work per block.
#[derive(Default)]
pub(crate) struct Bounds(HashMap<(&'static str, u32, Work), f64>);

impl Bounds {
    /// Returns the minimum cycles per byte on this backend: the cost of one block's instructions if all are
    /// independent. Returns `None` for ciphers without CPU instructions, because the cost of their rounds depends on
    /// the implementation.
    pub(crate) fn cpb(&mut self, bench: &mut Bench, algorithm: Algorithm, backend: Backend) -> Option<f64> {
        if algorithm.cipher() != Cipher::Aes {
            return None;
        }
        let key = (backend.name(), algorithm.rounds(), algorithm.work());
        Some(*self.0.entry(key).or_insert_with(|| {
            if has_instructions(backend) {
                bound_of_instructions(bench, algorithm, backend)
            } else {
                bound_of_functions(bench, algorithm, backend)
            }
        }))
    }
}

/// Returns whether a backend uses AES instructions.
pub(crate) fn has_instructions(backend: Backend) -> bool {
    !study::needs(backend.name()).is_empty()
}

/// Measures the AES rounds and carry-less products of a block, interleaved.
fn bound_of_instructions(bench: &mut Bench, algorithm: Algorithm, backend: Backend) -> f64 {
    let rounds =
        algorithm.work().calls * algorithm.rounds() + algorithm.work().rounds - algorithm.work().cached;
    let products = algorithm.work().multiplications * PRODUCTS_PER_MULTIPLICATION;
    1.0 / BLOCK / rate(bench, || probe::mix(backend, rounds, products, TIMES))
}

/// Measures whole blocks: software AES has no separate rounds, so blocks are encrypted in ECB mode and multiplied.
fn bound_of_functions(bench: &mut Bench, algorithm: Algorithm, backend: Backend) -> f64 {
    let ecb =
        study::by_id(&format!("aes{}-ecb", 8 * algorithm.cipher_key_bytes())).expect("the catalog has ECB");
    let keys = bench::keys(ecb, backend, 1);
    let lengths = Workload::fixed(MAIN_LENGTH).batches(ecb);
    let block = bench.time(&keys, Direction::Seal, Schedule::Auto, &lengths).median;
    let multiplication = [Multiply::Classical, Multiply::Haswell]
        .map(|method| 1.0 / BLOCK / rate(bench, || probe::multiply(backend, method, false, TIMES)));
    let calls = f64::from(algorithm.work().calls)
        + f64::from(algorithm.work().rounds) / f64::from(algorithm.rounds());
    calls * block + f64::from(algorithm.work().multiplications) * multiplication[0].min(multiplication[1])
}
