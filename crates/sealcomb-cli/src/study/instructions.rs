//! What the CPU's instructions cost, and from that the bound of each mode.

use super::bench;
use super::bench::Bench;
use super::plan::MAIN_LENGTH;
use super::results::Direction;
use super::results::{FieldOperation, Instruction, MultiplicationChain};
use super::workload::Workload;
use sealcomb::probe::{self, Chained, Double, Multiply, Op};
use sealcomb::{Algorithm, Backend, Cipher, Schedule, Work};
use std::collections::HashMap;

/// Operations in one call of a probe: enough that starting it costs nothing.
pub(crate) const TIMES: u64 = 2000;

/// Operations in a chain whose latency is measured: so many that what the CPU begins of the next chain before this one
/// has ended does not count.
const CHAINED: u64 = 40_000;

/// Carry-less products in one multiplication in GF(2^128) by the classical method, the fewest known.
const PRODUCTS_PER_MULTIPLICATION: u32 = 3;

/// Bytes of a block.
const BLOCK: f64 = 16.0;

/// Bytes of two blocks.
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

/// No CPU has it for more than one block.
const KEY_ASSIST: &str = "aeskeygenassist";

/// Numbers that [`instructions`] times on a backend: latency and throughput of each.
pub(crate) const NUMBERS: usize = 2 * OPERATIONS.len();

/// Numbers that [`field_operations`] and [`multiplication_chains`] time on a backend.
pub(crate) fn field_numbers(chain_lengths: &[usize]) -> usize {
    let of_operations = 2 * (METHODS.len() + DOUBLINGS.len());
    let of_chains = 2 * (1 + chain_lengths.len()) * CHAINS.len() * METHODS.len();
    of_operations + of_chains
}

/// Both ways to multiply, with the papers' names.
const METHODS: [(Multiply, &str); 2] = [(Multiply::Classical, "classical"), (Multiply::Haswell, "Haswell")];

/// The modes whose chains of multiplications the papers measure with either method.
const CHAINS: [(Chained, &str); 2] = [(Chained::McoeG, "McOE-G"), (Chained::Cobra, "COBRA")];

/// Latency and throughput of the instructions that modes are made of.
pub(crate) fn instructions(bench: &mut Bench, backend: Backend) -> Vec<Instruction> {
    OPERATIONS
        .into_iter()
        .filter(|(_, operation)| *operation != KEY_ASSIST || backend.blocks() == 1)
        .map(|(op, operation)| {
            let latency = bench.clock.measure(bench.samples, || probe::latency(backend, op, CHAINED));
            let blocks_per_cycle = rate(bench, || probe::throughput(backend, op, TIMES));
            Instruction {
                backend: backend.name(),
                operation,
                latency: latency.median / CHAINED as f64,
                inverse_throughput: backend.blocks() as f64 / blocks_per_cycle,
                blocks_per_cycle,
            }
        })
        .collect()
}

/// Ways to double, in the papers' order.
const DOUBLINGS: [(Double, &str); 5] = [
    (Double::Extraction, "doubling, extraction"),
    (Double::Test, "doubling, test"),
    (Double::Mask, "doubling, mask"),
    (Double::Compare, "doubling, compare"),
    (Double::Spread, "doubling, spread carry"),
];

/// Multiplication by both methods of the papers, and doubling by theirs and ours.
pub(crate) fn field_operations(bench: &mut Bench, backend: Backend) -> Vec<FieldOperation> {
    let registers = backend.blocks() as f64;
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
        // What branches works on one block at a time.
        if method.is_constant_time() || backend.blocks() == 1 {
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

/// [`CHAINS`] over messages of these lengths.
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
                let lanes = if batched { 1.0 } else { backend.blocks() as f64 };
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

/// How many operations a cycle, of work that returns how many it did.
pub(crate) fn rate(bench: &mut Bench, mut work: impl FnMut() -> u64) -> f64 {
    let mut operations = 0;
    let cycles = bench.clock.measure(bench.samples, || operations = work());
    operations as f64 / cycles.median
}

/// The bounds found so far, by backend, rounds of a call of the block cipher, and the work of a block.
#[derive(Default)]
pub(crate) struct Bounds(HashMap<(&'static str, u32, Work), f64>);

impl Bounds {
    /// Cycles per byte that this backend cannot go below: what one block of the algorithm asks for, measured where
    /// nothing depends on anything. None for a cipher that no CPU has instructions for: what its rounds cost is a matter
    /// of how they are written.
    pub(crate) fn cpb(&mut self, bench: &mut Bench, algorithm: &Algorithm, backend: Backend) -> Option<f64> {
        if algorithm.cipher != Cipher::Aes {
            return None;
        }
        let key = (backend.name(), algorithm.rounds, algorithm.work);
        Some(*self.0.entry(key).or_insert_with(|| {
            if has_instructions(backend) {
                bound_of_instructions(bench, algorithm, backend)
            } else {
                bound_of_functions(bench, algorithm, backend)
            }
        }))
    }
}

/// Whether a backend runs on instructions made for AES.
pub(crate) fn has_instructions(backend: Backend) -> bool {
    !Backend::needs(backend.name()).is_empty()
}

/// The AES rounds and carry-less products of a block, mixed.
fn bound_of_instructions(bench: &mut Bench, algorithm: &Algorithm, backend: Backend) -> f64 {
    let rounds = algorithm.work.calls * algorithm.rounds + algorithm.work.rounds;
    let products = algorithm.work.multiplications * PRODUCTS_PER_MULTIPLICATION;
    1.0 / BLOCK / rate(bench, || probe::mix(backend, rounds, products, TIMES))
}

/// In software a block is not made of rounds: whole blocks are encrypted (as ECB does) and multiplied.
fn bound_of_functions(bench: &mut Bench, algorithm: &Algorithm, backend: Backend) -> f64 {
    let ecb =
        Algorithm::by_id(&format!("aes{}-ecb", 8 * algorithm.cipher_key_bytes)).expect("the catalog has ECB");
    let keys = bench::keys(ecb, backend, 1);
    let lengths = Workload::fixed(MAIN_LENGTH).batches(ecb);
    let block = bench.time(&keys, Direction::Seal, Schedule::Auto, &lengths).median;
    let multiplication = [Multiply::Classical, Multiply::Haswell]
        .map(|method| 1.0 / BLOCK / rate(bench, || probe::multiply(backend, method, false, TIMES)));
    let calls =
        f64::from(algorithm.work.calls) + f64::from(algorithm.work.rounds) / f64::from(algorithm.rounds);
    calls * block + f64::from(algorithm.work.multiplications) * multiplication[0].min(multiplication[1])
}
