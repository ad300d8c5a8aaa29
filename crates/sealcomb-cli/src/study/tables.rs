//! The study's named tables on the terminal.

use super::comparison;
use super::plan::{KEYED_LENGTHS, Part, is_main};
use super::results::{Direction, Measurement, ScheduleName, Study};
use super::roofline;
use super::screen;
use super::table::{Table, cpb, speed_up, table};
use super::workload::{BATCH, Lengths};
use clap::ValueEnum;
use sealcomb::Backend;
use std::fmt::Write;

/// A name that `--tables` accepts, for one table or several of one kind.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Name {
    /// Every table
    All,
    /// The papers' claims, with the deciding figures of this CPU and of the papers
    Claims,
    /// Cycles per message and per byte, sealing and opening
    Costs,
    /// Each algorithm at 2048 bytes and with realistic packet lengths, with quartiles and bound
    Modes,
    /// New keys, and batches under several keys
    Keys,
    /// Single messages of every length
    Single,
    /// Batches of every length
    Batch,
    /// Properties of the authenticated modes
    Character,
    /// Messages of 2048 bytes, compared with the papers
    Fixed,
    /// Realistic packet lengths, compared with the papers
    Mix,
    /// Single messages by length, compared with the papers
    PapersSingle,
    /// Batches by length, compared with the papers
    PapersBatch,
    /// CBC by the number of messages in flight
    Sweep,
    /// Best number of messages in flight in the comb
    Comb,
    /// Latency and throughput of instructions
    Instructions,
    /// Multiplication and doubling in GF(2^128)
    Field,
    /// Two modes with each multiplication method
    Multiplication,
    /// Instructions per call
    Counts,
    /// Batches, compared with the VAES paper's bound
    Vaes,
    /// Batches with each schedule
    Schedules,
    /// Batches on each backend
    Backends,
    /// Other libraries
    Libraries,
    /// Demand of a batch on each unit of the CPU
    Units,
}

/// The tables of a name.
struct Entry {
    tables: fn(&Study) -> Vec<Table>,
    parts: &'static [Part],
    /// What a study must include for the table to have rows.
    requires: &'static str,
}

/// Requirement of the tables at the main lengths.
const MAIN: &str = "2048 bytes, the mix or a capture among the lengths";

impl Name {
    /// Returns the optional parts of a study that the tables show.
    pub(crate) fn parts(self) -> &'static [Part] {
        self.entry().parts
    }

    fn entry(self) -> Entry {
        let entry = |tables, parts, requires| Entry { tables, parts, requires };
        match self {
            Self::All => entry(|_| Vec::new(), &Part::ALL, ""),
            Self::Claims => entry(
                |study| vec![comparison::headlines(study)],
                &[],
                "all modes of a claim, and 2048 bytes or the mix among the lengths",
            ),
            Self::Costs => entry(|study| vec![costs(study)], &[Part::Opening], "two lengths in bytes"),
            Self::Modes => entry(|study| at_main(study, modes), &[Part::Opening], MAIN),
            Self::Keys => entry(|study| vec![keys(study)], &[Part::Keys], "an algorithm"),
            Self::Single => entry(|study| vec![by_length(study, ScheduleName::Single)], &[], "an algorithm"),
            Self::Batch => entry(|study| vec![by_length(study, ScheduleName::Auto)], &[], "an algorithm"),
            Self::Character => entry(
                |study| vec![comparison::character(study)],
                &[],
                "one of the papers' authenticated modes",
            ),
            Self::Fixed => entry(
                |study| vec![comparison::fixed_length(study)],
                &[],
                "one of the papers' modes at 2048 bytes",
            ),
            Self::Mix => entry(
                |study| vec![comparison::realistic_mix(study)],
                &[],
                "one of the papers' modes with the mix",
            ),
            Self::PapersSingle => entry(|study| vec![comparison::single_by_length(study)], &[], BY_LENGTH),
            Self::PapersBatch => entry(|study| vec![comparison::batch_by_length(study)], &[], BY_LENGTH),
            Self::Sweep => entry(
                |study| vec![comparison::parallel_cbc(study)],
                &[Part::Sweep],
                "aes128-cbc, and 2048 bytes or the mix among the lengths",
            ),
            Self::Comb => entry(
                |study| vec![comparison::best_parallelism(study)],
                &[Part::HeatMaps],
                "a mode whose blocks form a chain, with a key of 128 bits, at a length in bytes",
            ),
            Self::Instructions => {
                entry(|study| vec![comparison::instructions(study)], &[], "a backend with AES instructions")
            }
            Self::Field => entry(
                |study| vec![comparison::doubling(study)],
                &[Part::Field],
                "a backend with AES instructions",
            ),
            Self::Multiplication => entry(
                |study| vec![comparison::multiplication(study)],
                &[Part::Field],
                "a backend with AES instructions",
            ),
            Self::Counts => {
                entry(|study| vec![comparison::counted(study)], &[Part::Counts], "aes128-ctr or aes128-gmac")
            }
            Self::Vaes => entry(
                |study| vec![comparison::near_the_vaes_bound(study)],
                &[],
                "aes128-ctr, aes128-cbc, aes128-gcm or aes128-gcm-siv at a length in bytes",
            ),
            Self::Schedules => entry(|study| at_main(study, schedules), &[Part::Schedules], MAIN),
            Self::Backends => entry(|study| at_main(study, backends), &[Part::Backends], MAIN),
            Self::Libraries => entry(
                |study| vec![peers(study)],
                &[Part::Libraries],
                "a mode that another library implements",
            ),
            Self::Units => entry(
                |study| vec![roofline::table(study)],
                &[Part::Units],
                "a mode with AES, and a backend with AES instructions",
            ),
        }
    }
}

