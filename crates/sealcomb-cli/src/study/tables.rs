//! The study's tables on the terminal, with the paper's figures beside this machine's.

use super::papers;
use super::plan::{MAIN_LENGTH, is_main, is_swept};
use super::results::{Direction, Measurement, ScheduleName, Study};
use super::workload::{BATCH, Lengths};
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use sealcomb::{Algorithm, Backend};
use std::collections::BTreeSet;

/// All tables that the study has numbers for.
pub(crate) fn text(study: &Study) -> String {
    let mut tables = vec![machine(study), instructions(study), field(study)];
    for lengths in main_lengths(study) {
        tables.push(modes(study, lengths));
    }
    tables.push(by_length(study, ScheduleName::Single));
    tables.push(by_length(study, ScheduleName::Auto));
    tables.push(paper_lengths(study));
    tables.push(sweep(study));
    for lengths in main_lengths(study) {
        tables.push(schedules(study, lengths));
        tables.push(backends(study, lengths));
    }
    tables.push(peers(study));
    tables.concat()
}

fn machine(study: &Study) -> String {
    let machine = &study.machine;
    format!(
        "{}, backend {}, cycles: {}\n\
         cycles per byte unless said otherwise; median of {} timings; batches of {BATCH}, one key, no additional data;\n\
         sealing in place, opening from one buffer into another; bound: this CPU's instructions at full rate\n",
        machine.cpu, machine.backend, machine.cycles, study.conditions.samples
    )
}

fn instructions(study: &Study) -> String {
    let rows = study.instructions.iter().map(|i| {
        let paper = papers::INSTRUCTIONS.iter().find(|(name, ..)| *name == i.operation);
        vec![
            i.backend.to_owned(),
            i.operation.to_owned(),
            format!("{:.1}", i.latency),
            format!("{:.2}", i.inverse_throughput),
            format!("{:.2}", i.blocks_per_cycle),
            paper.map_or_else(String::new, |(_, latency, inverse)| format!("{latency} / {inverse}")),
        ]
    });
    table(
        "Instructions, cycles (the paper's table 8)",
        &["backend", "instruction", "latency", "inverse throughput", "blocks/cycle", "paper"],
        rows,
    )
}

fn field(study: &Study) -> String {
    let rows = study.field.iter().map(|operation| {
        let paper = (operation.operation == "doubling").then(|| papers::DOUBLING.to_string());
        vec![
            operation.backend.to_owned(),
            operation.operation.to_owned(),
            operation.chained.map_or_else(String::new, |cycles| format!("{cycles:.1}")),
            format!("{:.2}", operation.independent),
            paper.unwrap_or_default(),
        ]
    });
    table(
        "GF(2^128), cycles (doubling: the paper's table 9)",
        &["backend", "operation", "chained", "independent, each", "paper"],
        rows,
    )
}

/// Every algorithm at one length, single and batched (tables 1, 4 and 5).
fn modes(study: &Study, lengths: Lengths) -> String {
    let rows = study.algorithms().into_iter().filter_map(|id| {
        let cell = |direction, schedule| study.find(id, direction, schedule, lengths);
        let single = cell(Direction::Seal, ScheduleName::Single)?;
        let batch = cell(Direction::Seal, ScheduleName::Auto)?;
        let open = cell(Direction::Open, ScheduleName::Auto);
        let (paper_single, paper_comb) = paper(id, lengths);
        Some(vec![
            id.to_owned(),
            cpb(single.cpb),
            cpb(batch.cpb),
            format!("{} - {}", cpb(batch.cpb_q1), cpb(batch.cpb_q3)),
            format!("{:.1}", single.cpb / batch.cpb),
            batch.bound_cpb.map_or_else(none, cpb),
            batch.fraction_of_bound.map_or_else(none, |fraction| format!("{fraction:.2}")),
            open.map_or_else(String::new, |open| cpb(open.cpb)),
            paper_single,
            paper_comb,
        ])
    });
    table(
        &format!("{} (the paper's tables 1, 4, 5)", caption(lengths)),
        &[
            "algorithm",
            "seal single",
            "batch",
            "quartiles",
            "speed-up",
            "bound",
            "of bound",
            "open batch",
            "paper single",
            "paper comb",
        ],
        rows,
    )
}

/// The paper's figures for an algorithm, where it has them: single and combed.
fn paper(id: &str, lengths: Lengths) -> (String, String) {
    let figures = Algorithm::by_id(id)
        .ok()
        .filter(|algorithm| papers::uses_its_cipher(algorithm))
        .and_then(|algorithm| papers::of_mode(algorithm.mode));
    let (single, comb) = match (figures, lengths) {
        (Some(paper), Lengths::Fixed(MAIN_LENGTH)) => (Some(paper.single), paper.comb),
        (Some(paper), Lengths::Mix) => (Some(paper.single_mix), paper.comb_mix),
        _ => (None, None),
    };
    (single.map_or_else(String::new, cpb), comb.map_or_else(String::new, cpb))
}

