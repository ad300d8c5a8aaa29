//! The papers' tables, with this machine's figures beside theirs.

use super::papers::{self, LENGTHS, Pair, PaperMode};
use super::plan::{MAIN_LENGTH, SWEPT};
use super::results::{Direction, Measurement, ScheduleName, Study};
use super::table::{Table, cpb, speed_up, table};
use super::workload::Lengths;
use sealcomb::{Algorithm, Work};

/// All tables of the papers that the study has numbers for.
pub(crate) fn tables(study: &Study) -> Vec<Table> {
    vec![
        work(study),
        fixed_length(study),
        realistic_mix(study),
        single_by_length(study),
        batch_by_length(study),
        parallel_cbc(study),
        instructions(study),
        doubling(study),
        multiplication(study),
    ]
}

/// The papers' modes that were measured here.
fn modes(study: &Study) -> impl Iterator<Item = &'static PaperMode> {
    papers::MODES.iter().filter(|paper| study.results.iter().any(|m| m.algorithm == paper.id))
}

fn sealed(study: &Study, id: &str, schedule: ScheduleName, lengths: Lengths) -> Option<f64> {
    study.find(id, Direction::Seal, schedule, lengths).map(|m| m.cpb)
}

/// A measurement, or nothing.
fn maybe(value: Option<f64>) -> String {
    value.map_or_else(String::new, cpb)
}

/// A figure of a paper, with its two decimals.
fn figure(value: f64) -> String {
    format!("{value:.2}")
}

/// The figures of both papers, or the one that both have.
fn both(of_2014: f64, of_2015: Option<f64>) -> String {
    match of_2015 {
        Some(of_2015) if of_2015.to_bits() != of_2014.to_bits() => format!("{of_2014:.2} / {of_2015:.2}"),
        _ => figure(of_2014),
    }
}

fn pair(pair: Option<Pair>) -> [String; 2] {
    let Some(pair) = pair else { return [String::new(), String::new()] };
    [figure(pair.single), pair.comb.map_or_else(|| "-".to_owned(), figure)]
}

fn work(study: &Study) -> Table {
    let rows = modes(study).filter_map(|paper| {
        let (calls, multiplications) = paper.work?;
        let algorithm = Algorithm::by_id(paper.id).ok()?;
        let Work { calls: our_calls, rounds, multiplications: our_multiplications, .. } = algorithm.work;
        debug_assert_eq!(rounds, 0, "the papers' modes call AES with all its rounds");
        Some(vec![
            paper.name.to_owned(),
            algorithm.id.to_owned(),
            our_calls.to_string(),
            our_multiplications.to_string(),
            calls.to_string(),
            multiplications.to_string(),
        ])
    });
    table(
        "Work for 16 bytes (2014: table 1; 2015: table 2, which count one chain of CLOC and SILC, and half blocks of JAMBU)",
        &["mode", "algorithm", "AES calls", "multiplications", "paper: calls", "multiplications"],
        rows,
    )
}

fn fixed_length(study: &Study) -> Table {
    let rows = modes(study).filter_map(|paper| {
        let lengths = Lengths::Fixed(MAIN_LENGTH);
        let single = sealed(study, paper.id, ScheduleName::Single, lengths)?;
        let batch = sealed(study, paper.id, ScheduleName::Auto, lengths)?;
        let of_2014 = paper.by_length.as_ref().map(|by_length| Pair {
            single: by_length.single[LENGTHS.len() - 1],
            comb: Some(by_length.multiple[LENGTHS.len() - 1]),
        });
        let messages = paper.by_length.as_ref().map(|by_length| by_length.messages.to_string());
        let mut row = vec![paper.name.to_owned(), cpb(single), cpb(batch), speed_up(single, batch)];
        row.push(messages.unwrap_or_default());
        row.extend([of_2014, Some(paper.haswell), paper.skylake].into_iter().flat_map(pair));
        Some(row)
    });
    table(
        "Messages of 2048 bytes (2015: table 1; 2014: tables 4 and 5)",
        &[
            "mode",
            "single",
            "batch",
            "speed-up",
            "2014: messages",
            "single",
            "multiple",
            "2015: single",
            "comb",
            "Skylake: single",
            "comb",
        ],
        rows,
    )
}

fn realistic_mix(study: &Study) -> Table {
    let rows = modes(study).filter_map(|paper| {
        let single = sealed(study, paper.id, ScheduleName::Single, Lengths::Mix)?;
        let batch = sealed(study, paper.id, ScheduleName::Auto, Lengths::Mix)?;
        let Pair { single: theirs, comb } = paper.haswell_mix;
        let mut row = vec![paper.name.to_owned(), cpb(single), cpb(batch), speed_up(single, batch)];
        row.extend(pair(Some(paper.haswell_mix)));
        row.push(comb.map_or_else(|| "-".to_owned(), |comb| speed_up(theirs, comb)));
        row.extend(pair(paper.skylake_mix));
        Some(row)
    });
    table(
        "Realistic mix of packet lengths (2015: tables 1, 4 and 5)",
        &[
            "mode",
            "single",
            "batch",
            "speed-up",
            "2015: single",
            "comb",
            "speed-up",
            "Skylake: single",
            "comb",
        ],
        rows,
    )
}

fn single_by_length(study: &Study) -> Table {
    by_length(
        study,
        "One message after the other, by length: here (2014: table 4 / 2015: table 6, if another)",
        ScheduleName::Single,
        |figures, i| both(figures.single[i], Some(figures.single_2015[i])),
    )
}

