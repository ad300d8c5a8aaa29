//! The figures of a run as JSON.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::cell::Cell;

/// Schema identifier of the JSON.
const SCHEMA: &str = "sealcomb-bench/1";

/// The figures of a run.
#[derive(Serialize)]
pub(crate) struct Run {
    schema: String,
    /// Names and versions of the other libraries.
    pub(crate) libraries: String,
    cells: Vec<Figures>,
}

/// The figures of a cell.
#[derive(Serialize)]
struct Figures {
    backend: String,
    algorithm: String,
    direction: String,
    layout: String,
    keys: String,
    /// Message length in bytes, or `mix`.
    bytes: String,
    batch: usize,
    cycles_per_message: f64,
    fastest_other: Option<Other>,
}

/// The fastest other library, and quartiles of its time over sealcomb's.
#[derive(Serialize)]
struct Other {
    library: String,
    q1: f64,
    median: f64,
    q3: f64,
}

impl Run {
    pub(crate) fn new(libraries: &str, cells: &[Cell]) -> Self {
        Self {
            schema: SCHEMA.into(),
            libraries: libraries.to_owned(),
            cells: cells.iter().map(Figures::of).collect(),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")
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
            backend: cell.case.backend.name().to_owned(),
            algorithm: cell.case.algorithm.id().to_owned(),
            direction: cell.case.direction.to_string(),
            layout: cell.case.layout.to_string(),
            keys: cell.case.keys.to_string(),
            bytes: cell.case.lengths.to_string(),
            batch: cell.case.batch,
            cycles_per_message: cell.cycles_per_message,
            fastest_other: other,
        }
    }
}
