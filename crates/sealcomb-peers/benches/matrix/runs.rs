//! The figures of a run as JSON, and their comparison with those of an earlier run.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::tables::new_table;

/// Schema identifier of the JSON.
const SCHEMA: &str = "sealcomb-bench/1";

/// The figures of a run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Run {
    schema: String,
    pub(crate) backend: String,
    /// Names and versions of the other libraries.
    pub(crate) libraries: String,
    cells: Vec<Figures>,
}

/// The figures of a cell.
#[derive(Serialize, Deserialize)]
struct Figures {
    algorithm: String,
    direction: String,
    layout: String,
    /// Message length in bytes, or `mix`.
    bytes: String,
    batch: usize,
    cycles_per_message: f64,
    fastest_other: Option<Other>,
}

/// The fastest other library, and quartiles of its time over sealcomb's.
#[derive(Serialize, Deserialize)]
struct Other {
    library: String,
    q1: f64,
    median: f64,
    q3: f64,
}

impl Run {
    pub(crate) fn new(backend: &str, libraries: &str, cells: &[Cell]) -> Self {
        Self {
            schema: SCHEMA.into(),
            backend: backend.to_owned(),
            libraries: libraries.to_owned(),
            cells: cells.iter().map(Figures::of).collect(),
        }
    }

    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        let text = std::fs::read(path).map_err(named)?;
        serde_json::from_slice(&text).map_err(|error| named(error.into()))
    }

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")
    }

    /// Prints the cells that are also in an earlier run and have slowed down most, at most `count`.
    pub(crate) fn print_changes(&self, earlier: &Self, count: usize) {
        let both = self.cells.iter().filter_map(|cell| {
            let before = earlier.cells.iter().find(|before| before.is_same_cell(cell))?;
            Some((cell, before, cell.cycles_per_message / before.cycles_per_message))
        });
        let mut both: Vec<_> = both.collect();
        both.sort_by(|a, b| b.2.total_cmp(&a.2));
        println!("\nearlier run: backend {}, {}", earlier.backend, earlier.libraries);
        if both.is_empty() {
            println!("no cell was measured in both runs");
            return;
        }
        let logs: f64 = both.iter().map(|(_, _, ratio)| ratio.ln()).sum();
        let mean = (logs / both.len() as f64).exp();
        println!("geometric mean of the times of {} cells over the earlier ones: {mean:.3}", both.len());
        let mut table = new_table([
            "algorithm",
            "direction",
            "layout",
            "bytes",
            "batch",
            "earlier cycles per message",
            "cycles per message",
            "time over earlier",
            "earlier time of the fastest other over ours",
            "time of the fastest other over ours",
        ]);
        for (cell, before, ratio) in both.iter().take(count) {
            table.add_row([
                cell.algorithm.clone(),
                cell.direction.clone(),
                cell.layout.clone(),
                cell.bytes.clone(),
                cell.batch.to_string(),
                format!("{:.0}", before.cycles_per_message),
                format!("{:.0}", cell.cycles_per_message),
                format!("{ratio:.2}"),
                before.other_over_ours(),
                cell.other_over_ours(),
            ]);
        }
        println!("{table}");
    }
}

impl Figures {
    fn of(cell: &Cell) -> Self {
        let other = cell.fastest_peer().map(|peer| Other {
            library: peer.library.clone(),
            q1: peer.ratio.q1,
            median: peer.ratio.median,
            q3: peer.ratio.q3,
        });
        Self {
            algorithm: cell.case.algorithm.id().to_owned(),
            direction: cell.case.direction.to_string(),
            layout: cell.case.layout.to_string(),
            bytes: cell.case.lengths.to_string(),
            batch: cell.case.batch,
            cycles_per_message: cell.cycles_per_message,
            fastest_other: other,
        }
    }

    fn is_same_cell(&self, other: &Self) -> bool {
        let of = |figures: &Self| {
            let Self { algorithm, direction, layout, bytes, batch, .. } = figures;
            [algorithm, direction, layout, bytes, &batch.to_string()].map(String::clone)
        };
        of(self) == of(other)
    }

    fn other_over_ours(&self) -> String {
        self.fastest_other.as_ref().map_or_else(String::new, |other| format!("{:.2}", other.median))
    }
}
