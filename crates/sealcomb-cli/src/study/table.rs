//! A table of the study, for the terminal and the report.

use comfy_table::presets::{UTF8_FULL, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, ContentArrangement, Table as Grid};
use serde::Serialize;
use std::fmt;

/// Maximum width of a table on the terminal, in columns.
const WIDTH: u16 = 118;

/// A table with a title, column names, and rows with as many cells. A table without rows prints as nothing.
#[derive(Serialize, Default, Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Explanation below the table.
    pub(crate) note: String,
    /// Whether the cells are text, which is wrapped if it is too long.
    #[serde(skip)]
    text: bool,
}

impl Table {
    pub(crate) fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    pub(crate) fn of_text(self) -> Self {
        Self { text: true, ..self }
    }
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
        ..Table::default()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut grid = Grid::new();
        grid.load_style(UTF8_FULL_CONDENSED).set_header(&self.header).add_rows(&self.rows);
        if self.text {
            grid.load_style(UTF8_FULL).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
        } else {
            for column in grid.column_iter_mut() {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if let Some(names) = grid.column_mut(0) {
                names.set_cell_alignment(CellAlignment::Left);
            }
        }
        writeln!(f, "\n{}\n{grid}", self.title)?;
        if self.note.is_empty() { Ok(()) } else { writeln!(f, "{}", self.note) }
    }
}

/// Formats how many times as fast a batch is.
pub(crate) fn speed_up(single: f64, batch: f64) -> String {
    format!("× {:.1}", single / batch)
}

/// Formats cycles per byte with at least three significant digits.
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

    #[test]
    fn a_note_follows_its_table_and_is_omitted_without_one() {
        let modes = |rows| table("Modes", &["mode"], rows).with_note("a note");
        assert!(modes(vec![vec!["CBC".to_owned()]]).to_string().ends_with("\na note\n"));
        assert_eq!(modes(vec![]).to_string(), "");
    }

    #[test]
    fn a_table_of_text_is_no_wider_than_a_terminal() {
        let long = ["word"; 60].join(" ");
        let text = table("Text", &["one", "two"], [vec![long.clone(), long]]).of_text().to_string();
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(WIDTH)), "{text}");
    }
}