/// Every algorithm over all lengths, sealing.
fn by_length(study: &Study, schedule: ScheduleName) -> String {
    let all: Vec<Lengths> = lengths_of(study);
    let rows = study.algorithms().into_iter().map(|id| {
        let mut row = vec![id.to_owned()];
        row.extend(all.iter().map(|lengths| {
            let found = study.find(id, Direction::Seal, schedule, *lengths);
            found.map_or_else(String::new, |m| cpb(m.cpb))
        }));
        let cost = study
            .costs
            .iter()
            .find(|cost| (cost.algorithm, cost.direction, cost.schedule) == (id, Direction::Seal, schedule));
        row.push(cost.map_or_else(String::new, |cost| format!("{:.0}", cost.cycles_per_message)));
        row.push(cost.map_or_else(String::new, |cost| cpb(cost.cycles_per_byte)));
        row
    });
    let mut header = vec!["algorithm".to_owned()];
    header.extend(all.iter().map(Lengths::to_string));
    header.extend(["cycles/message".to_owned(), "+ cycles/byte".to_owned()]);
    let title = match schedule {
        ScheduleName::Single => "Sealing one message after the other, by length",
        _ => "Sealing batches, by length",
    };
    table(title, &header, rows)
}

/// CCM and GCM at the lengths of tables 6 and 7.
fn paper_lengths(study: &Study) -> String {
    let tables = [
        ("single", ScheduleName::Single, &papers::SINGLE_BY_LENGTH[..]),
        ("batch", ScheduleName::Auto, &papers::COMB_BY_LENGTH[..]),
    ];
    let rows = tables.into_iter().flat_map(|(name, schedule, table)| {
        table.iter().filter_map(move |(mode, figures)| {
            let id = format!("aes128-{}", mode.to_lowercase());
            let ours: Vec<Option<&Measurement>> = papers::LENGTHS
                .iter()
                .map(|&bytes| study.find(&id, Direction::Seal, schedule, Lengths::Fixed(bytes)))
                .collect();
            ours.iter().any(Option::is_some).then(|| {
                let mut row = vec![format!("{mode} {name}")];
                row.extend(ours.iter().zip(figures).map(|(ours, paper)| match ours {
                    Some(ours) => format!("{} ({})", cpb(ours.cpb), cpb(*paper)),
                    None => format!("({})", cpb(*paper)),
                }));
                row
            })
        })
    });
    let mut header = vec!["here (paper)".to_owned()];
    header.extend(papers::LENGTHS.iter().map(usize::to_string));
    table("By length, beside the paper's tables 6 and 7", &header, rows)
}

/// Speed over the number of messages in flight.
fn sweep(study: &Study) -> String {
    let swept: Vec<&Measurement> = study
        .on(study.machine.backend)
        .filter(|m| m.schedule == ScheduleName::Comb && m.direction == Direction::Seal)
        .filter(|m| Algorithm::by_id(m.algorithm).is_ok_and(is_swept))
        .collect();
    let degrees: BTreeSet<usize> = swept.iter().map(|m| m.lanes).collect();
    if degrees.len() < 2 {
        return String::new();
    }
    let mut columns: Vec<(&str, Lengths)> = Vec::new();
    for m in &swept {
        if !columns.contains(&(m.algorithm, m.lengths)) {
            columns.push((m.algorithm, m.lengths));
        }
    }
    let mut header = vec!["in flight".to_owned()];
    header.extend(
        columns.iter().map(|(id, lengths)| format!("{} {lengths}", id.trim_start_matches("aes128-"))),
    );
    header.push(format!("paper cbc {MAIN_LENGTH} / mix"));
    let rows = degrees.into_iter().map(|degree| {
        let mut row = vec![degree.to_string()];
        row.extend(columns.iter().map(|column| {
            let found = swept.iter().find(|m| m.lanes == degree && (m.algorithm, m.lengths) == *column);
            found.map_or_else(String::new, |m| cpb(m.cpb))
        }));
        let paper = papers::PARALLEL_CBC.iter().find(|(parallelism, ..)| *parallelism == degree);
        row.push(
            paper.map_or_else(String::new, |(_, fixed, mix)| format!("{} / {}", cpb(*fixed), cpb(*mix))),
        );
        row
    });
    table("Comb windows, by the number of messages in flight (the paper's table 3)", &header, rows)
}

