//! A roofline for each algorithm: what a batch asks of each unit of the CPU, and so which of them is full first.

use super::bench::{self, Bench};
use super::counting;
use super::instructions::{TIMES, has_instructions, rate};
use super::results::{Asked, Instruction, Roofline, Study};
use super::table::{Table, table as table_of};
use super::units::{BLOCK, Demand, Rate, Unit, WIDTHS, cycles};
use sealcomb::probe::{self, Access};
use sealcomb::{Algorithm, Backend, Cipher};

/// The batch: all lanes of every backend are taken, blocks outnumber what begins and ends a message, and yet its
/// instructions are stepped through in a fraction of a second.
const MESSAGES: usize = 32;
const BYTES: usize = 1024;

/// How often a backend, and those with narrower registers, can ask for each unit in a cycle.
pub(crate) fn rates(bench: &mut Bench, backend: Backend, instructions: &[Instruction]) -> Vec<Rate> {
    let word = WIDTHS[0];
    // Each time, 64 registers or more go between memory and the CPU.
    let times = TIMES / 64;
    let mut rates = Vec::new();
    let mut add = |unit, bytes, per_cycle| rates.push(Rate { unit, bytes, per_cycle });
    add(Unit::FrontEnd, word, rate(bench, || probe::instructions(TIMES)));
    add(Unit::Loads, word, rate(bench, || probe::access_words(Access::Load, TIMES)));
    add(Unit::Stores, word, rate(bench, || probe::access_words(Access::Store, TIMES)));
    for narrower in
        Backend::available().filter(|other| has_instructions(*other) && other.blocks() <= backend.blocks())
    {
        let bytes = BLOCK * narrower.blocks();
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

/// The rooflines of algorithms on a backend. None without the CPU's own AES, as with the bounds: there, blocks are not made
/// of rounds.
pub(crate) fn of_all(
    bench: &mut Bench,
    backend: Backend,
    rates: &[Rate],
    algorithms: impl Iterator<Item = &'static Algorithm>,
) -> Vec<Roofline> {
    let calls: Vec<_> = algorithms
        .filter(|algorithm| algorithm.cipher == Cipher::Aes && has_instructions(backend))
        .map(|algorithm| (algorithm, algorithm.padded_bytes(BYTES)))
        .collect();
    let demands = counting::demands(&calls, backend, MESSAGES);
    let both = calls.iter().zip(&demands);
    both.map(|(&(algorithm, bytes), demand)| of(bench, backend, rates, algorithm, bytes, demand.as_ref()))
        .collect()
}

/// The roofline of an algorithm, of which is known what a batch asks for, or is not.
fn of(
    bench: &mut Bench,
    backend: Backend,
    rates: &[Rate],
    algorithm: &'static Algorithm,
    bytes: usize,
    demand: Option<&Demand>,
) -> Roofline {
    let blocks = (MESSAGES * bytes / BLOCK) as f64;
    let keys = bench::keys(algorithm, backend, 1);
    let measured =
        bench::sealing(&keys, bytes, MESSAGES, |seal| bench.clock.measure(bench.samples, seal).median);
    let units = demand.iter().flat_map(|demand| {
        Unit::ALL.map(|unit| Asked {
            unit,
            times: demand.times(unit) as f64 / blocks,
            lanes: demand.lanes(unit) as f64 / blocks,
            cycles: cycles(rates, demand, unit) / blocks,
        })
    });
    Roofline {
        algorithm: algorithm.id,
        messages: MESSAGES,
        bytes: BYTES,
        cycles: measured / blocks,
        units: units.collect(),
    }
}

/// A row an algorithm: the cycles a block that each unit asks for, which of them is the most, and what was measured.
pub(crate) fn table(study: &Study) -> Table {
    let rows = study.rooflines.iter().map(|roofline| {
        let asked = |unit| roofline.units.iter().find(|asked| asked.unit == unit);
        let mut row = vec![roofline.algorithm.to_owned()];
        row.extend(Unit::ALL.map(|unit| asked(unit).map_or_else(String::new, |asked| digits(asked.cycles))));
        let full = roofline.full();
        row.push(full.map_or_else(String::new, |full| full.unit.name().to_owned()));
        row.push(digits(roofline.cycles));
        row.push(full.map_or_else(String::new, |full| format!("{:.2}", full.cycles / roofline.cycles)));
        row
    });
    let mut header = vec!["algorithm".to_owned()];
    header.extend(Unit::ALL.map(|unit| unit.name().replace(' ', "\n")));
    header.extend(["full", "measured", "of it"].map(str::to_owned));
    let note = if study.rooflines.iter().all(|roofline| roofline.units.is_empty()) {
        "Instructions are counted where one process may trace another, on x86-64 with Linux; here none could."
            .to_owned()
    } else {
        format!("{NOTE}\n{}", per_cycle(study))
    };
    table_of(
        &format!(
            "What each unit is asked for: cycles a block at least, sealing {MESSAGES} messages of {BYTES} bytes"
        ),
        &header,
        rows,
    )
    .with_note(note)
}

const NOTE: &str = "\
From the instructions of a call, each of which was looked at, and from what this CPU does of each kind in a\n\
cycle. Vector: all computing in vector registers, with rounds, products and shuffles. Full: the unit that asks\n\
for the most cycles; of it: that, over what was measured.";

/// What the rates are, for the registers of this study's backend and for words.
fn per_cycle(study: &Study) -> String {
    let units = Unit::ALL.map(|unit| {
        let of_unit = study.unit_rates.iter().filter(|rate| rate.unit == unit);
        let widest = of_unit.max_by_key(|rate| rate.bytes);
        widest.map_or_else(String::new, |rate| format!("{} {:.1}", unit.name(), rate.per_cycle))
    });
    format!("In a cycle, of the widest registers:\n{}.", units.join(", "))
}

fn digits(cycles: f64) -> String {
    format!("{cycles:.2}")
}
