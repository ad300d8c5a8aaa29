//! What the CPU's instructions cost, and from that the bound of each mode.

use super::bench::Bench;
use super::results::{FieldOperation, Instruction};
use sealcomb::probe::{self, Multiply, Op};
use sealcomb::{Algorithm, Backend};
use std::collections::HashMap;

/// Operations in one call of a probe: enough that starting it costs nothing.
const TIMES: u64 = 2000;

/// Carry-less products in one multiplication in GF(2^128) by the classical method, the fewest known.
const PRODUCTS_PER_MULTIPLICATION: u32 = 3;

const OPERATIONS: [(Op, &str); 3] = [
    (Op::AesRound, "aesenc"),
    (Op::AesInvRound, "aesdec"),
    (Op::Clmul, "pclmulqdq"),
];

/// Latency and throughput of the instructions that modes are made of.
pub(crate) fn instructions(bench: &mut Bench, backend: Backend) -> Vec<Instruction> {
    OPERATIONS
        .into_iter()
        .map(|(op, operation)| {
            let latency = bench
                .clock
                .measure(bench.samples, || probe::latency(backend, op, TIMES));
            let blocks_per_cycle = rate(bench, || probe::throughput(backend, op, TIMES));
            Instruction {
                backend: backend.name(),
                operation,
                latency: latency.median / TIMES as f64,
                inverse_throughput: backend.blocks() as f64 / blocks_per_cycle,
                blocks_per_cycle,
            }
        })
        .collect()
}

/// Multiplication by both methods of the paper, and doubling.
pub(crate) fn field_operations(bench: &mut Bench, backend: Backend) -> Vec<FieldOperation> {
    let mut multiplication = |operation, method: fn() -> Multiply| FieldOperation {
        backend: backend.name(),
        operation,
        chained: Some(
            backend.blocks() as f64
                / rate(bench, || probe::multiply(backend, method(), true, TIMES)),
        ),
        independent: 1.0 / rate(bench, || probe::multiply(backend, method(), false, TIMES)),
    };
    let mut operations = vec![
        multiplication("multiplication, classical", || Multiply::Classical),
        multiplication("multiplication, Haswell", || Multiply::Haswell),
    ];
    operations.push(FieldOperation {
        backend: backend.name(),
        operation: "doubling",
        chained: None,
        independent: 1.0 / rate(bench, || probe::double(backend, TIMES)),
    });
    operations
}

/// How many operations a cycle, of work that returns how many it did.
fn rate(bench: &mut Bench, mut work: impl FnMut() -> u64) -> f64 {
    let mut operations = 0;
    let cycles = bench.clock.measure(bench.samples, || operations = work());
    operations as f64 / cycles.median
}

/// The bounds found so far, by backend, AES rounds and products of a block.
#[derive(Default)]
pub(crate) struct Bounds(HashMap<(&'static str, u32, u32), f64>);

impl Bounds {
    /// Cycles per byte that this backend cannot go below: the instructions of one block of the algorithm, measured
    /// where nothing depends on anything.
    pub(crate) fn cpb(
        &mut self,
        bench: &mut Bench,
        algorithm: &Algorithm,
        backend: Backend,
    ) -> f64 {
        let rounds = algorithm.work.aes_calls * algorithm.rounds;
        let products = algorithm.work.multiplications * PRODUCTS_PER_MULTIPLICATION;
        *self
            .0
            .entry((backend.name(), rounds, products))
            .or_insert_with(|| {
                1.0 / 16.0 / rate(bench, || probe::mix(backend, rounds, products, TIMES))
            })
    }
}
