//! The papers' tables, extended by the figures of this machine.

use super::papers::{self, LENGTHS, Pair, PaperMode};
use super::plan::{MAIN_LENGTH, SWEPT};
use super::results::{Direction, Measurement, MultiplicationChain, Number, ScheduleName, Study};
use super::table::{Table, cpb, speed_up, table};
use super::workload::Lengths;
use crate::list::{parallel, yes};
use sealcomb::study;

/// Returns all tables of the papers; tables without measured figures are empty.
pub(crate) fn tables(study: &Study) -> Vec<Table> {
    vec![
        character(study),
        fixed_length(study),
        realistic_mix(study),
        single_by_length(study),
        batch_by_length(study),
        parallel_cbc(study),
        best_parallelism(study),
        instructions(study),
        doubling(study),
        multiplication(study),
        counted(study),
        near_the_vaes_bound(study),
        headlines(study),
    ]
}

/// Returns the papers' modes that were measured here.
fn modes(study: &Study) -> impl Iterator<Item = &'static PaperMode> {
    papers::MODES.iter().filter(|paper| study.results.iter().any(|m| m.algorithm == paper.id))
}

fn sealed(study: &Study, id: &str, schedule: ScheduleName, lengths: Lengths) -> Option<f64> {
    study.find(id, Direction::Seal, schedule, lengths).map(|m| m.cpb)
}

/// Formats a measurement; empty if there is none.
fn maybe(value: Option<f64>) -> String {
    value.map_or_else(String::new, cpb)
}

/// Formats a figure of a paper with its two decimals.
fn figure(value: f64) -> String {
    format!("{value:.2}")
}

/// Formats the figures of both papers, or one figure if they agree or only the first has it.
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

/// Formats our value, followed by the papers' value in parentheses if it differs.
fn or_theirs(ours: &str, theirs: &str) -> String {
    if ours == theirs { ours.to_owned() } else { format!("{ours} ({theirs})") }
}

/// Properties of the authenticated modes.
pub(crate) fn character(study: &Study) -> Table {
    let rows = modes(study).filter_map(|paper| {
        let ((calls, multiplications), theirs) = (paper.work?, paper.character?);
        let algorithm = study::by_id(paper.id).ok()?;
        let (work, structure) = (algorithm.work(), algorithm.structure());
        debug_assert_eq!(work.rounds, 0, "the papers' modes call AES with all its rounds");
        Some(vec![
            paper.name.to_owned(),
            theirs.year.to_string(),
            or_theirs(parallel(structure.parallel), yes(theirs.parallel)),
            or_theirs(yes(structure.inverse_free), yes(theirs.inverse_free)),
            yes(structure.online).to_owned(),
            or_theirs(&work.calls.to_string(), &calls.to_string()),
            or_theirs(&work.multiplications.to_string(), &multiplications.to_string()),
            yes(theirs.resists_misuse).to_owned(),
            theirs.description.to_owned(),
        ])
    });
    let header =
        ["mode", "year", "parallel", "E⁻¹-free", "online", "E", "M", "resists\nmisuse", "description"];
    table("Authenticated modes (2014: table 1; 2015: table 2)", &header, rows).with_note(
        "E, M: AES calls and multiplications per 16 bytes. In parentheses: the papers' entry if it differs. For CLOC and SILC\n\
         they count one of two chains, and for JAMBU half blocks. Their tables call POET parallel and Julius not, but their\n\
         texts comb POET and not Julius. The column \"online\" is from the catalog, not from the papers.",
    )
}

pub(crate) fn fixed_length(study: &Study) -> Table {
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
            "speedup",
            "2014\nmessages",
            "2014\nsingle",
            "2014\nmultiple",
            "2015\nsingle",
            "2015\ncomb",
            "Skylake\nsingle",
            "Skylake\ncomb",
        ],
        rows,
    )
}

pub(crate) fn realistic_mix(study: &Study) -> Table {
    let rows = modes(study).filter_map(|paper| {
        let single = sealed(study, paper.id, ScheduleName::Single, Lengths::Mix)?;
        let batch = sealed(study, paper.id, ScheduleName::Auto, Lengths::Mix)?;
        let Pair { single: theirs, comb: theirs_comb } = paper.haswell_mix;
        let mut row = vec![paper.name.to_owned(), cpb(single), cpb(batch), speed_up(single, batch)];
        row.extend(pair(Some(paper.haswell_mix)));
        row.push(theirs_comb.map_or_else(|| "-".to_owned(), |comb| speed_up(theirs, comb)));
        let [single, comb] = pair(paper.skylake_mix);
        let illegible = theirs_comb.is_some() && paper.character.is_none();
        row.extend([single, if illegible { "?".to_owned() } else { comb }]);
        Some(row)
    });
    table(
        "Realistic mix of packet lengths (2015: tables 1, 4 and 5; ?: illegible in the paper)",
        &[
            "mode",
            "single",
            "batch",
            "speedup",
            "2015\nsingle",
            "2015\ncomb",
            "2015\nspeedup",
            "Skylake\nsingle",
            "Skylake\ncomb",
        ],
        rows,
    )
}

