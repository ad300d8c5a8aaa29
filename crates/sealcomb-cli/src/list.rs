//! `sealcomb list`: the backends and the algorithms.

use crate::machine;
use crate::stdout;
use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use sealcomb::{ALGORITHMS, Algorithm, Backend, Kind, Status};
use std::collections::HashSet;

/// Columns of the table of notes, whose text is wrapped.
const WIDTH: u16 = 118;

/// Arguments of `sealcomb list`.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Print the algorithms as a Markdown table
    #[arg(long)]
    markdown: bool,
}

/// Prints the lists.
pub(crate) fn run(args: &ListArgs) -> Result<()> {
    let lists = if args.markdown {
        format!("{}\n", algorithms(presets::ASCII_MARKDOWN))
    } else {
        format!(
            "{}\n\n{}\n\n{}\n\n{}\n",
            machine::cpu_name(),
            backends(Backend::selected()?),
            algorithms(presets::UTF8_FULL_CONDENSED),
            notes()
        )
    };
    stdout::print(&lists)
}

/// How far to trust each mode and why, and what its user must know; once for all its key sizes.
fn notes() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(["mode", "status", "because", "to know"]);
    let mut seen = HashSet::new();
    for Algorithm { mode, status, reason, note, .. } in ALGORITHMS {
        if seen.insert((mode, reason, note)) {
            table.add_row([mode, status_name(*status), reason, note]);
        }
    }
    table
}

fn backends(selected: Backend) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "backend",
        "blocks/register",
        "messages in flight",
        "here",
    ]);
    for name in Backend::names() {
        let row = match Backend::named(name) {
            Ok(backend) => [
                name.to_owned(),
                backend.blocks().to_string(),
                backend.lanes().to_string(),
                if backend == selected { "in use" } else { "available" }.to_owned(),
            ],
            Err(_) => [name.to_owned(), "-".to_owned(), "-".to_owned(), lacking(name)],
        };
        table.add_row(row);
    }
    table
}

/// Why this CPU, or this build, cannot run a backend.
fn lacking(backend: &str) -> String {
    let missing = machine::missing(Backend::needs(backend));
    if missing.is_empty() {
        "not in this build".to_owned()
    } else {
        format!("missing: {}", missing.join(", "))
    }
}

fn algorithms(style: comfy_table::TableStyle) -> Table {
    let mut table = Table::new();
    table.load_style(style).set_header(["id", "kind", "key", "nonce", "tag", "status", "specification"]);
    for algorithm in ALGORITHMS {
        table.add_row([
            algorithm.id.to_owned(),
            kind(algorithm.kind).to_owned(),
            algorithm.key_bytes.to_string(),
            nonce(algorithm),
            tags(algorithm.tag),
            status_name(algorithm.status).to_owned(),
            algorithm.spec.to_owned(),
        ]);
    }
    table
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Cipher => "cipher",
        Kind::Mac => "MAC",
        Kind::Aead => "AEAD",
    }
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Standard => "standard",
        Status::Portfolio => "portfolio",
        Status::Research => "research",
        Status::Broken => "broken",
    }
}

fn nonce(algorithm: &Algorithm) -> String {
    let range = algorithm.nonce;
    match (range.min, range.max) {
        (_, 0) => "-".to_owned(),
        (min, max) if min == max => min.to_string(),
        (min, max) if max > 1024 => format!("{min} or more"),
        (min, max) => format!("{min}-{max}"),
    }
}

fn tags(sizes: &[usize]) -> String {
    match sizes {
        [] => "-".to_owned(),
        sizes => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    }
}