/// The ways to schedule a batch, and what many keys cost.
fn schedules(study: &Study, lengths: Lengths) -> String {
    let schedules = [
        ScheduleName::Single,
        ScheduleName::Blocks,
        ScheduleName::Comb,
        ScheduleName::Refill,
        ScheduleName::Auto,
    ];
    let rows = study.algorithms().into_iter().filter_map(|id| {
        let here: Vec<&Measurement> = study
            .on(study.machine.backend)
            .filter(|m| (m.algorithm, m.direction, m.lengths) == (id, Direction::Seal, lengths))
            .collect();
        let lanes = here.iter().find(|m| m.schedule == ScheduleName::Auto)?.lanes;
        let best = |schedule| {
            let found = here.iter().find(|m| {
                m.schedule == schedule && m.keys == 1 && (schedule != ScheduleName::Comb || m.lanes == lanes)
            });
            found.map_or_else(String::new, |m| cpb(m.cpb))
        };
        let many_keys = here.iter().find(|m| m.keys > 1);
        let mut row = vec![id.to_owned()];
        row.extend(schedules.map(best));
        row.push(many_keys.map_or_else(String::new, |m| cpb(m.cpb)));
        Some(row)
    });
    table(
        &format!("{}, sealed by each schedule, and with {BATCH} keys", caption(lengths)),
        &["algorithm", "single", "blocks", "comb", "refill", "auto", "auto, many keys"],
        rows,
    )
}

/// The same batches on every backend that this CPU has.
fn backends(study: &Study, lengths: Lengths) -> String {
    let backends: Vec<&str> = Backend::available().map(Backend::name).collect();
    let rows = study.algorithms().into_iter().map(|id| {
        let mut row = vec![id.to_owned()];
        row.extend(backends.iter().map(|backend| {
            let found = study.on(backend).find(|m| {
                (m.algorithm, m.direction, m.schedule, m.lengths, m.keys)
                    == (id, Direction::Seal, ScheduleName::Auto, lengths, 1)
            });
            found.map_or_else(String::new, |m| {
                let fraction = m.fraction_of_bound.map(|fraction| format!(" ({fraction:.2})"));
                cpb(m.cpb) + &fraction.unwrap_or_default()
            })
        }));
        row
    });
    let mut header = vec!["algorithm"];
    header.extend(&backends);
    table(&format!("{}, sealed in batches by each backend (of its bound)", caption(lengths)), &header, rows)
}

/// Other libraries, sealing one message after the other.
fn peers(study: &Study) -> String {
    let all = lengths_of(study);
    let mut header = vec!["algorithm".to_owned(), "library".to_owned()];
    header.extend(all.iter().map(Lengths::to_string));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for id in study.algorithms() {
        let mut libraries: Vec<&str> = Vec::new();
        for m in study.results.iter().filter(|m| m.algorithm == id) {
            if m.backend.starts_with("peer:") && !libraries.contains(&m.backend.as_str()) {
                libraries.push(&m.backend);
            }
        }
        if libraries.is_empty() {
            continue;
        }
        let cells = |find: &dyn Fn(Lengths) -> Option<f64>| -> Vec<String> {
            all.iter().map(|lengths| find(*lengths).map_or_else(String::new, cpb)).collect()
        };
        for (name, schedule) in
            [("sealcomb, batch", ScheduleName::Auto), ("sealcomb, single", ScheduleName::Single)]
        {
            let ours = cells(&|lengths| study.find(id, Direction::Seal, schedule, lengths).map(|m| m.cpb));
            let shown_id = if schedule == ScheduleName::Auto { id } else { "" };
            rows.push([vec![shown_id.to_owned(), name.to_owned()], ours].concat());
        }
        for library in libraries {
            let of_peer = |lengths| {
                study.on(library).find(|m| m.algorithm == id && m.lengths == lengths).map(|m| m.cpb)
            };
            let name = library.trim_start_matches("peer:").to_owned();
            rows.push([vec![String::new(), name], cells(&of_peer)].concat());
        }
    }
    table("Other libraries, sealing", &header, rows)
}

fn table<H: ToString>(title: &str, header: &[H], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header.iter().map(H::to_string)).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(names) = table.column_mut(0) {
        names.set_cell_alignment(CellAlignment::Left);
    }
    format!("\n{title}\n{table}\n")
}

/// The lengths that everything was compared at.
fn main_lengths(study: &Study) -> Vec<Lengths> {
    lengths_of(study).into_iter().filter(|lengths| is_main(*lengths)).collect()
}

fn lengths_of(study: &Study) -> Vec<Lengths> {
    let mut all: Vec<Lengths> = Vec::new();
    for m in &study.results {
        if !all.contains(&m.lengths) {
            all.push(m.lengths);
        }
    }
    all
}

fn caption(lengths: Lengths) -> String {
    match lengths {
        Lengths::Fixed(bytes) => format!("Messages of {bytes} bytes"),
        Lengths::Mix => "Realistic mix of packet lengths".to_owned(),
        Lengths::Trace => "Packet lengths of the capture".to_owned(),
    }
}

/// In a place where there can be no number.
fn none() -> String {
    "-".to_owned()
}

/// Three significant digits, as the paper has them.
fn cpb(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") }
}
