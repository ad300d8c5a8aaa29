//! `sealcomb list`: prints the backends and the algorithms.

use crate::machine;
use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use sealcomb::hazmat;
use sealcomb::study::{self, ALGORITHMS, Parallel};
use sealcomb::{Algorithm, Backend, Cipher, Error, Kind, Status};
use sealcomb_command::{Status as ExitStatus, exit_statuses, print};
use serde::Serialize;
use std::collections::HashSet;

/// Nonces of modes with higher limits have any length, in practice.
const MAX_NONCE_BYTES: usize = 1024;

/// Width in columns of the table of notes. Its cells are wrapped.
const WIDTH: u16 = 118;

/// Schema identifier of the JSON.
const SCHEMA: &str = "sealcomb-list/1";

const EXAMPLES: &str = "\
Properties of the algorithms:
  parallel  the blocks of a message can be processed in parallel: always, when opening, or never
  E⁻¹-free  opening does not use the inverse of the block cipher
  online    sealing outputs ciphertext before the end of the message is known

Examples:
  sealcomb list                       print all lists
  sealcomb list --markdown            print the algorithms with their specifications, for a document
  sealcomb list --json > lists.json   write all lists for a script";

pub(crate) fn after_help() -> String {
    let statuses = exit_statuses(&[
        (ExitStatus::Usage, "an argument, or SEALCOMB_BACKEND"),
        (ExitStatus::Io, "a standard stream"),
    ]);
    format!("{EXAMPLES}\n\n{statuses}")
}

/// Arguments of `sealcomb list`.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Print only the algorithms, as a Markdown table
    #[arg(long)]
    markdown: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
}

/// Prints the lists.
pub(crate) fn run(args: &ListArgs) -> Result<()> {
    if args.json {
        return print(serde_json::to_string_pretty(&lists(Backend::selected()?))?);
    }
    if args.markdown {
        return print(markdown());
    }
    print(format_args!(
        "{}\n\n{}\n\n{}\n\n{}",
        machine::cpu_name(),
        backends(Backend::selected()?),
        algorithms(),
        notes()
    ))
}

/// What `--json` prints. Sizes are in bytes.
#[derive(Serialize)]
struct Lists {
    schema: &'static str,
    cpu: String,
    backends: Vec<ListedBackend>,
    algorithms: Vec<ListedAlgorithm>,
}

#[derive(Serialize)]
struct ListedBackend {
    name: &'static str,
    is_available: bool,
    is_in_use: bool,
    /// Why the backend is not available.
    reason: Option<String>,
    blocks_per_register: Option<usize>,
    messages_in_flight: Option<usize>,
}

#[derive(Serialize)]
struct ListedAlgorithm {
    id: &'static str,
    mode: &'static str,
    cipher: &'static str,
    kind: &'static str,
    key_bytes: usize,
    min_nonce_bytes: usize,
    /// `None` if nonces have any length.
    max_nonce_bytes: Option<usize>,
    tag_bytes: &'static [usize],
    /// `yes`, `no`, or only when `opening`.
    parallel: &'static str,
    is_inverse_free: bool,
    is_online: bool,
    status: &'static str,
    reason: &'static str,
    specification: &'static str,
    note: &'static str,
}

fn lists(selected: Backend) -> Lists {
    Lists {
        schema: SCHEMA,
        cpu: machine::cpu_name(),
        backends: Backend::names().map(|name| listed_backend(name, selected)).collect(),
        algorithms: ALGORITHMS.iter().copied().map(listed_algorithm).collect(),
    }
}

fn listed_backend(name: &'static str, selected: Backend) -> ListedBackend {
    let backend = Backend::named(name);
    let found = backend.as_ref().ok();
    ListedBackend {
        name,
        is_available: found.is_some(),
        is_in_use: found == Some(&selected),
        blocks_per_register: found.map(|backend| study::blocks(*backend)),
        messages_in_flight: found.map(|backend| study::lanes(*backend)),
        reason: backend.err().map(|error| unavailable(name, error)),
    }
}

fn listed_algorithm(algorithm: Algorithm) -> ListedAlgorithm {
    ListedAlgorithm {
        id: algorithm.id(),
        mode: algorithm.mode(),
        cipher: match algorithm.cipher() {
            Cipher::Aes => "AES",
            _ => "Serpent",
        },
        kind: kind(algorithm.kind()),
        key_bytes: algorithm.key_bytes(),
        min_nonce_bytes: algorithm.min_nonce_bytes(),
        max_nonce_bytes: (algorithm.max_nonce_bytes() <= MAX_NONCE_BYTES)
            .then_some(algorithm.max_nonce_bytes()),
        tag_bytes: hazmat::tag_sizes(algorithm),
        parallel: parallel(algorithm.structure().parallel),
        is_inverse_free: algorithm.structure().inverse_free,
        is_online: algorithm.structure().online,
        status: status_name(algorithm.status()),
        reason: algorithm.reason(),
        specification: algorithm.spec(),
        note: algorithm.note(),
    }
}

