//! Results of a study, in the form of its JSON.

use super::units::{Rate, Unit};
use super::workload::Lengths;
use serde::Serialize;

/// All results of a study.
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
    /// Heat maps by batch size.
    pub(crate) heat: Vec<HeatMap>,
    /// Heat maps by the comb's degree of parallelism.
    pub(crate) comb_heat: Vec<HeatMap>,
    pub(crate) instruction_counts: Vec<InstructionCount>,
    /// Maximum uses of each unit per cycle on this study's backend.
    pub(crate) unit_rates: Vec<Rate>,
    pub(crate) rooflines: Vec<Roofline>,
    pub(crate) headlines: Vec<Headline>,
}

/// The CPU and its maximum rates.
#[derive(Serialize, Debug)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) backend: &'static str,
    /// Source of the cycle counts: `perf` or `calibrated`.
    pub(crate) cycles: &'static str,
    /// AES rounds of one block that can start per cycle.
    pub(crate) aes_rounds_per_cycle: f64,
    /// Carry-less 64-bit products that can start per cycle.
    pub(crate) clmul_per_cycle: f64,
}

/// Conditions of the measurement.
#[derive(Serialize, Debug)]
pub(crate) struct Conditions {
    /// Start of the study in UTC, in ISO 8601 format.
    pub(crate) date: String,
    pub(crate) version: &'static str,
    /// Commit of the build, followed by `-dirty` if files had been modified. `None` outside a git repository.
    pub(crate) commit: Option<&'static str>,
    /// Release of the operating system's kernel.
    pub(crate) kernel: Option<String>,
    /// Compiler of the build.
    pub(crate) compiler: Option<&'static str>,
    /// CPU frequency governor, if the kernel reports it.
    pub(crate) governor: Option<String>,
    /// Load average of the preceding minute.
    pub(crate) load: Option<f64>,
    pub(crate) quick: bool,
    pub(crate) samples: usize,
    pub(crate) aad_bytes: usize,
    /// The capture that provided the packet lengths of the results named `trace`.
    pub(crate) trace: Option<String>,
}

/// A measurement of one algorithm.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct Measurement {
    pub(crate) algorithm: &'static str,
    pub(crate) direction: Direction,
    /// A backend of sealcomb, or `peer:` followed by another library and its version.
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
    /// `None` for ciphers without CPU instructions.
    pub(crate) bound_cpb: Option<f64>,
    pub(crate) fraction_of_bound: Option<f64>,
}

/// Direction of an operation.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    Seal,
    Open,
}

/// Schedule of a batch.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScheduleName {
    Auto,
    Single,
    Comb,
    Refill,
    Blocks,
}

/// Cost of one algorithm on this study's backend, as a constant per message and per byte. Neither is negative.
#[derive(Serialize, Debug)]
pub(crate) struct Cost {
    pub(crate) algorithm: &'static str,
    pub(crate) direction: Direction,
    pub(crate) schedule: ScheduleName,
    pub(crate) cycles_per_message: f64,
    pub(crate) cycles_per_byte: f64,
    /// Maximum relative error of this line over the measured lengths.
    pub(crate) off_by: f64,
}

/// Cost of one algorithm's keys on this study's backend, in cycles, including dropping them.
#[derive(Serialize, Debug)]
pub(crate) struct KeyCost {
    pub(crate) algorithm: &'static str,
    /// Cycles for a new key.
    pub(crate) new: f64,
    /// Message lengths in bytes, each with the cycles for a new key and one message.
    pub(crate) with_message: Vec<(usize, f64)>,
}

/// An instruction of a backend.
#[derive(Serialize, Debug)]
pub(crate) struct Instruction {
    pub(crate) backend: &'static str,
    pub(crate) operation: &'static str,
    /// Cycles from operand to result.
    pub(crate) latency: f64,
    /// Cycles from one instruction to the next independent one.
    pub(crate) inverse_throughput: f64,
    /// 16-byte blocks (or 64-bit products) started per cycle.
    pub(crate) blocks_per_cycle: f64,
}

/// An operation in GF(2^128), in cycles for one register.
#[derive(Serialize, Debug)]
pub(crate) struct FieldOperation {
    pub(crate) backend: &'static str,
    pub(crate) operation: &'static str,
    /// Whether it takes the same time for every operand.
    pub(crate) constant_time: bool,
    /// Cycles if each operation depends on the previous one.
    pub(crate) chained: f64,
    /// Cycles per element if the operations are independent.
    pub(crate) independent: f64,
}

/// Cost of a mode with a chain of multiplications, with one multiplication method, in cycles per byte.
#[derive(Serialize, Debug)]
pub(crate) struct MultiplicationChain {
    pub(crate) backend: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) method: &'static str,
    /// One register, message of unbounded length.
    pub(crate) single: f64,
    /// Eight registers side by side, messages of unbounded length.
    pub(crate) batched: f64,
    /// Message lengths in bytes of the following figures.
    pub(crate) lengths: Vec<usize>,
    /// One register, messages of each length one after the other.
    pub(crate) single_by_length: Vec<f64>,
    /// Eight registers side by side, messages of each length one after the other.
    pub(crate) batched_by_length: Vec<f64>,
}

