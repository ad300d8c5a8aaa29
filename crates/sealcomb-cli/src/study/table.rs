//! A table of the study: the same on the terminal and in the report.

use comfy_table::{CellAlignment, Table as Grid, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;
use std::fmt;

/// A title, the names of the columns, and rows of as many cells. Without rows it is no table, and prints as nothing.
#[derive(Serialize, Default, Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

pub(crate) fn table<H: ToString>(
    title: &str,
    header: &[H],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    Table {
        title: title.to_owned(),
        header: header.iter().map(H::to_string).collect(),
        rows: rows.into_iter().collect(),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut grid = Grid::new();
        grid.load_style(UTF8_FULL_CONDENSED).set_header(&self.header).add_rows(&self.rows);
        for column in grid.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if let Some(names) = grid.column_mut(0) {
            names.set_cell_alignment(CellAlignment::Left);
        }
        writeln!(f, "\n{}\n{grid}", self.title)
    }
}

/// How many times as fast.
pub(crate) fn speed_up(single: f64, batch: f64) -> String {
    format!("× {:.1}", single / batch)
}

/// Three significant digits, or more.
pub(crate) fn cpb(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_rows_prints_as_nothing() {
        assert_eq!(table("Nothing", &["mode"], []).to_string(), "");
    }

    #[test]
    fn a_table_prints_its_title_its_header_and_its_rows() {
        let text = table("Modes", &["mode", "cpb"], [vec!["CBC".to_owned(), cpb(0.25)]]).to_string();
        for part in ["\nModes\n", "mode", "CBC", "0.250"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