/// Returns one row per mode and block cipher, whatever its key sizes: its specification, its status with the reason, and
/// a note for users.
fn notes() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(["mode", "specification", "status", "reason", "note"]);
    let mut seen = HashSet::new();
    for algorithm in ALGORITHMS {
        let (mode, spec) = (algorithm.mode(), algorithm.spec());
        let (reason, note) = (algorithm.reason(), algorithm.note());
        if seen.insert((mode, spec, reason, note)) {
            let name = match algorithm.cipher() {
                Cipher::Aes => mode.to_owned(),
                _ => format!("{mode} with Serpent"),
            };
            table.add_row([name.as_str(), spec, status_name(algorithm.status()), reason, note]);
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
        "on this CPU",
    ]);
    for name in Backend::names() {
        let row = match Backend::named(name) {
            Ok(backend) => [
                name.to_owned(),
                study::blocks(backend).to_string(),
                study::lanes(backend).to_string(),
                if backend == selected { "in use" } else { "available" }.to_owned(),
            ],
            Err(error) => [name.to_owned(), "-".to_owned(), "-".to_owned(), unavailable(name, error)],
        };
        table.add_row(row);
    }
    table
}

/// Returns why a backend is unavailable: not in this build, or missing CPU features.
fn unavailable(backend: &str, error: Error) -> String {
    match error {
        Error::BackendNotBuilt { .. } => "not in this build".to_owned(),
        _ => format!("missing: {}", machine::missing(study::needs(backend)).join(", ")),
    }
}

/// Returns the algorithms' sizes and properties, in at most 120 columns.
fn algorithms() -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "id",
        "kind",
        "key",
        "nonce",
        "tag",
        "parallel",
        "E⁻¹-free",
        "online",
        "status",
    ]);
    table.add_rows(ALGORITHMS.iter().copied().map(|algorithm| {
        [sizes(algorithm), properties(algorithm), vec![status_name(algorithm.status()).to_owned()]].concat()
    }));
    table
}

/// Returns the algorithms' sizes, properties, status and specifications, as a Markdown table.
fn markdown() -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "id",
        "kind",
        "key",
        "nonce",
        "tag",
        "parallel",
        "E⁻¹-free",
        "online",
        "status",
        "specification",
    ]);
    table.add_rows(ALGORITHMS.iter().copied().map(|algorithm| {
        let trust = vec![status_name(algorithm.status()).to_owned(), algorithm.spec().to_owned()];
        [sizes(algorithm), properties(algorithm), trust].concat()
    }));
    table
}

fn sizes(algorithm: Algorithm) -> Vec<String> {
    vec![
        algorithm.id().to_owned(),
        kind(algorithm.kind()).to_owned(),
        algorithm.key_bytes().to_string(),
        nonce(algorithm),
        tags(hazmat::tag_sizes(algorithm)),
    ]
}

fn properties(algorithm: Algorithm) -> Vec<String> {
    let structure = algorithm.structure();
    [parallel(structure.parallel), yes(structure.inverse_free), yes(structure.online)]
        .map(str::to_owned)
        .to_vec()
}

/// Returns whether the blocks of one message can be processed in parallel: always, only when opening, or never.
pub(crate) fn parallel(parallel: Parallel) -> &'static str {
    match parallel {
        Parallel::Both => "yes",
        Parallel::Opening => "opening",
        Parallel::Neither => "no",
    }
}

pub(crate) fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Cipher => "cipher",
        Kind::Mac => "MAC",
        _ => "AEAD",
    }
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Standard => "standard",
        Status::Portfolio => "portfolio",
        Status::Research => "research",
        _ => "broken",
    }
}

fn nonce(algorithm: Algorithm) -> String {
    match (algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes()) {
        (_, 0) => "-".to_owned(),
        (min, max) if min == max => min.to_string(),
        (min, max) if max > MAX_NONCE_BYTES => format!("{min} or more"),
        (min, max) => format!("{min}-{max}"),
    }
}

/// Formats tag sizes in bytes, with runs of three or more as ranges: `4, 8, 12-16`.
fn tags(sizes: &[usize]) -> String {
    let runs = sizes.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, _, .., last] => format!("{first}-{last}"),
        run => run.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    });
    let runs = runs.collect::<Vec<_>>().join(", ");
    if runs.is_empty() { "-".to_owned() } else { runs }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_sizes_are_printed_as_a_range() {
        assert_eq!(tags(&[4, 8, 12, 13, 14, 15, 16]), "4, 8, 12-16");
        assert_eq!(tags(&[4, 6, 8]), "4, 6, 8");
        assert_eq!(tags(&[15, 16]), "15, 16");
        assert_eq!(tags(&[16]), "16");
        assert_eq!(tags(&[]), "-");
    }
}
