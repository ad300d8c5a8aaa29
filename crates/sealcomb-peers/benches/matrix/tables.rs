//! The tables of cells.

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};

use crate::cell::{Cell, PeerTime};

/// Prints the cells in which sealcomb is slowest compared with the fastest other library.
pub(crate) fn print_worst(cells: &[Cell], count: usize) {
    let mut sorted: Vec<(&Cell, &PeerTime)> =
        cells.iter().filter_map(|cell| Some((cell, cell.fastest_peer()?))).collect();
    sorted.sort_by(|a, b| a.1.ratio.median.total_cmp(&b.1.ratio.median));
    let slower = sorted.iter().filter(|(_, peer)| peer.ratio.median < 1.0).count();
    println!("\nfastest in {} of {} cells; worst cells:", sorted.len() - slower, sorted.len());
    let mut table = new_table([
        "backend",
        "algorithm",
        "direction",
        "bytes",
        "batch",
        "cycles per message",
        "fastest other",
        "time over ours",
        "quartiles",
    ]);
    for (cell, peer) in sorted.iter().take(count) {
        table.add_row([
            cell.case.backend.name().to_owned(),
            cell.case.algorithm.id().to_owned(),
            cell.case.direction.to_string(),
            cell.case.row(),
            cell.case.batch.to_string(),
            format!("{:.0}", cell.cycles_per_message),
            peer.library.clone(),
            format!("{:.2}", peer.ratio.median),
            format!("{:.2} - {:.2}", peer.ratio.q1, peer.ratio.q3),
        ]);
    }
    println!("{table}");
}

/// Prints a table per algorithm and direction with all cells: cycles per message, and the time of the fastest other
/// library over ours.
pub(crate) fn print_all(cells: &[Cell], batches: &[usize]) {
    for cells in cells.chunk_by(|a, b| a.case.same_table(&b.case)) {
        let case = cells[0].case;
        println!("\n{}: cycles per message; time of the fastest other library over ours", case.table());
        let header = batches.iter().map(|batch| format!("batch of {batch}"));
        let mut table = new_table(std::iter::once("bytes".to_owned()).chain(header));
        for row in cells.chunk_by(|a, b| a.case.same_row(&b.case)) {
            table.add_row(std::iter::once(row[0].case.row()).chain(row.iter().map(summary)));
        }
        println!("{table}");
    }
}

fn summary(cell: &Cell) -> String {
    let cycles = cell.cycles_per_message;
    cell.fastest_peer().map_or_else(
        || format!("{cycles:.0}"),
        |peer| {
            let library = peer.library.split('-').next().unwrap_or_default();
            format!("{cycles:.0}; {:.2} {library}", peer.ratio.median)
        },
    )
}

pub(crate) fn new_table(header: impl IntoIterator<Item = impl Into<comfy_table::Cell>>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header.into_iter().collect::<Vec<_>>());
    table
}