pub(crate) fn single_by_length(study: &Study) -> Table {
    by_length(
        study,
        "Single messages, by length: here (2014: table 4 / 2015: table 6, if different)",
        ScheduleName::Single,
        |figures, i| both(figures.single[i], Some(figures.single_2015[i])),
    )
}

pub(crate) fn batch_by_length(study: &Study) -> Table {
    by_length(
        study,
        "Several messages, by length: here (2014: table 4 / 2015: table 7, if different)",
        ScheduleName::Auto,
        |figures, i| both(figures.multiple[i], figures.comb.map(|comb| comb[i])),
    )
}

/// Cost of the authenticated modes at the papers' lengths.
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

/// Cost of CBC in comb windows by the number of messages in flight.
pub(crate) fn parallel_cbc(study: &Study) -> Table {
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
        "CBC in comb windows, by messages in flight (2014: table 2; 2015: table 3)",
        &["in flight", "2048", "speedup", "2014", "2015", "mix", "speedup", "2015"],
        rows,
    )
}

/// The best degree of parallelism for each length in the comb's heat maps.
pub(crate) fn best_parallelism(study: &Study) -> Table {
    let Some(first) = study.comb_heat.first() else { return Table::default() };
    let rows = study.comb_heat.iter().map(|map| {
        let best = |column: usize| {
            let cells = map.messages.iter().zip(&map.cpb).map(|(messages, row)| (row[column], messages));
            let best = cells.min_by(|a, b| a.0.total_cmp(&b.0));
            best.map_or_else(String::new, |(cost, messages)| format!("{}:{messages}", cpb(cost)))
        };
        let theirs = papers::MODES.iter().find(|paper| paper.id == map.algorithm);
        let theirs =
            theirs.and_then(|paper| paper.by_length.as_ref()).map(|by_length| by_length.messages.to_string());
        let mode = study::by_id(map.algorithm).map_or(map.algorithm, |algorithm| algorithm.mode());
        let mut row = vec![mode.to_owned()];
        row.extend((0..map.lengths.len()).map(best));
        row.push(theirs.unwrap_or_default());
        row
    });
    let mut header = vec!["mode".to_owned()];
    header.extend(first.lengths.iter().map(usize::to_string));
    header.push("2014".to_owned());
    table(
        "Comb, by length: cycles per byte and best number of messages in flight, 1 to 16 (2014: table 4)",
        &header,
        rows,
    )
}

pub(crate) fn instructions(study: &Study) -> Table {
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

pub(crate) fn doubling(study: &Study) -> Table {
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
        &["operation", "backend", "constant time", "chained", "independent", "papers"],
        rows,
    )
}

/// Cost of both multiplication methods, by message length, in the modes in which the papers compare them.
pub(crate) fn multiplication(study: &Study) -> Table {
    let Some(first) = study.chains.first() else { return Table::default() };
    let mut header = ["mode", "backend", "messages", "multiplication"].map(str::to_owned).to_vec();
    header.extend(first.lengths.iter().map(usize::to_string));
    header.push("unbounded".to_owned());
    let mut rows = Vec::new();
    for chain in study.chains.iter().filter(|chain| chain.method == "classical") {
        let Some(haswell) = other_method(study, chain) else { continue };
        for (messages, batched) in [("single", false), ("8 registers", true)] {
            for chain in [chain, haswell] {
                let (by_length, endless) = if batched {
                    (&chain.batched_by_length, chain.batched)
                } else {
                    (&chain.single_by_length, chain.single)
                };
                let names = [chain.mode, chain.backend, messages, chain.method].map(str::to_owned);
                let numbers = by_length.iter().copied().chain([endless]).map(cpb);
                rows.push(names.into_iter().chain(numbers).collect());
            }
        }
    }
    table(
        "Two modes with each multiplication method, in registers, by length (2014: figure 2; 2015: figure 5)",
        &header,
        rows,
    )
    .with_note(faster_multiplication(study))
}

fn other_method<'s>(study: &'s Study, chain: &MultiplicationChain) -> Option<&'s MultiplicationChain> {
    study
        .chains
        .iter()
        .find(|c| (c.backend, c.mode) == (chain.backend, chain.mode) && c.method != chain.method)
}

/// Names the faster multiplication method, in the papers and here.
fn faster_multiplication(study: &Study) -> String {
    let papers = papers::FASTER_MULTIPLICATION
        .map(|(year, single, batched)| format!("{year}: {single} for single messages, {batched} for eight"));
    let faster = |chain: &MultiplicationChain, cost: fn(&MultiplicationChain) -> f64| {
        let other = other_method(study, chain)?;
        Some(if cost(other) < cost(chain) { other.method } else { chain.method })
    };
    let here: Vec<String> = study
        .chains
        .iter()
        .filter(|chain| chain.backend == study.machine.backend && chain.method == "classical")
        .filter_map(|chain| {
            let (single, batched) = (faster(chain, |c| c.single)?, faster(chain, |c| c.batched)?);
            let (mode, backend) = (chain.mode, chain.backend);
            Some(format!("here, {mode} on {backend}: {single} for single messages, {batched} for eight"))
        })
        .collect();
    format!(
        "Faster method; the papers' texts contradict one another:\n{}\n{}",
        papers.join("\n"),
        here.join("\n")
    )
}

