//! A study on one screen: the machine, the papers' claims, and what each mode costs.

use super::papers;
use super::plan::is_main;
use super::results::{Direction, Headline, Instruction, Number, ScheduleName, Study};
use super::workload::{BATCH, Lengths};
use crate::list::yes;
use sealcomb::study;
use std::fmt::Write;
use std::thread;

/// Width of the screen in columns.
const WIDTH: usize = 118;

/// Space between two columns of a grid.
const GAP: &str = "  ";

/// Space between the two halves of a grid.
const GUTTER: &str = "  ";

/// Minimum number of rows of a grid with two halves.
const MIN_ROWS_OF_HALVES: usize = 8;

/// Prefix of most algorithms' ids, which the screen omits.
const USUAL_PREFIX: &str = "aes128-";

/// Load per core above which other processes disturb the measurement.
const MAX_LOAD: f64 = 0.5;

const MORE: &str = "
More: --tables all|NAME,... for detailed tables (names: `sealcomb study --help`); --report FILE.html for curves and
heat maps; --full for every key size, length and heat-map cell (takes 17 to 20 minutes)
";

/// Returns the whole screen.
pub(crate) fn text(study: &Study) -> String {
    [&conditions(study), &claims(study), &modes(study), MORE].concat()
}

/// Returns the lines about the machine and the conditions of the measurement.
pub(crate) fn conditions(study: &Study) -> String {
    let (machine, conditions) = (&study.machine, &study.conditions);
    let mut lines = vec![format!("{}, backend {}", machine.cpu, machine.backend)];
    let measured = study.instructions.iter().filter(|i| i.backend == machine.backend);
    let instructions: Vec<String> = measured
        .filter(|i| SHOWN.contains(&i.operation))
        .map(|i| {
            let Instruction { operation, latency, inverse_throughput, .. } = i;
            format!("{operation}: latency {latency:.1}, one every {inverse_throughput:.2} cycles")
        })
        .collect();
    lines.push(instructions.join("; "));
    lines.push(format!(
        "per cycle: {:.2} AES block rounds, {:.2} carry-less products; cycle counts: {}; median of {} timings",
        machine.aes_rounds_per_cycle, machine.clmul_per_cycle, machine.cycles, conditions.samples
    ));
    let commit = conditions.commit.map(|commit| format!(" ({commit})"));
    let parts = [
        Some(format!("sealcomb {}{}", conditions.version, commit.unwrap_or_default())),
        Some(conditions.date.clone()),
        conditions.kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        conditions.governor.as_ref().map(|governor| format!("governor {governor}")),
        conditions.load.map(|load| format!("load {load:.2}")),
    ];
    lines.push(parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    let cores = thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    if let Some(load) = conditions.load.filter(|load| *load > MAX_LOAD * cores) {
        lines.push(format!(
            "warning: load {load:.2}; other processes make the figures noisy, repeat the study on an idle machine"
        ));
    }
    lines.join("\n") + "\n"
}

/// The instructions that the screen shows.
const SHOWN: [&str; 2] = ["aesenc", "pclmulqdq"];

const WRITABLE: &str = "strings take any text";

/// Returns the grid of modes: the best-fit line through all fixed lengths, if there are several, and the cost at one
/// length.
fn modes(study: &Study) -> String {
    let lengths = study.lengths();
    let compared = compared(&lengths);
    let has_costs = !study.costs.is_empty();
    let shown = if has_costs { vec![compared] } else { lengths };
    let header = header(&shown, has_costs);
    let rows: Vec<Vec<String>> =
        study.algorithms().into_iter().filter_map(|id| row(study, id, &shown, compared, has_costs)).collect();
    let costs = if has_costs { ": cycles per message + cycles per byte" } else { "" };
    format!(
        "\nSealing{costs}; at {}: cycles per byte, batch gain, fraction of bound\n{}",
        shown.iter().map(|lengths| caption(*lengths)).collect::<Vec<_>>().join(", "),
        grid(&header, &rows)
    )
}

/// Returns the length to compare at: that of the user's packets if there is a capture, otherwise that of the papers.
fn compared(lengths: &[Lengths]) -> Lengths {
    let main = lengths.iter().rev().find(|lengths| is_main(**lengths) && **lengths != Lengths::Mix);
    *main.or(lengths.last()).expect("a study has at least one length")
}

fn header(shown: &[Lengths], has_costs: bool) -> Vec<String> {
    let mut header = vec!["mode".to_owned()];
    if has_costs {
        header.extend(["single", "batch"].map(str::to_owned));
    }
    for lengths in shown {
        if !has_costs {
            header.push(format!("{lengths}: single"));
        }
        header.push(if has_costs { lengths.to_string() } else { "batch".to_owned() });
    }
    header.extend(["gain", "bound"].map(str::to_owned));
    header
}

/// Returns an algorithm's figures in the order of [`header`], or `None` if one was not measured.
fn row(
    study: &Study,
    id: &str,
    shown: &[Lengths],
    compared: Lengths,
    has_costs: bool,
) -> Option<Vec<String>> {
    let sealed = |schedule, lengths| study.find(id, Direction::Seal, schedule, lengths);
    let mut row = vec![id.strip_prefix(USUAL_PREFIX).unwrap_or(id).to_owned()];
    if has_costs {
        for schedule in [ScheduleName::Single, ScheduleName::Auto] {
            let cost = study.cost(id, Direction::Seal, schedule)?;
            row.push(format!("{:.0} + {}", cost.cycles_per_message, digits(cost.cycles_per_byte)));
        }
    }
    for &lengths in shown {
        if !has_costs {
            row.push(digits(sealed(ScheduleName::Single, lengths)?.cpb));
        }
        row.push(digits(sealed(ScheduleName::Auto, lengths)?.cpb));
    }
    let batch = sealed(ScheduleName::Auto, compared)?;
    row.push(gain(sealed(ScheduleName::Single, compared)?.cpb, batch.cpb));
    row.push(batch.fraction_of_bound.map_or_else(|| "-".to_owned(), |fraction| format!("{fraction:.2}")));
    Some(row)
}

fn caption(lengths: Lengths) -> String {
    match lengths {
        Lengths::Fixed(bytes) => format!("{bytes} bytes"),
        Lengths::Mix => "the mix".to_owned(),
        Lengths::Trace => "the capture".to_owned(),
    }
}

/// Returns one line per claim of the papers, with the measured figures.
fn claims(study: &Study) -> String {
    let headlines = &study.headlines;
    if headlines.is_empty() {
        return String::new();
    }
    let widest = headlines.iter().map(|headline| headline.claim.chars().count()).max().unwrap_or_default();
    let mut text = format!(
        "\nClaims of the papers: {} of {} hold on this CPU (cycles per byte, batches of {BATCH})\n",
        headlines.iter().filter(|headline| headline.holds).count(),
        headlines.len()
    );
    for headline in headlines {
        let Headline { paper, claim, holds, .. } = headline;
        let figures = figures(headline);
        writeln!(text, "{paper} {:<3}  {claim:<widest$}  {figures}", yes(*holds)).expect(WRITABLE);
    }
    text
}

/// Formats the numbers that decide a claim, and their message length.
fn figures(headline: &Headline) -> String {
    let named = |number: &Number| format!("{} {}", name(number), digits(number.cpb));
    let figures = match &headline.numbers[..] {
        [slow, fast] if slow.algorithm == fast.algorithm => {
            format!("{} / {} = {}", named(slow), digits(fast.cpb), gain(slow.cpb, fast.cpb))
        }
        numbers => numbers.iter().map(named).collect::<Vec<_>>().join(", "),
    };
    let lengths = headline.numbers.first().and_then(|number| number.lengths);
    figures + &lengths.map_or_else(String::new, |lengths| format!(" at {lengths}"))
}

/// Returns the papers' name of the algorithm.
fn name(number: &Number) -> &'static str {
    let id = number.algorithm.unwrap_or("bound");
    let theirs = papers::MODES.iter().find(|paper| paper.id == id).map(|paper| paper.name);
    theirs.or_else(|| study::by_id(id).ok().map(sealcomb::Algorithm::mode)).unwrap_or(id)
}

