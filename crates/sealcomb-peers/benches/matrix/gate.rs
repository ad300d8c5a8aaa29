//! The comparison with an earlier commit of sealcomb: no cell may take longer than there.

use std::process::ExitCode;

use indicatif::ProgressBar;
use sealcomb_timing::Clock;

use crate::Arguments;
use crate::cell::{Case, Cell};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use crate::count;
use crate::lengths::Lengths;
use crate::tables;

/// Size of a short message in bytes. The times of short messages vary more from build to build.
const SHORT: usize = 512;

/// Instructions are counted for short messages in batches of at most this size: long messages execute loops, and in larger
/// batches the other messages are processed like these. Tracing takes ten microseconds per branch.
const COUNTED: usize = 16;

/// A slower cell is measured again up to this number of times, each time longer: most are disturbed measurements.
const AGAIN: usize = 4;

fn is_short(case: &Case) -> bool {
    matches!(case.lengths, Lengths::All(bytes) if bytes <= SHORT)
}

/// Returns the part by which a cell may be slower.
fn limit(case: &Case) -> f64 {
    if is_short(case) { 0.05 } else { 0.02 }
}

/// Returns the time of the earlier commit over ours.
fn ratio(cell: &Cell) -> f64 {
    cell.fastest_peer().map_or(1.0, |earlier| earlier.ratio.median)
}

fn is_slower(cell: &Cell) -> bool {
    ratio(cell) < 1.0 / (1.0 + limit(&cell.case))
}

/// Measures slower cells again, and prints the means and the slowest cells. Fails if some stay slower.
pub(crate) fn judge(clock: &mut Clock, mut cells: Vec<Cell>, arguments: &Arguments) -> ExitCode {
    for time in 1..=AGAIN {
        for cell in cells.iter_mut().filter(|cell| is_slower(cell)) {
            *cell = Cell::measure(clock, cell.case, arguments.turns * (time + 1));
        }
    }
    let counted = counts(&cells);
    println!("\nearlier commit over this one, geometric means:");
    let mut table = tables::new_table(["cells", "number", "cycles", "instructions"]);
    for group in counted.chunk_by(|(a, _), (b, _)| a.case.same_table(&b.case)) {
        table.add_row([
            group[0].0.case.table(),
            group.len().to_string(),
            mean(group.iter().map(|(cell, _)| ratio(cell))),
            mean(group.iter().filter_map(|(_, counts)| counts.map(Counts::ratio))),
        ]);
    }
    println!("{table}");

    let slower = cells.iter().filter(|cell| is_slower(cell)).count();
    let mut worst: Vec<_> = counted.iter().collect();
    worst.sort_by(|(a, _), (b, _)| ratio(a).total_cmp(&ratio(b)));
    println!("\nslowest cells:");
    let header =
        ["cells", "bytes", "batch", "cycles", "earlier over this", "instructions", "earlier over this"];
    let mut table = tables::new_table(header);
    for (cell, counts) in worst.into_iter().take(arguments.worst.max(slower)) {
        table.add_row([
            cell.case.table(),
            cell.case.row(),
            cell.case.batch.to_string(),
            format!("{:.0}", cell.cycles_per_message),
            format!("{:.3}", ratio(cell)),
            counts.map_or_else(String::new, |counts| format!("{:.0}", counts.ours)),
            counts.map_or_else(String::new, |counts| format!("{:.3}", counts.ratio())),
        ]);
    }
    println!("{table}");
    println!(
        "{slower} of {} cells take longer than at the earlier commit: by more than 5 % up to {SHORT} bytes, otherwise 2 %",
        cells.len()
    );
    if slower == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Instructions per message.
#[derive(Clone, Copy)]
struct Counts {
    ours: f64,
    earlier: f64,
}

impl Counts {
    fn ratio(self) -> f64 {
        self.earlier / self.ours
    }
}

/// Counts the instructions of each cell, of one batch.
fn counts(cells: &[Cell]) -> Vec<(&Cell, Option<Counts>)> {
    let progress = ProgressBar::new(cells.len() as u64);
    let counted = cells.iter().map(|cell| {
        progress.inc(1);
        (cell, Counts::of(cell))
    });
    let counted = counted.collect();
    progress.finish_and_clear();
    counted
}

impl Counts {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn of(cell: &Cell) -> Option<Self> {
        if !is_short(&cell.case) || cell.case.batch > COUNTED {
            return None;
        }
        let [ours, earlier] = [false, true].map(|earlier| count::instructions(&cell.case, earlier));
        Some(Self { ours: ours?, earlier: earlier? })
    }

    /// Calls cannot be traced on this platform.
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    fn of(_: &Cell) -> Option<Self> {
        None
    }
}

/// Returns the geometric mean, or nothing if there are no ratios.
fn mean(ratios: impl Iterator<Item = f64>) -> String {
    let logs: Vec<f64> = ratios.map(f64::ln).collect();
    if logs.is_empty() {
        return String::new();
    }
    format!("{:.3}", (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}