fn batch_by_length(study: &Study) -> Table {
    by_length(
        study,
        "Several messages, by length: here (2014: table 4 / 2015: table 7, if another)",
        ScheduleName::Auto,
        |figures, i| both(figures.multiple[i], figures.comb.map(|comb| comb[i])),
    )
}

/// The authenticated modes at the papers' lengths.
fn by_length(
    study: &Study,
    title: &str,
    schedule: ScheduleName,
    theirs: impl Fn(&papers::ByLength, usize) -> String,
) -> Table {
    let rows = modes(study).filter_map(|paper| {
        let figures = paper.by_length.as_ref()?;
        let ours = LENGTHS.map(|bytes| sealed(study, paper.id, schedule, Lengths::Fixed(bytes)));
        ours.iter().any(Option::is_some).then(|| {
            let cells = ours.iter().enumerate().map(|(i, ours)| {
                format!("{} ({})", maybe(*ours), theirs(figures, i)).trim_start().to_owned()
            });
            std::iter::once(paper.name.to_owned()).chain(cells).collect()
        })
    });
    let mut header = vec!["mode".to_owned()];
    header.extend(LENGTHS.iter().map(usize::to_string));
    table(title, &header, rows)
}

/// CBC in comb windows over the number of messages in flight.
fn parallel_cbc(study: &Study) -> Table {
    let mut swept: Vec<&Measurement> = study
        .on(study.machine.backend)
        .filter(|m| (m.algorithm, m.schedule, m.direction) == (SWEPT, ScheduleName::Comb, Direction::Seal))
        .collect();
    swept.sort_by_key(|m| m.lanes);
    let mut degrees: Vec<usize> = swept.iter().map(|m| m.lanes).collect();
    degrees.dedup();
    if degrees.len() < 2 {
        return Table::default();
    }
    let find =
        |lanes, lengths| swept.iter().find(|m| m.lanes == lanes && m.lengths == lengths).map(|m| m.cpb);
    let ours = |lanes, lengths| {
        let speed = find(lanes, lengths);
        let gain = find(1, lengths).zip(speed).map(|(one, many)| speed_up(one, many));
        [maybe(speed), gain.unwrap_or_default()]
    };
    let rows = degrees.into_iter().map(|lanes| {
        let theirs = papers::PARALLEL_CBC.iter().find(|(messages, ..)| *messages == lanes);
        let of_2014 = theirs.map(|(_, of_2014, ..)| figure(*of_2014));
        let of_2015 = theirs.map(|(_, _, fixed, mix)| [figure(*fixed), figure(*mix)]);
        let [fixed, mix] = of_2015.unwrap_or_default();
        let mut row = vec![lanes.to_string()];
        row.extend(ours(lanes, Lengths::Fixed(MAIN_LENGTH)));
        row.extend([of_2014.unwrap_or_default(), fixed]);
        row.extend(ours(lanes, Lengths::Mix));
        row.push(mix);
        row
    });
    table(
        "CBC in comb windows, by the number of messages in flight (2014: table 2; 2015: table 3)",
        &["in flight", "2048", "speed-up", "2014", "2015", "mix", "speed-up", "2015"],
        rows,
    )
}

fn instructions(study: &Study) -> Table {
    let rows = study.instructions.iter().map(|i| {
        let theirs = papers::INSTRUCTIONS.iter().find(|(name, ..)| *name == i.operation);
        vec![
            i.operation.to_owned(),
            i.backend.to_owned(),
            format!("{:.1}", i.latency),
            format!("{:.2}", i.inverse_throughput),
            format!("{:.2}", i.blocks_per_cycle),
            theirs.map_or_else(String::new, |(_, latency, _)| latency.to_string()),
            theirs.map_or_else(String::new, |(.., inverse)| inverse.to_string()),
        ]
    });
    table(
        "Instructions, cycles (2014: table 3; 2015: table 8)",
        &[
            "instruction",
            "backend",
            "latency",
            "inverse throughput",
            "blocks/cycle",
            "papers: latency",
            "inverse throughput",
        ],
        rows,
    )
}

fn doubling(study: &Study) -> Table {
    let rows = study.field.iter().map(|operation| {
        let theirs = papers::DOUBLINGS.iter().find(|(name, _)| *name == operation.operation);
        vec![
            operation.operation.to_owned(),
            operation.backend.to_owned(),
            if operation.constant_time { "yes" } else { "no: branches" }.to_owned(),
            format!("{:.1}", operation.chained),
            format!("{:.2}", operation.independent),
            theirs.map_or_else(String::new, |(_, cycles)| format!("{cycles:.1}")),
        ]
    });
    table(
        "GF(2^128), cycles (doubling: 2014: table 3a; 2015: table 9)",
        &["operation", "backend", "constant time", "chained", "independent, each", "papers"],
        rows,
    )
}

/// The two methods of multiplication in the modes that the papers compare them in.
fn multiplication(study: &Study) -> Table {
    let rows = study.chains.iter().filter(|chain| chain.method == "classical").filter_map(|classical| {
        let haswell = study
            .chains
            .iter()
            .find(|c| (c.backend, c.mode, c.method) == (classical.backend, classical.mode, "Haswell"))?;
        Some(vec![
            classical.mode.to_owned(),
            classical.backend.to_owned(),
            cpb(classical.single),
            cpb(haswell.single),
            cpb(classical.batched),
            cpb(haswell.batched),
        ])
    });
    table(
        "The bulk of two modes by either multiplication, in registers (2014: figure 2; 2015: figure 5)",
        &["mode", "backend", "single: classical", "Haswell", "8 registers: classical", "Haswell"],
        rows,
    )
}
