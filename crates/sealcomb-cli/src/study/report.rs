//! The report: one HTML file that needs nothing else, drawn from the same results that `--json` writes.

use super::papers;
use super::results::Study;
use anyhow::Result;
use sealcomb::ALGORITHMS;
use serde_json::json;

const PAGE: &str = include_str!("report.html");

/// Where the page expects its data.
const PLACE: &str = "\"DATA\"";

/// The page with the study in it.
pub(crate) fn html(study: &Study) -> Result<String> {
    let algorithms: Vec<_> = ALGORITHMS
        .iter()
        .map(|algorithm| {
            let paper = papers::of(algorithm);
            json!({
                "id": algorithm.id,
                "name": algorithm.name,
                "mode": algorithm.mode,
                "cipher": algorithm.name.trim_end_matches(algorithm.mode).trim_end_matches('-'),
                "paper": paper.map(|paper| json!({
                    "single": paper.haswell.single,
                    "comb": paper.haswell.comb,
                    "single_mix": paper.haswell_mix.single,
                    "comb_mix": paper.haswell_mix.comb,
                })),
            })
        })
        .collect();
    let data = serde_json::to_string(&json!({
        "study": study,
        "algorithms": algorithms,
        "paper": { "instructions": papers::INSTRUCTIONS, "doublings": papers::DOUBLINGS },
    }))?;
    // A script element ends at "</", wherever it stands.
    Ok(PAGE.replacen(PLACE, &data.replace("</", "<\\/"), 1))
}