fn gain(single: f64, batch: f64) -> String {
    format!("×{:.1}", single / batch)
}

/// Formats a value with at least three significant digits.
fn digits(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.3}"),
        1.0..10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

/// Formats rows below a header, in two halves side by side if there are many rows and both halves fit.
fn grid(header: &[String], rows: &[Vec<String>]) -> String {
    let all = || std::iter::once(header).chain(rows.iter().map(Vec::as_slice));
    let widths: Vec<usize> = (0..header.len())
        .map(|column| all().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .collect();
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join(GAP)
    };
    let width = widths.iter().sum::<usize>() + GAP.len() * (widths.len() - 1);
    let halves = if rows.len() >= MIN_ROWS_OF_HALVES && 2 * width + GUTTER.len() <= WIDTH { 2 } else { 1 };
    let height = rows.len().div_ceil(halves);
    let mut text = vec![line(header); halves].join(GUTTER) + "\n";
    for i in 0..height {
        let side_by_side: Vec<String> = rows.iter().skip(i).step_by(height).map(|row| line(row)).collect();
        text += &(side_by_side.join(GUTTER) + "\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::plan::MAIN_LENGTH;

    fn rows(count: usize) -> Vec<Vec<String>> {
        (1..=count).map(|i| vec![format!("mode-{i}"), format!("{i}.0")]).collect()
    }

    fn header() -> Vec<String> {
        ["mode", "single"].map(str::to_owned).to_vec()
    }

    #[test]
    fn few_rows_form_one_column() {
        let text = grid(&header(), &rows(2));
        assert_eq!(text, "mode    single\nmode-1     1.0\nmode-2     2.0\n");
    }

    #[test]
    fn many_rows_form_two_halves() {
        let text = grid(&header(), &rows(9));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 5);
        assert_eq!(lines[1], "mode-1     1.0  mode-6     6.0");
        assert_eq!(lines[5], "mode-5     5.0");
    }

    #[test]
    fn halves_that_do_not_fit_form_one_column() {
        let wide: Vec<Vec<String>> =
            rows(9).into_iter().map(|row| vec![row[0].repeat(9), row[1].clone()]).collect();
        assert_eq!(grid(&header(), &wide).lines().count(), 1 + 9);
    }

    #[test]
    fn a_capture_is_compared_first_then_the_papers_length() {
        let (fixed, mix, trace) = (Lengths::Fixed, Lengths::Mix, Lengths::Trace);
        assert_eq!(compared(&[fixed(64), fixed(MAIN_LENGTH), trace]), trace);
        assert_eq!(compared(&[fixed(64), fixed(MAIN_LENGTH), fixed(8192), mix]), fixed(MAIN_LENGTH));
        assert_eq!(compared(&[fixed(64), mix]), mix);
        assert_eq!(compared(&[fixed(64), fixed(128)]), fixed(128));
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!([0.3124, 2.607, 31.4].map(digits), ["0.312", "2.61", "31.4"]);
    }
}
