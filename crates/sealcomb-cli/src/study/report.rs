//! The report: one self-contained HTML file, drawn from the results in JSON.

use super::comparison;
use super::papers;
use super::results::Study;
use super::roofline;
use super::table::Table;
use anyhow::Result;
use sealcomb::study::ALGORITHMS;
use serde_json::json;

const PAGE: &str = include_str!("report.html");

/// Placeholder for the data in the page.
const PLACEHOLDER: &str = "\"DATA\"";

/// Returns the page with the study, the papers' figures, and the tables that compare both.
pub(crate) fn html(study: &Study) -> Result<String> {
    let algorithms: Vec<_> = ALGORITHMS
        .iter()
        .map(|algorithm| {
            json!({
                "id": algorithm.id(),
                "name": algorithm.name(),
                "mode": algorithm.mode(),
                "cipher": algorithm.name().trim_end_matches(algorithm.mode()).trim_end_matches('-'),
            })
        })
        .collect();
    let tables: Vec<Table> =
        comparison::tables(study).into_iter().filter(|table| !table.rows.is_empty()).collect();
    let data = serde_json::to_string(&json!({
        "study": study,
        "algorithms": algorithms,
        "papers": {
            "lengths": papers::LENGTHS,
            "modes": papers::MODES,
            "parallel_cbc": papers::PARALLEL_CBC,
        },
        "tables": tables,
        "units": roofline::table(study),
    }))?;
    // A script element ends at "</", even within a string.
    Ok(PAGE.replacen(PLACEHOLDER, &data.replace("</", "<\\/"), 1))
}
