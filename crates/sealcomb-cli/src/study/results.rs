//! What a study found, as `--json` writes it.

use super::units::{Rate, Unit};
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
    pub(crate) keys: Vec<KeyCost>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) field: Vec<FieldOperation>,
    pub(crate) chains: Vec<MultiplicationChain>,
    /// Over batches.
    pub(crate) heat: Vec<HeatMap>,
    /// Over the comb's degrees of parallelism.
    pub(crate) comb_heat: Vec<HeatMap>,
    pub(crate) instruction_counts: Vec<InstructionCount>,
    /// How often this study's backend can ask for each unit in a cycle.
    pub(crate) unit_rates: Vec<Rate>,
    pub(crate) rooflines: Vec<Roofline>,
    pub(crate) headlines: Vec<Headline>,
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
    /// When it began, in UTC, as ISO 8601 writes it.
    pub(crate) date: String,
    pub(crate) version: &'static str,
    /// What the command was built from; `-dirty` follows it if files had changed since. None outside a git repository.
    pub(crate) commit: Option<&'static str>,
    /// The release of the operating system's kernel.
    pub(crate) kernel: Option<String>,
    /// What built it.
    pub(crate) compiler: Option<&'static str>,
    /// What chooses the CPU's frequency, where the kernel tells.
    pub(crate) governor: Option<String>,
    /// Processes that ran or waited to run in the minute before, on average.
    pub(crate) load: Option<f64>,
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

/// What keys of one algorithm cost on this study's backend, in cycles, with their end.
#[derive(Serialize, Debug)]
pub(crate) struct KeyCost {
    pub(crate) algorithm: &'static str,
    /// Of a new key.
    pub(crate) new: f64,
    /// Of a message and a new key for it, with the bytes of the message.
    pub(crate) with_message: Vec<(usize, f64)>,
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

/// A mode with a chain of multiplications, by one method, in cycles per byte.
#[derive(Serialize, Debug)]
pub(crate) struct MultiplicationChain {
    pub(crate) backend: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) method: &'static str,
    /// In one register, of a message without end.
    pub(crate) single: f64,
    /// In eight registers side by side.
    pub(crate) batched: f64,
    /// The same for whole messages of these lengths, one after the other.
    pub(crate) lengths: Vec<usize>,
    pub(crate) single_by_length: Vec<f64>,
    pub(crate) batched_by_length: Vec<f64>,
}

/// What sealing costs by a number of messages, and by their length.
#[derive(Serialize, Debug)]
pub(crate) struct HeatMap {
    pub(crate) algorithm: &'static str,
    pub(crate) backend: &'static str,
    pub(crate) axis: Axis,
    /// So many messages for each row.
    pub(crate) messages: Vec<usize>,
    pub(crate) lengths: Vec<usize>,
    /// Cycles per byte, a row for each number of messages.
    pub(crate) cpb: Vec<Vec<f64>>,
}

/// Which number of messages a heat map is over.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Axis {
    /// Messages that are handed over at once.
    Batch,
    /// Messages in flight in the comb's windows: the papers' degree of parallelism. The batch is as large as everywhere.
    Parallelism,
}

/// What a call that seals one message takes.
#[derive(Serialize, Debug)]
pub(crate) struct InstructionCount {
    pub(crate) algorithm: &'static str,
    pub(crate) backend: &'static str,
    pub(crate) bytes: usize,
    pub(crate) instructions: u64,
}

/// What a batch asks of each unit of the CPU, beside what it takes, on this study's backend. The call alone: its jobs are
/// made before.
#[derive(Serialize, Debug)]
pub(crate) struct Roofline {
    pub(crate) algorithm: &'static str,
    pub(crate) messages: usize,
    /// Of each message.
    pub(crate) bytes: usize,
    /// Cycles for each 16 bytes that were measured.
    pub(crate) cycles: f64,
    /// Empty where no process may trace another.
    pub(crate) units: Vec<Asked>,
}

/// What is asked of a unit for each 16 bytes.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) unit: Unit,
    /// How often, at any width.
    pub(crate) times: f64,
    /// In how many lanes of 16 bytes.
    pub(crate) lanes: f64,
    /// The cycles that it takes at least.
    pub(crate) cycles: f64,
}

impl Roofline {
    /// The unit that takes the most cycles.
    pub(crate) fn full(&self) -> Option<&Asked> {
        self.units.iter().max_by(|a, b| a.cycles.total_cmp(&b.cycles))
    }
}

/// Something that a paper says first or last, and whether it holds on this CPU.
#[derive(Serialize, Debug)]
pub(crate) struct Headline {
    pub(crate) claim: &'static str,
    /// The paper's year: 2014, 2015 or 2018.
    pub(crate) paper: u32,
    pub(crate) holds: bool,
    /// What was measured for it: two numbers of which the first is to be so many times the second, or one that is to be
    /// near the paper's. Where the claim is about several algorithms or lengths, those that speak against it most.
    pub(crate) numbers: Vec<Number>,
    /// The paper's own, with its own worst case.
    pub(crate) papers: Vec<Number>,
}

/// A number that a claim stands on.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub(crate) struct Number {
    /// None for a bound that is no algorithm's.
    pub(crate) algorithm: Option<&'static str>,
    pub(crate) backend: Option<&'static str>,
    pub(crate) schedule: Option<ScheduleName>,
    pub(crate) lengths: Option<Lengths>,
    pub(crate) cpb: f64,
}

impl Number {
    /// A bound that is no algorithm's.
    pub(crate) fn bound(cpb: f64) -> Self {
        Self { algorithm: None, backend: None, schedule: None, lengths: None, cpb }
    }
}

impl Study {
    /// What an algorithm's messages cost, if they were measured at two lengths or more.
    pub(crate) fn cost(
        &self,
        algorithm: &str,
        direction: Direction,
        schedule: ScheduleName,
    ) -> Option<&Cost> {
        let asked = (algorithm, direction, schedule);
        self.costs.iter().find(|cost| (cost.algorithm, cost.direction, cost.schedule) == asked)
    }

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

    /// The lengths that were measured, in their order.
    pub(crate) fn lengths(&self) -> Vec<Lengths> {
        let mut all: Vec<Lengths> = Vec::new();
        for measurement in &self.results {
            if !all.contains(&measurement.lengths) {
                all.push(measurement.lengths);
            }
        }
        all
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