const BY_LENGTH: &str = "one of the papers' authenticated modes at 128, 256, 512, 1024 or 2048 bytes";

/// Returns the tables of these names, followed by a line for each name without figures that states what it requires.
pub(crate) fn text(study: &Study, names: &[Name]) -> String {
    let all = names.contains(&Name::All);
    let wanted = Name::value_variants().iter().filter(|name| all || names.contains(name));
    let mut text = screen::conditions(study) + &units(study);
    let mut empty = String::new();
    for name in wanted.filter(|name| **name != Name::All) {
        let Entry { tables, requires, .. } = name.entry();
        let tables: String = tables(study).iter().map(Table::to_string).collect();
        if tables.is_empty() {
            let name = name.to_possible_value().expect("none is hidden");
            writeln!(empty, "no table `{}`: it requires {requires}", name.get_name())
                .expect("strings take any text");
        }
        text += &tables;
    }
    text + &empty
}

/// Returns the lines that define the figures.
fn units(study: &Study) -> String {
    format!(
        "Cycles per byte unless stated otherwise: median of {} timings; batches of {BATCH}, one key, no additional data, \
         including\njob construction; sealing in place, opening from one buffer into another. Bound: this CPU's instructions at \
         full rate.\n",
        study.conditions.samples
    )
}

/// Returns one table per main length.
fn at_main(study: &Study, table: fn(&Study, Lengths) -> Table) -> Vec<Table> {
    main_lengths(study).into_iter().map(|lengths| table(study, lengths)).collect()
}

/// Cost of every algorithm at one length, single and batched.
fn modes(study: &Study, lengths: Lengths) -> Table {
    let rows = study.algorithms().into_iter().filter_map(|id| {
        let cell = |direction, schedule| study.find(id, direction, schedule, lengths);
        let single = cell(Direction::Seal, ScheduleName::Single)?;
        let batch = cell(Direction::Seal, ScheduleName::Auto)?;
        let open = cell(Direction::Open, ScheduleName::Auto);
        Some(vec![
            id.to_owned(),
            cpb(single.cpb),
            cpb(batch.cpb),
            format!("{} - {}", cpb(batch.cpb_q1), cpb(batch.cpb_q3)),
            speed_up(single.cpb, batch.cpb),
            batch.bound_cpb.map_or_else(none, cpb),
            batch.fraction_of_bound.map_or_else(none, |fraction| format!("{fraction:.2}")),
            open.map_or_else(String::new, |open| cpb(open.cpb)),
        ])
    });
    table(
        &caption(lengths),
        &["algorithm", "seal single", "batch", "quartiles", "speedup", "bound", "of bound", "open batch"],
        rows,
    )
}