/// Cost of sealing by the number of messages and by their length.
#[derive(Serialize, Debug)]
pub(crate) struct HeatMap {
    pub(crate) algorithm: &'static str,
    pub(crate) backend: &'static str,
    pub(crate) axis: Axis,
    /// Number of messages for each row.
    pub(crate) messages: Vec<usize>,
    /// Message length in bytes for each column.
    pub(crate) lengths: Vec<usize>,
    /// Cycles per byte, one row per number of messages.
    pub(crate) cpb: Vec<Vec<f64>>,
}

/// The quantity of a heat map's rows.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Axis {
    /// Messages per call.
    Batch,
    /// Messages in flight in the comb's windows: the papers' degree of parallelism. The batch size is the usual one.
    Parallelism,
}

/// Instructions of a call that seals one message.
#[derive(Serialize, Debug)]
pub(crate) struct InstructionCount {
    pub(crate) algorithm: &'static str,
    pub(crate) backend: &'static str,
    pub(crate) bytes: usize,
    pub(crate) instructions: u64,
}

/// Demand of a batch on each unit of the CPU, and its measured time, on this study's backend. Excludes job
/// construction.
#[derive(Serialize, Debug)]
pub(crate) struct Roofline {
    pub(crate) algorithm: &'static str,
    pub(crate) messages: usize,
    /// Size of each message in bytes.
    pub(crate) bytes: usize,
    /// Measured cycles per 16 bytes.
    pub(crate) cycles: f64,
    /// Demand on each unit; empty if tracing is not possible.
    pub(crate) units: Vec<UnitDemand>,
}

/// Demand on a unit per 16 bytes.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct UnitDemand {
    pub(crate) unit: Unit,
    /// Uses of the unit, at any width.
    pub(crate) times: f64,
    /// Uses of the unit, in lanes of 16 bytes.
    pub(crate) lanes: f64,
    /// Minimum cycles that the unit takes.
    pub(crate) cycles: f64,
}

impl Roofline {
    /// Returns the unit that takes the most cycles.
    pub(crate) fn bottleneck(&self) -> Option<&UnitDemand> {
        self.units.iter().max_by(|a, b| a.cycles.total_cmp(&b.cycles))
    }
}

/// A paper's claim and whether it holds on this CPU.
#[derive(Serialize, Debug)]
pub(crate) struct Headline {
    pub(crate) claim: &'static str,
    /// The paper's year: 2014, 2015 or 2018.
    pub(crate) paper: u32,
    pub(crate) holds: bool,
    /// The measured numbers that decide: two whose ratio is claimed, or one that should be close to the paper's. If
    /// the claim is about several algorithms or lengths, those that contradict it most.
    pub(crate) numbers: Vec<Number>,
    /// The paper's own numbers, with its own worst case.
    pub(crate) papers: Vec<Number>,
}

/// A number that decides a claim.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub(crate) struct Number {
    /// `None` for a bound that belongs to no algorithm.
    pub(crate) algorithm: Option<&'static str>,
    pub(crate) backend: Option<&'static str>,
    pub(crate) schedule: Option<ScheduleName>,
    pub(crate) lengths: Option<Lengths>,
    pub(crate) cpb: f64,
}

impl Number {
    /// Returns a bound that belongs to no algorithm.
    pub(crate) fn bound(cpb: f64) -> Self {
        Self { algorithm: None, backend: None, schedule: None, lengths: None, cpb }
    }
}

impl Study {
    /// Returns the cost of an algorithm's messages, if they were measured at two or more lengths.
    pub(crate) fn cost(
        &self,
        algorithm: &str,
        direction: Direction,
        schedule: ScheduleName,
    ) -> Option<&Cost> {
        let wanted = (algorithm, direction, schedule);
        self.costs.iter().find(|cost| (cost.algorithm, cost.direction, cost.schedule) == wanted)
    }

    /// Returns the result for one key on this study's backend, if it was measured.
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

    /// Returns the results on one backend or peer.
    pub(crate) fn on(&self, backend: &str) -> impl Iterator<Item = &Measurement> {
        self.results.iter().filter(move |m| m.backend == backend)
    }

    /// Returns the measured lengths in their order.
    pub(crate) fn lengths(&self) -> Vec<Lengths> {
        let mut all: Vec<Lengths> = Vec::new();
        for measurement in &self.results {
            if !all.contains(&measurement.lengths) {
                all.push(measurement.lengths);
            }
        }
        all
    }

    /// Returns the measured algorithms in the order of the catalog.
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
