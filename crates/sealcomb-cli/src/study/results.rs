//! What a study found, as `--json` writes it.

use super::workload::Lengths;
use serde::Serialize;

/// All of a study.
#[derive(Serialize, Debug)]
pub(crate) struct Study {
    pub(crate) schema: &'static str,
    pub(crate) machine: Machine,
    pub(crate) conditions: Conditions,
    pub(crate) results: Vec<Measurement>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) field: Vec<FieldOperation>,
    pub(crate) chains: Vec<MultiplicationChain>,
    pub(crate) heat: Vec<HeatMap>,
}

/// The CPU and what it can do at most.
#[derive(Serialize, Debug)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) backend: &'static str,
    /// Where the cycles come from: `perf` or `calibrated`.
    pub(crate) cycles: &'static str,
    /// AES rounds of one block that can start in a cycle.
    pub(crate) aes_rounds_per_cycle: f64,
    /// Carry-less 64-bit products that can start in a cycle.
    pub(crate) clmul_per_cycle: f64,
}

/// How it was measured.
#[derive(Serialize, Debug)]
pub(crate) struct Conditions {
    pub(crate) version: &'static str,
    pub(crate) quick: bool,
    pub(crate) samples: usize,
    pub(crate) aad_bytes: usize,
    /// The capture whose packet lengths the results named `trace` have.
    pub(crate) trace: Option<String>,
}

/// One algorithm measured one way.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct Measurement {
    pub(crate) algorithm: &'static str,
    pub(crate) direction: Direction,
    /// A backend of sealcomb, or `peer:` and another library with its version.
    pub(crate) backend: String,
    pub(crate) schedule: ScheduleName,
    pub(crate) lengths: Lengths,
    pub(crate) batch: usize,
    /// Messages in flight.
    pub(crate) lanes: usize,
    pub(crate) keys: usize,
    pub(crate) cpb: f64,
    pub(crate) cpb_q1: f64,
    pub(crate) cpb_q3: f64,
    /// None for a cipher without instructions of its own.
    pub(crate) bound_cpb: Option<f64>,
    pub(crate) fraction_of_bound: Option<f64>,
}

/// Which way messages go.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    Seal,
    Open,
}

/// How a batch was scheduled.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScheduleName {
    Auto,
    Single,
    Comb,
    Refill,
    Blocks,
}

/// What batches of one algorithm cost on this study's backend: so much a message and so much a byte, neither below zero.
#[derive(Serialize, Debug)]
pub(crate) struct Cost {
    pub(crate) algorithm: &'static str,
    pub(crate) direction: Direction,
    pub(crate) schedule: ScheduleName,
    pub(crate) cycles_per_message: f64,
    pub(crate) cycles_per_byte: f64,
    /// The part of its cost by which the length that fits worst differs from that.
    pub(crate) off_by: f64,
}

/// An instruction of a backend.
#[derive(Serialize, Debug)]
pub(crate) struct Instruction {
    pub(crate) backend: &'static str,
    pub(crate) operation: &'static str,
    /// Cycles from operand to result.
    pub(crate) latency: f64,
    /// Cycles from one instruction to the next that does not depend on it.
    pub(crate) inverse_throughput: f64,
    /// 16-byte blocks (64-bit products) that are begun in a cycle.
    pub(crate) blocks_per_cycle: f64,
}

/// An operation in GF(2^128), in cycles for one register.
#[derive(Serialize, Debug)]
pub(crate) struct FieldOperation {
    pub(crate) backend: &'static str,
    pub(crate) operation: &'static str,
    /// Whether it takes the same time for every operand.
    pub(crate) constant_time: bool,
    /// When each operation needs the result of the one before.
    pub(crate) chained: f64,
    /// When they are independent, per element.
    pub(crate) independent: f64,
}

/// The bulk of a mode with a chain of multiplications, by one method, in cycles per byte.
#[derive(Serialize, Debug)]
pub(crate) struct MultiplicationChain {
    pub(crate) backend: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) method: &'static str,
    /// In one register.
    pub(crate) single: f64,
    /// In eight registers side by side.
    pub(crate) batched: f64,
}

/// What sealing costs by the number of messages that are handed over at once, and by their length.
#[derive(Serialize, Debug)]
pub(crate) struct HeatMap {
    pub(crate) algorithm: &'static str,
    pub(crate) backend: &'static str,
    pub(crate) messages: Vec<usize>,
    pub(crate) lengths: Vec<usize>,
    /// Cycles per byte, a row for each number of messages.
    pub(crate) cpb: Vec<Vec<f64>>,
}

impl Study {
    /// The result of one key on this study's backend, if it was measured.
    pub(crate) fn find(
        &self,
        algorithm: &str,
        direction: Direction,
        schedule: ScheduleName,
        lengths: Lengths,
    ) -> Option<&Measurement> {
        self.on(self.machine.backend).find(|m| {
            (m.algorithm, m.direction, m.schedule, m.lengths, m.keys)
                == (algorithm, direction, schedule, lengths, 1)
        })
    }

    /// The results on one backend or peer.
    pub(crate) fn on(&self, backend: &str) -> impl Iterator<Item = &Measurement> {
        self.results.iter().filter(move |m| m.backend == backend)
    }

    /// The algorithms that were measured, in the order of the catalog.
    pub(crate) fn algorithms(&self) -> Vec<&'static str> {
        let mut ids: Vec<&str> = Vec::new();
        for measurement in &self.results {
            if !ids.contains(&measurement.algorithm) {
                ids.push(measurement.algorithm);
            }
        }
        ids
    }
}