/// Cost of sealing with every algorithm, by length.
fn by_length(study: &Study, schedule: ScheduleName) -> Table {
    let all = study.lengths();
    let rows = study.algorithms().into_iter().map(|id| {
        let mut row = vec![id.to_owned()];
        row.extend(all.iter().map(|lengths| {
            let found = study.find(id, Direction::Seal, schedule, *lengths);
            found.map_or_else(String::new, |m| cpb(m.cpb))
        }));
        let cost = study.cost(id, Direction::Seal, schedule);
        row.push(cost.map_or_else(String::new, |cost| format!("{:.0}", cost.cycles_per_message)));
        row.push(cost.map_or_else(String::new, |cost| cpb(cost.cycles_per_byte)));
        row
    });
    let mut header = vec!["algorithm".to_owned()];
    header.extend(all.iter().map(Lengths::to_string));
    header.extend(["cycles\n/message".to_owned(), "cycles\n/byte".to_owned()]);
    let title = match schedule {
        ScheduleName::Single => "Sealing single messages, by length",
        _ => "Sealing batches, by length",
    };
    table(title, &header, rows)
}

/// Cost of batches with each schedule.
fn schedules(study: &Study, lengths: Lengths) -> Table {
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
        let mut row = vec![id.to_owned()];
        row.extend(schedules.map(best));
        Some(row)
    });
    table(
        &format!("{}, sealed with each schedule", caption(lengths)),
        &["algorithm", "single", "blocks", "comb", "refill", "auto"],
        rows,
    )
}

/// Cost per message and per byte.
fn costs(study: &Study) -> Table {
    let rows = study.algorithms().into_iter().filter_map(|id| {
        let mut row = vec![id.to_owned()];
        for direction in [Direction::Seal, Direction::Open] {
            for schedule in [ScheduleName::Single, ScheduleName::Auto] {
                let cost = study.cost(id, direction, schedule)?;
                row.push(format!("{:.0} + {}", cost.cycles_per_message, cpb(cost.cycles_per_byte)));
            }
        }
        Some(row)
    });
    table(
        "Cost of a message: cycles + cycles per byte",
        &["algorithm", "seal single", "seal batch", "open single", "open batch"],
        rows,
    )
    .with_note("Best-fit line through all lengths, including job construction.")
}

/// Cost of new keys, and of batches under several keys.
fn keys(study: &Study) -> Table {
    let main = main_lengths(study);
    let rows = study.keys.iter().map(|cost| {
        let mut row = vec![cost.algorithm.to_owned(), format!("{:.0}", cost.new)];
        row.extend(cost.with_message.iter().map(|(_, cycles)| format!("{cycles:.0}")));
        for lengths in &main {
            let under = |keys: fn(usize) -> bool| {
                study.on(study.machine.backend).find(|m| {
                    (m.algorithm, m.direction, m.schedule, m.lengths)
                        == (cost.algorithm, Direction::Seal, ScheduleName::Auto, *lengths)
                        && keys(m.keys)
                })
            };
            let one = under(|keys| keys == 1);
            for several in [under(|keys| keys == 2), under(|keys| keys == BATCH)] {
                let ratio = several.zip(one).map(|(several, one)| several.cpb / one.cpb);
                row.push(ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
            }
        }
        row
    });
    let mut header = vec!["algorithm".to_owned(), "new key".to_owned()];
    header.extend(KEYED_LENGTHS.map(|bytes| format!("with {bytes}\nbytes")));
    for lengths in &main {
        header.extend([2, BATCH].map(|keys| format!("{lengths},\n{keys} keys")));
    }
    table("Cost of keys", &header, rows).with_note(format!(
        "Cycles for a new key, and for a new key with the only message sealed under it, including dropping the key. Then the\n\
         time of batches of {BATCH} messages under 2 and under {BATCH} keys, over the time under one key."
    ))
}

/// Cost of batches on every backend that this CPU supports.
fn backends(study: &Study, lengths: Lengths) -> Table {
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
    table(
        &format!("{}, sealed in batches on each backend (fraction of its bound)", caption(lengths)),
        &header,
        rows,
    )
}

/// Cost of sealing with other libraries, one message after the other.
fn peers(study: &Study) -> Table {
    let all = study.lengths();
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

/// Returns the main lengths that were measured.
fn main_lengths(study: &Study) -> Vec<Lengths> {
    study.lengths().into_iter().filter(|lengths| is_main(*lengths)).collect()
}

fn caption(lengths: Lengths) -> String {
    match lengths {
        Lengths::Fixed(bytes) => format!("Messages of {bytes} bytes"),
        Lengths::Mix => "Realistic mix of packet lengths".to_owned(),
        Lengths::Trace => "Packet lengths of the capture".to_owned(),
    }
}

/// Returns the text of a cell that cannot have a figure.
fn none() -> String {
    "-".to_owned()
}