/// Instructions that the VAES paper counts, compared with those that a call executes here.
pub(crate) fn counted(study: &Study) -> Table {
    let measured = |id| study.results.iter().any(|m| m.algorithm == id);
    let rows = papers::COUNTED.iter().filter(|counted| measured(counted.id)).map(|counted| {
        let here = |backend| {
            study
                .instruction_counts
                .iter()
                .find(|c| (c.algorithm, c.backend, c.bytes) == (counted.id, backend, counted.bytes))
                .map(|c| c.instructions as f64)
        };
        let (narrow, wide) = (here("aesni"), here(study.machine.backend));
        let (legacy, vectorized) = (f64::from(counted.legacy), f64::from(counted.vectorized));
        let per_block = |instructions: f64| format!("{:.2}", instructions * 16.0 / counted.bytes as f64);
        vec![
            counted.name.to_owned(),
            counted.bytes.to_string(),
            format!("{legacy:.0} / {vectorized:.0}"),
            format!("{} / {}", per_block(legacy), per_block(vectorized)),
            format!("× {:.2}", counted.ratio),
            counted.id.to_owned(),
            narrow.zip(wide).map_or_else(String::new, |(narrow, wide)| format!("{narrow:.0} / {wide:.0}")),
            narrow.zip(wide).map_or_else(String::new, |(narrow, wide)| {
                format!("{} / {}", per_block(narrow), per_block(wide))
            }),
            narrow.zip(wide).map_or_else(String::new, |(narrow, wide)| format!("× {:.2}", narrow / wide)),
        ]
    });
    table(
        &format!(
            "Instructions per call: AES-NI / VAES (2018: table 1), and here aesni / {}",
            study.machine.backend
        ),
        &[
            "2018",
            "bytes",
            "instructions",
            "per block",
            "ratio",
            "here",
            "instructions",
            "per block",
            "ratio",
        ],
        rows,
    )
}

/// Measured figures compared with the VAES paper's bound for registers of four blocks.
pub(crate) fn near_the_vaes_bound(study: &Study) -> Table {
    let rows = ["aes128-ctr", "aes128-cbc", "aes128-gcm", "aes128-gcm-siv"].into_iter().filter_map(|id| {
        let longest = study
            .on(study.machine.backend)
            .filter(|m| m.algorithm == id && matches!(m.lengths, Lengths::Fixed(_)));
        let lengths = longest.max_by_key(|m| bytes(m.lengths))?.lengths;
        let batch = study.find(id, Direction::Seal, ScheduleName::Auto, lengths)?;
        Some(vec![
            id.to_owned(),
            lengths.to_string(),
            maybe(sealed(study, id, ScheduleName::Single, lengths)),
            cpb(batch.cpb),
            maybe(batch.bound_cpb),
            figure(papers::VAES_BOUND),
        ])
    });
    table(
        "Distance from the VAES bound, at the longest length (2018: 0.16 cycles per byte for all algorithms)",
        &["algorithm", "bytes", "single", "batch", "bound here", "2018"],
        rows,
    )
}

fn bytes(lengths: Lengths) -> usize {
    match lengths {
        Lengths::Fixed(bytes) => bytes,
        Lengths::Mix | Lengths::Trace => 0,
    }
}

/// The papers' claims, whether they hold here, and the figures that decide.
pub(crate) fn headlines(study: &Study) -> Table {
    let label = |number: &Number| {
        let mode = number.algorithm.and_then(|id| study::by_id(id).ok()).map_or("bound", |a| a.mode());
        let how = match number.schedule {
            Some(ScheduleName::Single) => " single",
            Some(_) => " batch",
            None => "",
        };
        let backend = number.backend.filter(|backend| *backend != study.machine.backend);
        format!("{mode}{how}{}", backend.map_or_else(String::new, |name| format!(" {name}")))
    };
    let cell = |numbers: &[Number], digits: fn(f64) -> String| {
        let lines = numbers.iter().map(|number| format!("{} {}", label(number), digits(number.cpb)));
        lines.collect::<Vec<_>>().join("\n")
    };
    let at = |numbers: &[Number]| {
        let lengths = numbers.first().and_then(|number| number.lengths);
        lengths.map_or_else(String::new, |lengths| lengths.to_string())
    };
    let rows = study.headlines.iter().map(|headline| {
        vec![
            headline.paper.to_string(),
            headline.claim.to_owned(),
            yes(headline.holds).to_owned(),
            at(&headline.numbers),
            cell(&headline.numbers, cpb),
            cell(&headline.papers, figure),
        ]
    });
    table(
        "Claims of the papers, and whether they hold on this CPU",
        &["paper", "claim", "holds", "bytes", "here", "the paper"],
        rows,
    )
    .of_text()
    .with_note(
        "For several algorithms or lengths, the figures are those that contradict the claim most. Close: at most 15 % slower;\n\
         about: at least 90 % of the factor. The papers' own figures need these tolerances.",
    )
}
