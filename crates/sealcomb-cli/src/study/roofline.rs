//! A roofline for each algorithm: the demand of a batch on each unit of the CPU, and the unit that is the bottleneck.

use super::bench::{self, Bench};
use super::counting;
use super::instructions::{TIMES, has_instructions, rate};
use super::results::{Instruction, Roofline, Study, UnitDemand};
use super::table::{Table, table as table_of};
use super::units::{BLOCK, Demand, Rate, Unit, WIDTHS, cycles};
use sealcomb::probe::{self, Access};
use sealcomb::{Algorithm, Backend, Cipher, study};

/// Messages in the traced batch: enough to fill all lanes of every backend.
const MESSAGES: usize = 32;

/// Size of each message in bytes: large enough for blocks to dominate the beginning and end of a message, and small
/// enough to trace the batch in a fraction of a second.
const BYTES: usize = 1024;

/// Measures the maximum uses of each unit per cycle on a backend and on those with narrower registers.
pub(crate) fn rates(bench: &mut Bench, backend: Backend, instructions: &[Instruction]) -> Vec<Rate> {
    let word = WIDTHS[0];
    // Each iteration loads or stores at least 64 registers.
    let times = TIMES / 64;
    let mut rates = Vec::new();
    let mut add = |unit, bytes, per_cycle| rates.push(Rate { unit, bytes, per_cycle });
    add(Unit::FrontEnd, word, rate(bench, || probe::instructions(TIMES)));
    add(Unit::Loads, word, rate(bench, || probe::access_words(Access::Load, TIMES)));
    add(Unit::Stores, word, rate(bench, || probe::access_words(Access::Store, TIMES)));
    for narrower in Backend::available()
        .filter(|other| has_instructions(*other) && study::blocks(*other) <= study::blocks(backend))
    {
        let bytes = BLOCK * study::blocks(narrower);
        add(Unit::Loads, bytes, rate(bench, || probe::access(narrower, Access::Load, times)));
        add(Unit::Stores, bytes, rate(bench, || probe::access(narrower, Access::Store, times)));
        add(Unit::Vector, bytes, rate(bench, || probe::sums(narrower, TIMES)));
        for instruction in instructions.iter().filter(|instruction| instruction.backend == narrower.name()) {
            let unit = match instruction.operation {
                "aesenc" => Unit::Aes,
                "pclmulqdq" => Unit::Products,
                "pshufb" => Unit::Shuffles,
                _ => continue,
            };
            add(unit, bytes, 1.0 / instruction.inverse_throughput);
        }
    }
    rates
}

/// Returns the rooflines of algorithms on a backend. Omits algorithms that do not use AES instructions, for which
/// there is no bound either: software AES has no separate rounds.
pub(crate) fn of_all(
    bench: &mut Bench,
    backend: Backend,
    rates: &[Rate],
    algorithms: impl Iterator<Item = Algorithm>,
) -> Vec<Roofline> {
    let calls: Vec<_> = algorithms
        .filter(|algorithm| algorithm.cipher() == Cipher::Aes && has_instructions(backend))
        .map(|algorithm| (algorithm, algorithm.padded_bytes(BYTES)))
        .collect();
    let demands = counting::demands(&calls, backend, MESSAGES);
    let both = calls.iter().zip(&demands);
    both.map(|(&(algorithm, bytes), demand)| of(bench, backend, rates, algorithm, bytes, demand.as_ref()))
        .collect()
}

/// Measures a batch and combines it with its demand, if that is known.
fn of(
    bench: &mut Bench,
    backend: Backend,
    rates: &[Rate],
    algorithm: Algorithm,
    bytes: usize,
    demand: Option<&Demand>,
) -> Roofline {
    let blocks = (MESSAGES * bytes / BLOCK) as f64;
    let keys = bench::keys(algorithm, backend, 1);
    let measured =
        bench::sealing(&keys, bytes, MESSAGES, |seal| bench.clock.measure(bench.samples, seal).median);
    let units = demand.iter().flat_map(|demand| {
        Unit::ALL.map(|unit| UnitDemand {
            unit,
            times: demand.times(unit) as f64 / blocks,
            lanes: demand.lanes(unit) as f64 / blocks,
            cycles: cycles(rates, demand, unit) / blocks,
        })
    });
    Roofline {
        algorithm: algorithm.id(),
        messages: MESSAGES,
        bytes: BYTES,
        cycles: measured / blocks,
        units: units.collect(),
    }
}

/// Returns a table with one row per algorithm: the cycles per block that each unit needs, the bottleneck, and the
/// measured cycles.
pub(crate) fn table(study: &Study) -> Table {
    let rows = study.rooflines.iter().map(|roofline| {
        let demand = |unit| roofline.units.iter().find(|demand| demand.unit == unit);
        let mut row = vec![roofline.algorithm.to_owned()];
        row.extend(
            Unit::ALL.map(|unit| demand(unit).map_or_else(String::new, |demand| digits(demand.cycles))),
        );
        let bottleneck = roofline.bottleneck();
        row.push(bottleneck.map_or_else(String::new, |demand| demand.unit.name().to_owned()));
        row.push(digits(roofline.cycles));
        row.push(
            bottleneck.map_or_else(String::new, |demand| format!("{:.2}", demand.cycles / roofline.cycles)),
        );
        row
    });
    let mut header = vec!["algorithm".to_owned()];
    header.extend(Unit::ALL.map(|unit| unit.name().replace(' ', "\n")));
    header.extend(["bottleneck", "measured", "fraction"].map(str::to_owned));
    let note = if study.rooflines.iter().all(|roofline| roofline.units.is_empty()) {
        "Instructions were not counted: that requires x86-64 Linux and permission to trace another process."
            .to_owned()
    } else {
        format!("{NOTE}\n{}", per_cycle(study))
    };
    table_of(
        &format!(
            "Demand on each unit: minimum cycles per block, sealing {MESSAGES} messages of {BYTES} bytes"
        ),
        &header,
        rows,
    )
    .with_note(note)
}

const NOTE: &str = "\
Derived from every instruction of a call and from the measured rate of each kind on this CPU. Vector: all computation\n\
in vector registers, including rounds, products and shuffles. Bottleneck: the unit that needs the most cycles;\n\
fraction: its cycles over the measured ones.";

/// Formats the rate of each unit for its widest registers, or for words.
fn per_cycle(study: &Study) -> String {
    let units = Unit::ALL.map(|unit| {
        let of_unit = study.unit_rates.iter().filter(|rate| rate.unit == unit);
        let widest = of_unit.max_by_key(|rate| rate.bytes);
        widest.map_or_else(String::new, |rate| format!("{} {:.1}", unit.name(), rate.per_cycle))
    });
    format!("Per cycle, with the widest registers:\n{}.", units.join(", "))
}

fn digits(cycles: f64) -> String {
    format!("{cycles:.2}")
}
